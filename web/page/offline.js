// A service worker: the page as it was loaded last, for when its server is not there. What the
// server has is always asked for first. The viewer is there once it was looked at.

const CACHE = "page";
const FILES = [
  "index.html", "page.css", "icon.svg", "page.js", "beside.js", "hands.js", "keys.js", "link.js", "panel.js",
  "remembered.js", "servers.js", "sound.js", "store.js", "game.js", "game_bg.wasm",
];

self.addEventListener("install", (event) => {
  self.skipWaiting();
  // Without room for them it keeps what it can, as it comes.
  event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(FILES)).catch(() => {}));
});
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET" || new URL(request.url).origin !== location.origin) return;
  event.respondWith(answered(event));
});

async function answered(event) {
  const { request } = event;
  const answer = await fetch(request).catch((error) => error);
  // A proxy answers for a server that is not there.
  if (!(answer instanceof Response) || answer.status >= 500) return (await known(request)) ?? thrown(answer);
  if (answer.ok) event.waitUntil(keep(request, answer.clone()));
  return answer;
}

async function known(request) {
  const name = request.mode === "navigate" && new URL(request.url).pathname.endsWith("/") ? "index.html" : request;
  return (await caches.open(CACHE)).match(name, { ignoreSearch: true, ignoreVary: true });
}

// Without room for it the answer is as good.
async function keep(request, answer) {
  await (await caches.open(CACHE)).put(request, answer).catch(() => {});
}

function thrown(answer) {
  if (answer instanceof Response) return answer;
  throw answer;
}
