// The page's own part: what is chosen at the door, what is kept, and the loop. It must never know
// the game: what it is called and how it is played the program tells. It asks no host but its own.

import init, { character, game, panicked, recordings, sound } from "./game.js";
import { at, calm, capital, fitted, lacksForAny, lines } from "./beside.js";
import { tellHands } from "./hands.js";
import { keysOf, learn, signOf, skills } from "./keys.js";
import { asked, invitation, newRoom } from "./link.js";
import { write } from "./panel.js";
import { comesBackTo, drawn, inside, known, own, remembers } from "./remembered.js";
import { answering } from "./servers.js";
import { listen, play } from "./sound.js";
import { forget, keep, kept } from "./store.js";

// What is played is kept this often, for when the page is closed in the middle.
const KEEP_MS = 20_000;
// No hero's file is longer: of what is, the beginning tells.
const HERO_BYTES = 1 << 16;
// No name is longer.
const NAME_BYTES = 64;

let page; // The game's page, once it is loaded.
let about; // What it tells of itself.
let entering = false; // It waits for its player's key.
let playing = false;
let entry; // What was entered last.
let began; // When, which names its recordings.
let keptAt = 0;

// ---- What is kept in this browser

// The hero of a class that is kept, with its level and all that it carries.
const placeOf = (hero) => `character.${about.name}.${hero}`;

// Keeps the own hero, if there is anything new, and nobody else kept another meanwhile: where pages
// are not served safely, several tabs may play the same.
let heroKept = null;
function keepHero() {
  const text = page && character();
  if (!text) return;
  const place = placeOf(entry.hero);
  if (known(place) !== heroKept) return unkept("your hero", "another tab has kept it meanwhile");
  known(place, text);
  heroKept = known(place);
  unkept("your hero", heroKept === text ? null : "its storage is full or forbidden");
}

// Puts another hero, or none, in the place of one, which is laid aside, in the place of the one
// before that. Returns whether it could.
function replaceHero(hero, text) {
  const before = known(placeOf(hero));
  known(`${placeOf(hero)}.before`, before);
  if (known(`${placeOf(hero)}.before`) === before) known(placeOf(hero), text);
  showKept();
  return known(placeOf(hero)) === text;
}

// A hero that a page or a program kept in a file comes along from now on.
async function bring(file) {
  trouble("");
  try {
    const text = await file.slice(0, HERO_BYTES).text();
    const hero = page.class(text);
    const { isMine } = await own;
    if (!isMine) return trouble("Another tab of this browser keeps your heroes: bring it there.");
    document.querySelector(`#heroes [value="${hero}"]`).checked = true;
    if (!replaceHero(hero, text)) trouble("This browser does not keep your hero: its storage is full or forbidden.");
  } catch (error) {
    trouble(typeof error === "string" ? error : "The file cannot be read: choose it once more.");
  }
}

// What is kept of the chosen class, at the door: if it comes along, and no other tab has it.
async function showKept() {
  const { isMine } = await own;
  const hero = chosen();
  const [text, before] = about.keeps && isMine ? [known(placeOf(hero)), known(`${placeOf(hero)}.before`)] : [];
  at("character").hidden = !text && !before;
  at("carry").hidden = at("anew").hidden = !text;
  at("before").hidden = !before;
  try {
    at("comes").textContent = text ? `Your ${page.title(text)} comes along.` : `You begin anew as ${hero}.`;
    if (before) at("before").textContent = `Take back the ${page.title(before)}`;
  } catch (sentence) {
    at("comes").textContent = String(sentence);
  }
}

const chosen = () => new FormData(at("form")).get("hero");

// ---- The door

function trouble(sentence) {
  at("trouble").textContent = sentence;
  at("trouble").hidden = !sentence;
  if (!sentence) return;
  at("trouble").scrollIntoView({ block: "nearest" });
  tell(sentence);
}

// Programs that open the page read what it says in its console.
function tell(sentence) {
  if (asked().reports) console.log(`told ${sentence}`);
}

