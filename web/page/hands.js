// What mouse, fingers and keys do in a session: all of it the program is told, and what is none of
// the game is done here. It must never know the game.

import { at } from "./beside.js";
import { meant } from "./keys.js";

let world = null; // The program, while it plays.

// From now on it is told what hands do; `null`: nobody is.
export function tellHands(program) {
  world = program;
}

const canvas = at("canvas");

function place(event) {
  const box = canvas.getBoundingClientRect();
  return [((event.clientX - box.left) * canvas.width) / box.width, ((event.clientY - box.top) * canvas.height) / box.height];
}

// Of the buttons that count, the bits by which an event tells that they are down.
const BUTTONS = [[0, 1], [2, 2]];

// The first button to go down and the last to go up have events of their own; what another does
// meanwhile comes as a move. A finger that is lost holds nothing.
for (const name of ["pointerdown", "pointermove", "pointerup", "pointercancel"]) {
  canvas.addEventListener(name, (event) => {
    if (!world) return;
    const where = place(event);
    world.point(...where);
    if (name === "pointerdown") canvas.setPointerCapture(event.pointerId);
    for (const [button, bit] of BUTTONS) {
      const changes = name === "pointercancel" || event.button === button;
      if (changes) world.press((event.buttons & bit) !== 0, button === 2, ...where);
    }
  });
}
canvas.addEventListener("pointerleave", () => world?.point());
canvas.addEventListener("contextmenu", (event) => event.preventDefault());

// A line of the list is dragged onto another, or onto the world, by mouse or finger.
let dragged = null;

at("notes").addEventListener("pointerdown", (event) => {
  const line = event.target.closest("#notes.lists li");
  if (!world || !line || event.button !== 0) return;
  event.preventDefault();
  line.setPointerCapture(event.pointerId);
  dragged = { line, text: line.textContent };
  line.classList.add("dragged");
});
at("notes").addEventListener("pointermove", ({ clientX, clientY }) => {
  if (dragged) onto(under(clientX, clientY));
});
for (const name of ["pointerup", "pointercancel"]) {
  at("notes").addEventListener(name, ({ clientX, clientY }) => {
    if (!dragged) return;
    const [{ line, text }, place] = [dragged, name === "pointerup" ? under(clientX, clientY) : null];
    dragged = null;
    line.classList.remove("dragged");
    onto(null);
    if (place && place !== line) world?.drag(text, place === canvas ? undefined : place.textContent);
  });
}

// What something can be dragged onto there.
const under = (x, y) => document.elementFromPoint(x, y)?.closest("#notes.lists li, #canvas") ?? null;

// Shows onto what it is dragged.
function onto(place) {
  document.querySelector(".onto")?.classList.remove("onto");
  place?.classList.add("onto");
}

const WAYS = {
  KeyW: [0, -1], ArrowUp: [0, -1], KeyS: [0, 1], ArrowDown: [0, 1],
  KeyA: [-1, 0], ArrowLeft: [-1, 0], KeyD: [1, 0], ArrowRight: [1, 0],
};
const down = new Set();

function walk() {
  const [x, y] = [...down].reduce(([x, y], code) => [x + WAYS[code][0], y + WAYS[code][1]], [0, 0]);
  world?.walk(Math.sign(x), Math.sign(y));
}

window.addEventListener("keydown", (event) => {
  if (!world || event.ctrlKey || event.altKey || event.metaKey) return;
  // Who types, or stands on a button, means that.
  if (event.target.closest("input, button, a, summary, dialog") && event.key !== "Escape") {
    if (event.target.closest("input") || event.key === "Enter" || event.key === " ") return;
  }
  if (event.code in WAYS) {
    event.preventDefault();
    down.add(event.code);
    walk();
  } else if (event.key === "Enter" || event.key === "/") {
    event.preventDefault();
    speak(event.key === "/" ? "/" : "");
  } else if (event.key.length === 1 && !event.repeat) {
    const key = meant(event);
    if (key === "f") full();
    else world.key(key);
  }
});

window.addEventListener("keyup", (event) => {
  if (down.delete(event.code)) walk();
});
window.addEventListener("blur", () => {
  down.clear();
  walk();
});

function speak(text) {
  openDrawer(false);
  at("speech").hidden = false;
  at("line").value = text;
  at("line").focus();
}

function silent() {
  at("speech").hidden = true;
  canvas.focus();
}

at("speech").addEventListener("submit", (event) => {
  event.preventDefault();
  world?.line(at("line").value);
  silent();
});
at("line").addEventListener("keydown", (event) => event.key === "Escape" && silent());
at("line").addEventListener("blur", () => (at("speech").hidden = true));

function full() {
  if (document.fullscreenElement) document.exitFullscreen();
  else document.documentElement.requestFullscreen?.().catch(() => {});
}

at("say").addEventListener("click", () => speak(""));
at("figures").addEventListener("click", () => world?.line("/stats"));
at("sound").addEventListener("click", () => world?.line("/sound"));
at("full").addEventListener("click", full);
at("drawer").addEventListener("click", () => openDrawer(!at("stage").classList.contains("open")));
// Who clicks, and does not go from button to button by keys, plays on.
at("stage").addEventListener("click", ({ detail, target }) => {
  if (detail && target.closest("button") && document.activeElement?.localName === "button") canvas.focus();
});

// Opens or closes what small screens have no room for beside the picture.
export function openDrawer(open) {
  at("stage").classList.toggle("open", open);
  at("drawer").setAttribute("aria-expanded", open);
}
