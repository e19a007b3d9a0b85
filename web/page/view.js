// The viewer's own part: recordings are dropped on it, scrubbed, verified meanwhile, and checked in a
// worker. Nothing leaves the page.

import init, { recordings, panicked } from "./viewer.js";
import { at, bars, calm, capital, fitted, lacksForAny, lines } from "./beside.js";
import { recalled } from "./store.js";

// Milliseconds of each frame in which it is verified.
const VERIFY_MS = 6;
// The map is so many pixels wide and high.
const MAP = 288;
// A picture beside another shows so many times as much at most, by smaller tiles.
const FINER = 1.25;
// So many cells that differ, and ticks before, have a button.
const CELLS = 8;
const STEPS = 12;
const BUNDLE = "LKSTBND";

const missing = lacksForAny();

// A page that is one file carries its program, its checker and its recordings in itself.
const carried = globalThis.carried ?? {
  module: missing ? null : WebAssembly.compileStreaming(fetch("viewer_bg.wasm")),
  checker: () => new Worker("checker.js", { type: "module" }),
  style: "report.css",
  files: [],
};

const loaded = missing ? null : carried.module.then((module) => init({ module_or_path: module })).then(recordings);
let viewer;
let game;
let all; // What each recording tells of itself.
let about; // What the one tells that is looked at.
let files; // As they were dropped.
let checker; // The worker, as long as it checks.
let tick = 0; // What is shown; with a fraction between two ticks.
let shown; // What was shown last.
let compared; // What was compared last.
let plays = false;
let before = 0; // When the frame before was, in milliseconds.
let frames = 0; // Counts what was opened: frames of what was before end.
let verified = false;

function trouble(sentence) {
  at("trouble").textContent = sentence;
  at("trouble").hidden = !sentence;
  if (sentence) tell(`told ${sentence}`);
}

// What is shown stays, beside what is wrong with what was dropped on it.
function amiss(sentence) {
  at("told").textContent = sentence;
  at("told").className = "tone-bad";
}

// Back at the door, with what is wrong.
function broken(sentence) {
  frames += 1;
  at("stage").hidden = true;
  at("door").hidden = false;
  trouble(sentence);
}

// Programs that open the page read what it says in its console.
function tell(line) {
  if (location.hash.includes("report")) console.log(line);
}

// Files that were dropped, or chosen.
async function open(list) {
  const read = async (file) => ({ name: file.name, bytes: new Uint8Array(await file.arrayBuffer()) });
  const dropped = await Promise.all([...list].map(read)).catch(() => null);
  if (dropped) enter(dropped);
  else (about ? amiss : broken)("What was dropped cannot be read: drop recordings, not folders.");
}

// Some that a link names: `#kept=KEY` of this browser, `#file=NAME` of the page's server, and
// `#url=URL` of any host that lets pages of others read it.
async function recall() {
  const words = new URLSearchParams(location.hash.slice(1));
  const key = Number(words.get("kept"));
  const wanted = [...words].filter(([word]) => word === "file" || word === "url");
  if (key) {
    const found = await recalled(key).catch(() => null);
    if (found) enter([{ name: found.file, bytes: found.bytes }]);
    else trouble("This browser does not keep that recording any more: drop its file here.");
  } else if (wanted.length) {
    at("loading").hidden = false;
    const fetched = await Promise.all(wanted.map(fetchedOf)).catch((sentence) => sentence);
    at("loading").hidden = true;
    if (typeof fetched === "string") trouble(fetched);
    else enter(fetched);
  } else if (carried.files.length) {
    enter(carried.files);
  }
}

// The recording at an address that a link names, or a sentence that says why there is none.
async function fetchedOf([word, value]) {
  let url;
  try {
    url = word === "file" ? new URL(encodeURIComponent(value), location.href) : new URL(value);
  } catch {
    // It is none.
  }
  if (!/^https?:$/.test(url?.protocol)) throw "The link names no address of a recording, such as #url=https://example.org/hall.lksrec.";
  const host = word === "file" ? "The page's server" : url.host;
  const answer = await fetch(url, { credentials: "omit" }).catch(() => null);
  if (answer && !answer.ok) throw `${host} does not have the recording of the link: ask for the file, and drop it here.`;
  const bytes = await answer?.arrayBuffer().catch(() => null);
  if (!bytes) throw `${host} cannot be reached, or lets no page of another site read the recording: ask for the file, and drop it here.`;
  const name = word === "file" ? value : url.pathname.split("/").pop() || host;
  return { name, bytes: new Uint8Array(bytes) };
}