function lacks() {
  const missing = lacksForAny();
  if (missing) return missing;
  if (asked().room && typeof RTCPeerConnection !== "function") {
    return "This browser has no WebRTC, or it is turned off: turn it on, or open the link in another browser.";
  }
  return null;
}

async function load() {
  const missing = lacks();
  if (missing) {
    at("loading").hidden = true;
    at("about").hidden = true;
    return trouble(missing);
  }
  let served;
  try {
    const answer = await fetch("game_bg.wasm");
    if (!answer.ok) throw new Error(`the server says ${answer.status}`);
    served = answer.headers.get("x-rules");
    await init({ module_or_path: counted(answer) });
  } catch (error) {
    at("loading").hidden = true;
    return trouble(`The game could not be loaded (${error.message ?? error}): see whether its server still runs, and load the page again.`);
  }
  page = game();
  about = JSON.parse(page.about());
  await learn(about.keys);
  openDoor();
  if (served && served !== about.rules) trouble("This page was built of other rules than the program that serves it, whose sessions refuse you: have the page built again, and load it once more.");
}

// The same answer, with the bytes counted that have come.
function counted(answer) {
  const all = Number(document.querySelector("meta[name=bytes]").content);
  let come = 0;
  const count = new TransformStream({
    transform(chunk, controller) {
      come += chunk.byteLength;
      at("progress").value = come / all;
      at("loaded").textContent = `${Math.floor((come / all) * 100)} %`;
      controller.enqueue(chunk);
    },
  });
  return new Response(answer.body.pipeThrough(count), { headers: { "content-type": "application/wasm" } });
}

// With what the link asks for; `enters` if it says so, or if this tab was in there.
function openDoor(enters = true) {
  const { room, kind, name, hero, bot } = asked();
  document.title = capital(about.name);
  at("title").textContent = at("name-of-game").textContent = about.name;
  at("about").textContent = `${about.about}.`;
  at("about").hidden = false;
  at("loading").hidden = true;
  at("form").hidden = at("howto").hidden = false;
  const kinds = { party: "a party", relay: "a large session", rollback: "a session without delay" };
  at("where").replaceChildren(...(room ? ["You join the room ", bold(room), `, ${kinds[kind]}.`] : ["Play alone, or open a room and send friends its link."]));
  at("enter").textContent = room ? "Join" : "Play alone";
  at("host").hidden = at("company").hidden = room !== "";
  at("companion").checked = known("companion") !== "off";
  const before = inside();
  const back = before?.hash === location.hash ? before : null;
  at("name").value = back?.name ?? name ?? known("name") ?? "";
  const wanted = [back?.hero, hero, known("hero"), ...about.heroes].find((one) => about.heroes.includes(one));
  at("heroes").replaceChildren(...about.heroes.map((one) => {
    const [label, radio, text] = ["label", "input", "span"].map((name) => document.createElement(name));
    Object.assign(radio, { type: "radio", name: "hero", value: one, checked: one === wanted, required: true });
    text.textContent = one;
    label.append(radio, text);
    return label;
  }));
  document.querySelector(".keys").replaceChildren(...keysOf().flatMap(({ sign: key, what }) => {
    const [term, text] = [document.createElement("dt"), document.createElement("dd")];
    const sign = document.createElement("kbd");
    sign.textContent = key;
    term.append(sign);
    text.textContent = what;
    return [term, text];
  }));
  at("bringing").hidden = !about.keeps;
  showKept();
  listKept();
  if (!playing) at("name").focus();
  if (!enters) return;
  if (bot || (room && back)) enter();
  else if (back) comeBack(back);
}

function bold(text) {
  const element = document.createElement("b");
  element.textContent = text;
  return element;
}

at("heroes").addEventListener("change", showKept);
at("anew").addEventListener("click", () => exchangeHero(null));
at("before").addEventListener("click", () => exchangeHero(known(`${placeOf(chosen())}.before`)));

