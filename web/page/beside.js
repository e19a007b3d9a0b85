// What stands beside the picture, and how large that is: for the page and the viewer.

// The picture has so many pixels at least each way, where the screen has them; and no more than a
// scene covers.
const PICTURE_MIN = 480;
const PICTURE_MAX = [1504, 944];

// The least program that computes with four numbers at once.
const VECTORS = [0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11];

// What a browser lacks for any program of the page, in a sentence.
export function lacksForAny() {
  const advice = "open the link in a current Chrome, Edge, Firefox or Safari.";
  if (typeof WebAssembly !== "object") return `This browser has no WebAssembly: ${advice}`;
  if (!WebAssembly.validate(new Uint8Array(VECTORS))) return `This browser's WebAssembly has no SIMD: ${advice}`;
  if (typeof Worker !== "function") return `This browser has no workers: ${advice}`;
  if (typeof AbortSignal.timeout !== "function") return `This browser is too old for this page: ${advice}`;
  return null;
}

export const at = (id) => document.getElementById(id);

// Whether less motion is wanted.
export const calm = matchMedia("(prefers-reduced-motion: reduce)");

export function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

// Writes rows, and touches only what is another.
export function lines(list, rows) {
  while (list.children.length > rows.length) list.lastElementChild.remove();
  rows.forEach(([left, tone, right, rightTone], n) => {
    const item = list.children[n] ?? list.appendChild(document.createElement("li"));
    part(item, 0, left, tone);
    if (right !== undefined) part(item, 1, right, rightTone);
  });
}

function part(item, n, text, tone) {
  const span = item.children[n] ?? item.appendChild(document.createElement("span"));
  if (span.textContent !== text) span.textContent = text;
  const name = tone ? `tone-${tone}` : "";
  if (span.className !== name) span.className = name;
}

export function bars(place, gauges) {
  while (place.children.length > gauges.length) place.lastElementChild.remove();
  gauges.forEach(({ name, value, max, color }, n) => {
    let bar = place.children[n];
    if (!bar) {
      bar = place.appendChild(document.createElement("div"));
      bar.className = "gauge";
      bar.append(document.createElement("i"), document.createElement("span"), document.createElement("span"));
      bar.setAttribute("role", "meter");
    }
    const [fill, what, much] = bar.children;
    fill.style.setProperty("--color", color);
    fill.style.transform = `scaleX(${Math.max(0, Math.min(1, value / Math.max(max, 1)))})`;
    what.textContent = name;
    much.textContent = `${value} / ${max}`;
    bar.setAttribute("aria-label", name);
    bar.setAttribute("aria-valuenow", value);
    bar.setAttribute("aria-valuemax", max);
  });
}

// A picture has the screen's own pixels as far as a scene has something to show there: small
// screens show more by smaller tiles, huge ones show larger tiles. One that is to show more than its
// place has is finer by `least`.
export function fitted({ clientWidth: width, clientHeight: height }, least = 1) {
  if (!width || !height) return null;
  const finer = Math.max(least, Math.min(PICTURE_MIN / Math.min(width, height), devicePixelRatio || 1));
  const coarser = Math.min(1, PICTURE_MAX[0] / width, PICTURE_MAX[1] / height);
  const scale = finer > 1 ? finer : coarser;
  return [Math.round(width * scale), Math.round(height * scale)];
}
