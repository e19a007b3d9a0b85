// Begins the viewer of a page that is one file: its modules, its program and its recordings stand in
// the page as text. Nothing is loaded from anywhere.

const part = (id) => document.getElementById(id).textContent;
const bytes = (id) => Uint8Array.from(atob(part(id)), (sign) => sign.charCodeAt(0));
const link = (text, type) => URL.createObjectURL(new Blob([text], { type }));
// In a file's worker a module can be no blob.
const module = (text) => `data:text/javascript,${encodeURIComponent(text)}`;
const unpacked = (packed) => new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();

// Each module after those that it imports: where it names one, it is given that one's link.
const links = new Map();
for (const { id } of document.querySelectorAll("script[data-module]")) {
  let text = part(id);
  links.forEach((url, name) => (text = text.replaceAll(`"./${name}"`, `"${url}"`)));
  links.set(id, module(text));
}

// Nor may a file's worker be a module, but it may import one.
const early = `const early = []; onmessage = (event) => early.push(event); import("${links.get("checker.js")}").then(() => early.forEach((event) => onmessage(event)));`;

globalThis.carried = {
  module: unpacked(bytes("program")).then((program) => WebAssembly.compile(program)),
  checker: () => new Worker(link(early, "text/javascript")),
  style: link(part("report.css"), "text/css"),
  files: [...document.querySelectorAll("script[data-file]")].map(({ id, dataset }) => ({ name: dataset.file, bytes: bytes(id) })),
};
import(links.get("view.js"));