// Of what is pressed there nothing may be left.
function exchangeHero(text) {
  replaceHero(chosen(), text);
  at("enter").focus();
}

at("carry").addEventListener("click", () => download(`${chosen()}.character`, known(placeOf(chosen()))));
at("brought").addEventListener("change", async ({ target }) => {
  if (target.files.length) await bring(target.files[0]);
  // The same one may be chosen again.
  target.value = "";
});

at("name").addEventListener("input", ({ target }) => {
  const isLong = new TextEncoder().encode(target.value.trim()).length > NAME_BYTES;
  target.setCustomValidity(isLong ? "This name is too long: take a shorter one." : "");
});

at("form").addEventListener("submit", (event) => {
  event.preventDefault();
  enter();
});

at("host").addEventListener("click", () => {
  if (!at("form").reportValidity()) return;
  history.replaceState(null, "", `#room=${newRoom()}`);
  enter();
});

window.addEventListener("hashchange", () => {
  if (!playing && about) {
    trouble(lacks() ?? "");
    openDoor();
  }
});

// ---- Entering

// Goes on with what this tab played alone before it was loaded again, as far as it was kept.
async function comeBack({ began: session }) {
  const before = (await kept().catch(() => [])).find((recorded) => recorded.session === session);
  if (before && !playing) goOn(before);
}

// Enters, as the door says; or goes on with what was recorded.
async function enter(goesOn) {
  listen();
  const name = at("name").value.trim() || (asked().bot ? "Page" : "");
  const hero = chosen();
  if (!asked().bot) {
    known("name", name);
    known("hero", hero);
    known("companion", at("companion").checked ? "on" : "off");
  }
  const words = asked();
  const lacking = lacks();
  trouble(lacking ?? "");
  if (lacking || entering || playing) return;
  entering = true;
  const [{ digits, isMine }, ice] = await Promise.all([own, answering(words)]);
  entering = false;
  const keeps = about.keeps && isMine && (!words.bot || words.keeps) && remembers();
  heroKept = known(placeOf(hero));
  entry = {
    ...words,
    ...ice.found,
    keeps,
    character: keeps ? heroKept : null,
    name,
    hero,
    signal: `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}`,
    join: words.room ? invitation() : null,
    seed: words.seed ?? crypto.getRandomValues(new Uint32Array(1))[0],
    identity: words.bot ? drawn(32) : digits,
    companion: !words.room && !words.bot && at("companion").checked,
    checksums: words.reports,
    mute: known("sound") === "off",
  };
  at("door").hidden = true;
  at("stage").hidden = false;
  at("curtain").textContent = "Entering";
  at("skills").replaceChildren(...skills().filter(({ key }) => key.length === 1).map(({ key, what }) => {
    const button = document.createElement("button");
    const sign = document.createElement("kbd");
    button.type = "button";
    button.dataset.key = key;
    sign.textContent = signOf(key);
    button.append(`${what} `, sign);
    button.addEventListener("click", () => page.key(key.toLowerCase()));
    return button;
  }));
  fit();
  page.hidden(document.hidden);
  page.calm(calm.matches);
  try {
    if (entry.character) tell(`${page.title(entry.character)} comes along.`);
    page.enter(JSON.stringify(entry), at("canvas"), wake, goesOn);
  } catch (sentence) {
    leaveStage();
    return trouble(String(sentence));
  }
  began = keptAt = Date.now();
  plays({ hash: location.hash, name, hero, began });
  keptFiles.clear();
  // What was amiss with the session before is told no more.
  warnings.forEach((_, of) => warn(of, null));
  ice.warnings.forEach((sentence) => warn(sentence, sentence));
  at("canvas").focus();
  round(false);
  requestAnimationFrame(frame);
}

// Notes that it plays, and as what: a page that is loaded again goes on with that. With null it
// plays no more.
function plays(as) {
  playing = as !== null;
  tellHands(playing ? page : null);
  comesBackTo(as);
}

