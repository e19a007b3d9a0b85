// A service worker: the page as it was loaded last, for when its server is not there. What the
// server has is always asked for first. The viewer is there once it was looked at.

const CACHE = "page";
const FILES = [
  "index.html", "page.css", "icon.svg", "page.js", "beside.js", "sound.js", "store.js", "game.js", "game_bg.wasm",
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
  event.respondWith(answered(request));
});

async function answered(request) {
  const cache = await caches.open(CACHE);
  try {
    const answer = await fetch(request);
    // Without room for it the answer is as good.
    if (answer.ok) await cache.put(request, answer.clone()).catch(() => {});
    return answer;
  } catch (error) {
    const name = request.mode === "navigate" && new URL(request.url).pathname.endsWith("/") ? "index.html" : request;
    const known = await cache.match(name, { ignoreSearch: true, ignoreVary: true });
    if (known) return known;
    throw error;
  }
}