// Shows recordings, each `{ name, bytes }`.
async function enter(brought) {
  trouble(missing ?? "");
  if (missing) return;
  stop();
  const dropped = brought.map(({ bytes }) => bytes);
  try {
    const page = await loaded;
    at("door").hidden = true;
    at("stage").hidden = false;
    viewer = page.view(dropped, at("canvas"), at("beside"), at("map"));
    game = JSON.parse(page.about()).name;
    all = JSON.parse(viewer.about());
  } catch (error) {
    if (about && typeof error === "string") return amiss(error);
    return broken(typeof error === "string" ? error : `The page could not be loaded (${error.message}): see whether its server still runs, and load it again.`);
  }
  [files, about] = [dropped, undefined];
  document.title = `${brought.map(({ name }) => name).join(", ")} · ${capital(game)}`;
  at("name-of-game").textContent = game;
  at("whose").replaceChildren(...all.recordings.map(({ name }, n) => new Option(name, n)));
  at("choice").hidden = all.recordings.length < 2;
  at("whom").replaceChildren();
  lines(at("left-out"), all.told.map((text) => [text]));
  at("told").textContent = "";
  at("show").hidden = true;
  choose(0);
  pair(undefined);
  play(!calm.matches);
  at("canvas").focus();
  const opened = ++frames;
  requestAnimationFrame(function next(now) {
    if (opened === frames && frame(now)) requestAnimationFrame(next);
  });
  // Who brings several wants to know.
  if (all.recordings.length > 1 || isBundle(dropped[0])) check();
}

function isBundle(bytes) {
  return new TextDecoder().decode(bytes.subarray(0, BUNDLE.length)) === BUNDLE;
}

function choose(n, moment = about && tick) {
  viewer.choose(n);
  about = all.recordings[n];
  at("whose").value = n;
  const eyes = Number(at("eyes").value);
  const stays = moment && about.players.some(({ player }) => player === eyes);
  const own = stays ? eyes : about.player;
  at("eyes").replaceChildren(...about.players.map(({ player, name }) => new Option(name, player, false, player === own)));
  const beside = at("whom").value;
  const others = all.recordings.map(({ name }, other) => new Option(other === n ? "What its turns alone lead to" : name, other));
  at("whom").replaceChildren(new Option("Nothing", ""), ...others);
  at("whom").value = beside;
  Object.assign(at("scrub"), { min: about.start, max: about.end });
  lines(at("rows"), [
    [about.room ? `room ${about.room}` : "alone", "title", `seed ${about.seed}`, "faint"],
    [`recorded by ${about.name}`, "plain"],
    [`ticks ${about.start} to ${about.end}`, "faint"],
    [capital(about.ending), "faint"],
  ]);
  verified = false;
  at("differs").hidden = true;
  to(moment || about.start);
  fit();
}

// Shows another recording beside it, or none.
function pair(n) {
  at("whom").value = n ?? "";
  viewer.put_beside(n);
  at("other").hidden = at("title-here").hidden = at("comparison").hidden = n === undefined;
  at("picture").classList.toggle("pair", n !== undefined);
  fit();
}

function play(on) {
  plays = on;
  at("play").textContent = on ? "Pause" : "Play";
}

function to(wanted) {
  tick = Math.min(Math.max(Math.floor(wanted), about.start), about.end);
}