function leaveStage() {
  plays(null);
  at("stage").hidden = true;
  at("door").hidden = false;
}

// ---- The loop: a round when the last one said so, when the link has something, at each frame

const ticking = "let t; onmessage = ({ data }) => { clearTimeout(t); t = setTimeout(() => postMessage(0), data); };";
// A hidden page's own timers come once a second; those of a worker as ever.
const clock = new Worker(URL.createObjectURL(new Blob([ticking], { type: "text/javascript" })));
clock.onmessage = () => round(false);

const bell = new MessageChannel();
let rung = false;
bell.port1.onmessage = () => {
  rung = false;
  round(false);
};

function wake() {
  if (!rung) bell.port2.postMessage(0);
  rung = true;
}

// Others lead rather than a hidden page, which may be closed at any moment.
document.addEventListener("visibilitychange", () => {
  page?.hidden(document.hidden);
  round(false);
  if (document.hidden) keepAll();
});
window.addEventListener("pagehide", keepAll);

// What is to outlast this page, as it is by now.
function keepAll() {
  if (!playing) return;
  page.keep();
  keepHero();
  keepIt();
}

function frame() {
  if (!playing) return;
  requestAnimationFrame(frame);
  round(!document.hidden);
  const panel = page?.panel();
  if (panel) write(JSON.parse(panel), about.name, entry.room);
}

function round(isFrame) {
  if (!playing) return;
  let wait;
  try {
    page.is_frame(isFrame);
    wait = page.step();
  } catch (error) {
    return broke(error);
  }
  if (wait < 0) return over(JSON.parse(page.ending()));
  play(sound);
  keepHero();
  if (Date.now() - keptAt > KEEP_MS) keepIt();
  clock.postMessage(Math.min(wait, 1000));
}

function broke(error) {
  const sentence = panicked() ?? String(error);
  page = null;
  ended(`The game broke, and this page with it (${sentence}): save the recording for whoever made it, and load the page again.`, "");
}

function over({ sentence, report: text }) {
  if (entry.reports) console.log(`report ${text}`);
  const report = JSON.parse(text);
  const s = Math.round(report.played_ms / 1000);
  const time = `${Math.floor(s / 60)}:${String(s % 60).padStart(2, "0")} played`;
  const compared = report.checksums_compared ? `, ${report.checksums_compared} checksums compared, ${report.desyncs} differed` : "";
  ended(sentence, report.ticks ? `${time}${compared}.` : "");
}

function ended(sentence, played) {
  plays(null);
  tell(sentence);
  at("sentence").textContent = sentence;
  at("played").textContent = played;
  at("again").textContent = page ? (asked().room ? "Join again" : "Play again") : "Load the page again";
  keepHero();
  at("keep").hidden = !recorded().length;
  at("end").showModal();
  keepIt();
}

at("again").addEventListener("click", () => {
  at("end").close();
  if (page) enter();
  else location.reload();
});

at("out").addEventListener("click", () => {
  at("end").close();
  if (!page) return location.reload();
  history.replaceState(null, "", location.pathname);
  leaveStage();
  openDoor();
});

at("end").addEventListener("cancel", (event) => event.preventDefault());

// What is recorded by now: the files that hold anything, each as its name and its bytes.
const recorded = () => recordings().filter(([, bytes]) => bytes.length);

function save() {
  page?.keep();
  for (const [file, bytes] of recorded()) download(file, bytes);
}

