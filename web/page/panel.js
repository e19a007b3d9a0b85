// What a session tells, beside its picture: gauges, skills, notes and news.

import { at, bars, capital, lines } from "./beside.js";
import { openDrawer } from "./hands.js";
import { known } from "./remembered.js";

// Writes a panel as the program tells it, of a game and a room.
export function write({ phase, shows, gauges, skills, notes, lists, told, rows, join, sound }, name, room) {
  at("curtain").hidden = shows;
  at("curtain").textContent = shows ? "" : `${capital(phase)} ...`;
  document.title = shows ? `${capital(name)}${room ? ` · ${room}` : ""}` : `${capital(phase)} ...`;
  bars(at("gauges"), gauges);
  bars(at("life"), gauges.slice(0, 2));
  skills.forEach(showReady);
  lines(at("notes"), notes.map((text) => [text]));
  // Who asks for what the hero carries wants to see it, where that is in the drawer.
  if (lists && !at("notes").classList.contains("lists") && at("drawer").offsetParent) openDrawer(true);
  at("notes").classList.toggle("lists", lists);
  lines(at("news"), told.flat().slice(-14).map((text) => [text]));
  hear(told.flat());
  lines(at("rows"), rows.map((row) => [row.left, row.tone, row.right, row.right_tone]));
  showSound(sound);
  at("invite").hidden = !join;
  if (join && at("link").value !== join) at("link").value = join;
}

// Whether sound is on, which the next session begins with, too.
function showSound(isOn) {
  if (at("sound").getAttribute("aria-pressed") === String(isOn)) return;
  at("sound").setAttribute("aria-pressed", isOn);
  known("sound", isOn ? "on" : "off");
}

// How near a skill is to ready, on its button, which is called as it is.
function showReady({ key, name, percent, count }) {
  const button = at("skills").querySelector(`[data-key="${key}"]`);
  if (!button) return;
  button.style.setProperty("--ready", percent / 100);
  button.classList.toggle("rests", percent < 100);
  const [words, told] = [button.firstChild, `${name}${count === null ? "" : ` ${count}`} `];
  if (words.data !== told) words.data = told;
}

// Where the panel is hidden, what happened is shown over the picture for a while.
const HEARD_MS = 6_000;
let heard = [];
let toldBefore = [];

function hear(told) {
  const [now, fresh] = [Date.now(), told.filter((text) => !toldBefore.includes(text))];
  toldBefore = told;
  heard = [...heard, ...fresh.map((text) => ({ text, until: now + HEARD_MS }))].slice(-3);
  lines(at("heard"), heard.filter(({ until }) => until > now).map(({ text }) => [text]));
}