// Returns whether there is another.
function frame(now) {
  try {
    go(now);
    return true;
  } catch (error) {
    broken(`The game broke as it was played again (${panicked() ?? error.message}): send the recording to whoever made it, and load this page again.`);
    return false;
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
  const what = `${tick} ${eyes}`;
  if (what === shown) return;
  shown = what;
  const { gauges, notes, told } = JSON.parse(viewer.show(tick, eyes, calm.matches));
  bars(at("gauges"), gauges);
  lines(at("notes"), notes.map((text) => [text]));
  lines(at("news"), told.flat().slice(-12).map((text) => [text]));
  const s = (Math.floor(tick) - about.start) / about.ticks_per_s;
  at("time").textContent = `${Math.floor(s / 60)}:${(s % 60).toFixed(1).padStart(4, "0")} · tick ${Math.floor(tick)}`;
  at("scrub").value = Math.floor(tick);
  const pair = `${Math.floor(tick)} ${eyes}`;
  if (at("other").hidden || compared === pair) return;
  compared = pair;
  compare();
}

// What stands beside two worlds: how they differ, and where a chosen cell's difference came from.
function compare() {
  const { titles, found, chosen, has_map: hasMap } = JSON.parse(viewer.compared(MAP));
  [at("title-here").textContent, at("title-beside").textContent] = titles;
  at("compared").textContent = found.sentence;
  at("compared").className = `tone-${found.differs ? "bad" : "plain"}`;
  at("mapped").hidden = !hasMap;
  at("hint").hidden = chosen;
  const name = (cell) => `(${cell.join(", ")})`;
  buttons(at("cells"), found.cells.slice(0, CELLS), name, (cell) => pick(() => viewer.pick(new Uint16Array(cell))));
  at("chosen").hidden = !chosen;
  if (!chosen) return;
  lines(at("cone"), chosen.sentences.map((text) => [text]));
  // The newest, and the one in which it began.
  const steps = chosen.steps.filter(({ suspects }, n) => !n || suspects).filter((_, n, all) => n < STEPS - 1 || n === all.length - 1);
  buttons(at("steps"), steps, ({ tick, suspects }) => `tick ${tick}: ${suspects || chosen.cell}`, (step) => (play(false), to(step.tick)));
  lines(at("spots"), chosen.spots.map((text) => [text, "faint"]));
}

function buttons(place, things, name, act) {
  while (place.children.length > things.length) place.lastElementChild.remove();
  things.forEach((thing, n) => {
    const button = place.children[n] ?? place.appendChild(Object.assign(document.createElement("button"), { type: "button" }));
    if (button.textContent !== name(thing)) button.textContent = name(thing);
    button.onclick = () => act(thing);
  });
}

// Chooses a cell, or none.
function pick(act) {
  play(false);
  to(tick);
  show();
  act();
  redraw();
  show();
  // What a cell depended on is told where it is seen. Of what was let go nothing has the focus.
  if (at("chosen").hidden) at("canvas").focus({ preventScroll: true });
  else at("chosen").scrollIntoView({ block: "nearest" });
}

function picked(event, picture) {
  if (at("other").hidden) return;
  const { left, top, width, height } = event.target.getBoundingClientRect();
  const [x, y] = [(event.clientX - left) / width, (event.clientY - top) / height];
  pick(() => viewer.pick_at(picture, x * event.target.width, y * event.target.height));
}

function redraw() {
  shown = compared = undefined;
}

function verify() {
  if (verified) return;
  const { done, sentence, tone, differs } = JSON.parse(viewer.verify(VERIFY_MS));
  verified = done;
  if (at("verdict").textContent !== sentence) at("verdict").textContent = sentence;
  at("verdict").className = `tone-${tone}`;
  at("differs").hidden = differs === null;
  at("differs").onclick = () => (play(false), to(differs));
  if (done) tell(`verdict ${sentence}`);
}

// ---- The check, in a worker

async function check() {
  stop();
  const module = await carried.module;
  checker = carried.checker();
  const bar = at("checked");
  bar.removeAttribute("value");
  bar.hidden = false;
  at("check").textContent = "Stop checking";
  at("told").textContent = "";
  checker.onmessage = ({ data: { tick, ticks, told, trouble } }) => {
    // It plays some of them more than once.
    if (ticks) bar.value = Math.min(tick / ticks, 1);
    if (told) found(told);
    if (trouble) at("told").textContent = trouble;
    if (told || trouble) stop();
  };
  checker.onerror = () => {
    at("told").textContent = "The check could not be begun: see whether the page's server still runs, and load the page again.";
    stop();
  };
  checker.postMessage({ module, files });
}

function stop() {
  checker?.terminate();
  checker = undefined;
  at("checked").hidden = true;
  at("check").textContent = "Check";
}

// The report stands in a tree of its own, so that neither's style and names are the other's.
function found({ body, in_step: inStep, found: odd, text }) {
  const sheet = at("sheet").shadowRoot ?? at("sheet").attachShadow({ mode: "open" });
  sheet.innerHTML = body;
  const style = sheet.appendChild(document.createElement("link"));
  Object.assign(style, { rel: "stylesheet", href: carried.style });
  enliven(sheet);
  at("told").textContent = sheet.querySelector("h1").textContent;
  at("told").className = `tone-${inStep ? "good" : "bad"}`;
  at("show").hidden = false;
  if (odd) take(odd);
  tell(`report ${JSON.stringify(text)}`);
}

// Shows what the check found: the odd world beside another, at the first tick at which they differ.
function take(odd) {
  const { tick: first, whose, beside } = JSON.parse(viewer.take(odd));
  play(false);
  choose(whose, first);
  pair(beside ?? undefined);
}

function fit() {
  const size = fitted(at("canvas"), at("other").hidden ? undefined : FINER);
  if (size) viewer?.resize(...size);
  redraw();
}
new ResizeObserver(fit).observe(at("picture"));

at("check").addEventListener("click", () => (checker ? stop() : check()));
at("show").addEventListener("click", () => at("report").showModal());
at("whose").addEventListener("change", () => {
  const [n, before] = [at("whose").value, all.recordings.indexOf(about)];
  choose(Number(n));
  // Who turns to the one beside it turns both about.
  if (at("whom").value === n) pair(before);
});
at("whom").addEventListener("change", () => pair(at("whom").value === "" ? undefined : Number(at("whom").value)));
["canvas", "beside", "map"].forEach((id, picture) => at(id).addEventListener("click", (event) => picked(event, picture)));
at("unpick").addEventListener("click", () => pick(() => viewer.pick()));
at("file").addEventListener("change", () => at("file").files.length && open(at("file").files));
at("another").addEventListener("click", () => at("file").click());
window.addEventListener("hashchange", recall);
trouble(missing ?? "");
recall();
window.addEventListener("dragover", (event) => event.preventDefault());
window.addEventListener("drop", (event) => {
  event.preventDefault();
  if (event.dataTransfer.files.length) open(event.dataTransfer.files);
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
  else if (event.key === "Home" || event.key === "End") (event.preventDefault(), play(false), to(event.key === "Home" ? about.start : about.end));
  else if (event.key === "Escape" && !at("chosen").hidden) at("unpick").click();
  else if (event.key === " ") (event.preventDefault(), at("play").click());
});