function download(name, bytes) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([bytes], { type: "application/octet-stream" }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

// The files of this session that are kept: under which keys, and how long they were.
const keptFiles = new Map();

// Keeps what is recorded in this browser, as far as it is new.
async function keepIt() {
  keptAt = Date.now();
  if (entry.bot && !entry.keeps) return;
  const session = { session: began, kind: entry.kind, hash: location.hash, name: entry.name, hero: entry.hero };
  try {
    for (const [file, bytes] of recorded()) {
      const before = keptFiles.get(file) ?? { key: began + keptFiles.size };
      if (before.length === bytes.length) continue;
      keptFiles.set(file, before);
      await keep(before.key, { file, bytes, ...session });
      before.length = bytes.length;
    }
    unkept("the recording", null);
  } catch (error) {
    const why = error?.name === "QuotaExceededError" ? "full" : "forbidden";
    unkept("the recording", `its storage is ${why}; save it as a file, if you want it`);
  }
}

// In the same room, as the same hero.
function goOn({ bytes, hash, name, hero }) {
  history.replaceState(null, "", hash || location.pathname);
  openDoor(false);
  at("name").value = name ?? at("name").value;
  const radio = document.querySelector(`#heroes [value="${hero}"]`);
  if (radio) radio.checked = true;
  if (at("form").reportValidity()) enter(bytes);
}

function unkept(what, why) {
  warn(what, why && `This browser does not keep ${what}: ${why}.`);
}

// What is amiss and stops nothing, by what it is of: told beside the picture, and at the end.
const warnings = new Map();

function warn(of, sentence) {
  if (sentence) warnings.set(of, sentence);
  else warnings.delete(of);
  for (const place of document.querySelectorAll(".warnings")) {
    lines(place, [...warnings.values()].map((sentence) => [sentence, "bad"]));
  }
}

async function listKept() {
  const all = await kept().catch(() => []);
  at("kept").hidden = !all.length;
  at("kept-count").textContent = `Recordings in this browser (${all.length})`;
  at("kept-list").replaceChildren(...all.map((recorded) => {
    const { key, file, bytes, at: when, kind } = recorded;
    const item = document.createElement("li");
    const [look, go, store, drop] = ["a", "button", "button", "button"].map((name) => document.createElement(name));
    look.href = `view.html#kept=${key}`;
    look.textContent = file;
    go.textContent = "Go on";
    // Of another kind nobody founds one again here. Evidence is no session.
    go.hidden = kind === "relay" || kind === "rollback" || !file.endsWith(".lksrec");
    store.textContent = "Save";
    drop.textContent = "Delete";
    const what = `${file} of ${new Date(when).toLocaleString()}`;
    go.setAttribute("aria-label", `Go on with ${what}`);
    store.setAttribute("aria-label", `Save ${what}`);
    drop.setAttribute("aria-label", `Delete ${what}`);
    go.type = store.type = drop.type = "button";
    go.addEventListener("click", () => goOn(recorded));
    store.addEventListener("click", () => download(file, bytes));
    drop.addEventListener("click", () => forget(key).then(listKept));
    const time = document.createElement("span");
    time.className = "faint";
    time.textContent = `${new Date(when).toLocaleString([], { dateStyle: "short", timeStyle: "short" })}, ${Math.ceil(bytes.length / 1000)} KB`;
    item.append(look, time, go, store, drop);
    return item;
  }));
}

// ---- The picture's size

function fit() {
  const size = fitted(at("picture"));
  if (size) page?.resize(...size);
}

new ResizeObserver(fit).observe(at("picture"));
window.addEventListener("resize", fit);

// ---- Buttons

at("save").addEventListener("click", save);
at("keep").addEventListener("click", save);
at("leave").addEventListener("click", () => {
  page.leave();
  round(false);
});
at("copy").addEventListener("click", async () => {
  at("link").select();
  // Without a secure connection a page has no clipboard but by the selection.
  const copied = navigator.clipboard ? navigator.clipboard.writeText(at("link").value).then(() => true, () => false) : document.execCommand("copy");
  at("copy").textContent = (await copied) ? "Copied" : "Copy it by hand";
});

// Who comes back to a session by a reload has touched nothing yet.
for (const name of ["click", "keydown"]) window.addEventListener(name, listen);

// Only over a secure connection, or on this machine, a page may be there without its server.
navigator.serviceWorker?.register("offline.js").catch(() => {});
load();
