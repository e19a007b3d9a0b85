// The viewer's own part: a recording is dropped on it, scrubbed, and verified meanwhile. Nothing
// leaves the page.

import init, { game, panicked } from "./game.js";
import { at, bars, capital, fitted, lines } from "./beside.js";
import { recalled } from "./store.js";

// Milliseconds of each frame in which it is verified.
const VERIFY_MS = 6;

const loaded = init({ module_or_path: "game_bg.wasm" }).then(() => game());
let viewer;
let about;
let tick = 0; // What is shown; with a fraction between two ticks.
let shown; // What was shown last.
let plays = false;
let before = 0; // When the frame before was, in milliseconds.
let verified = false;

function trouble(sentence) {
  at("trouble").textContent = sentence;
  at("trouble").hidden = !sentence;
  if (sentence && location.hash.includes("report")) console.log(`told ${sentence}`);
}

// A file that was dropped, or chosen.
async function open(file) {
  enter(file.name, new Uint8Array(await file.arrayBuffer()));
}

// One that this browser keeps: `#kept=KEY`.
async function recall() {
  const key = Number(new URLSearchParams(location.hash.slice(1)).get("kept"));
  if (!key) return;
  const found = await recalled(key).catch(() => null);
  if (found) enter(found.file, found.bytes);
  else trouble("This browser does not keep that recording any more: drop its file here.");
}

async function enter(name, bytes) {
  trouble("");
  try {
    const page = await loaded;
    at("door").hidden = true;
    at("stage").hidden = false;
    viewer = page.view(bytes, at("canvas"));
    about = { ...JSON.parse(page.about()), ...JSON.parse(viewer.about()), game: JSON.parse(page.about()).name };
  } catch (error) {
    at("door").hidden = false;
    at("stage").hidden = true;
    return trouble(typeof error === "string" ? error : `The page could not be loaded (${error.message}): see whether its server still runs, and load it again.`);
  }
  begin(name);
}

function begin(name) {
  document.title = `${name} · ${capital(about.game)}`;
  at("name-of-game").textContent = about.game;
  at("eyes").replaceChildren(...about.players.map(({ player, name }) => new Option(name, player, false, player === about.player)));
  Object.assign(at("scrub"), { min: about.start, max: about.end });
  lines(at("rows"), [
    [about.room ? `room ${about.room}` : "alone", "title", `seed ${about.seed}`, "faint"],
    [`recorded by ${about.name}`, "plain"],
    [`ticks ${about.start} to ${about.end}`, "faint"],
    [capital(about.ending), "faint"],
  ]);
  [tick, shown, verified, plays] = [about.start, undefined, false, false];
  at("differs").hidden = true;
  play(true);
  fit();
  at("canvas").focus();
  requestAnimationFrame(frame);
}

function play(on) {
  plays = on;
  at("play").textContent = on ? "Pause" : "Play";
}

function to(wanted) {
  tick = Math.min(Math.max(Math.floor(wanted), about.start), about.end);
}

function frame(now) {
  try {
    go(now);
    requestAnimationFrame(frame);
  } catch (error) {
    at("stage").hidden = true;
    at("door").hidden = false;
    trouble(`The game broke as it was played again (${panicked() ?? error.message}): send the recording to whoever made it, and load this page again.`);
  }
}

function go(now) {
  const past = Math.min(now - before, 100);
  before = now;
  if (plays) {
    tick = Math.min(tick + (past / 1000) * about.ticks_per_s * Number(at("speed").value), about.end);
    if (tick >= about.end) play(false);
  }
  show();
  verify();
}

function show() {
  const eyes = Number(at("eyes").value);
  const what = `${tick} ${eyes} ${at("canvas").clientWidth} ${at("canvas").clientHeight}`;
  if (what === shown) return;
  shown = what;
  const { gauges, notes, told } = JSON.parse(viewer.show(tick, eyes));
  bars(at("gauges"), gauges);
  lines(at("notes"), notes.map((text) => [text]));
  lines(at("news"), told.flat().slice(-12).map((text) => [text]));
  const s = (Math.floor(tick) - about.start) / about.ticks_per_s;
  at("time").textContent = `${Math.floor(s / 60)}:${(s % 60).toFixed(1).padStart(4, "0")} · tick ${Math.floor(tick)}`;
  at("scrub").value = Math.floor(tick);
}

function verify() {
  if (verified) return;
  const { done, ticks, checksums, differs } = JSON.parse(viewer.verify(VERIFY_MS));
  verified = done;
  const all = about.end - about.start;
  let [text, tone] = [`Verified ${Math.floor((100 * ticks) / Math.max(all, 1))} %`, "faint"];
  if (done) [text, tone] = checksums ? [`In step: all ${checksums} checksums are met.`, "good"] : ["It holds no checksum, so nothing is shown by it.", "faint"];
  if (differs) [text, tone] = [differs.sentence, "bad"];
  if (at("verdict").textContent !== text) at("verdict").textContent = text;
  at("verdict").className = `tone-${tone}`;
  at("differs").hidden = !differs;
  at("differs").onclick = () => (play(false), to(differs.tick));
  if (done && location.hash.includes("report")) console.log(`verdict ${text}`);
}

function fit() {
  const size = fitted(at("picture"));
  if (size) viewer?.resize(...size);
  shown = undefined;
}
new ResizeObserver(fit).observe(at("picture"));

at("file").addEventListener("change", () => at("file").files[0] && open(at("file").files[0]));
window.addEventListener("hashchange", recall);
recall();
window.addEventListener("dragover", (event) => event.preventDefault());
window.addEventListener("drop", (event) => {
  event.preventDefault();
  const file = event.dataTransfer.files[0];
  if (file) open(file);
});
at("play").addEventListener("click", () => {
  if (!plays && tick >= about.end) to(about.start);
  play(!plays);
});
at("back").addEventListener("click", () => (play(false), to(tick - 1)));
at("next").addEventListener("click", () => (play(false), to(tick + 1)));
at("scrub").addEventListener("input", () => (play(false), to(Number(at("scrub").value))));
window.addEventListener("keydown", (event) => {
  if (!viewer || event.target.closest("input, select, button")) return;
  const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -200, PageDown: 200 }[event.key];
  if (step) (event.preventDefault(), play(false), to(tick + step));
  else if (event.key === " ") (event.preventDefault(), at("play").click());
});
