// What this browser remembers in words, or this tab alone, and the player's key.

// A page that is loaded again waits so long until the one before has given up its player's key.
const RELEASED_MS = 10_000;

// In `localStorage`, or for a reload of exactly this tab in `sessionStorage`. Storage may be
// forbidden: then nothing is remembered.
function remembered(storage, key, value) {
  try {
    if (value === undefined) return globalThis[storage].getItem(`lockstone.${key}`);
    if (value === null) globalThis[storage].removeItem(`lockstone.${key}`);
    else globalThis[storage].setItem(`lockstone.${key}`, value);
  } catch { /* As if it were empty. */ }
  return null;
}

export const known = (key, value) => remembered("localStorage", key, value);
const ofTab = (key, value) => remembered("sessionStorage", key, value);

// Whether it remembers anything.
export function remembers() {
  known("remembers", "1");
  return known("remembers") === "1";
}

// What a reload of this tab comes back to: the link, as whom, and when that began. With null to
// nothing.
export function comesBackTo(as) {
  ofTab("inside", as && JSON.stringify(as));
}

export function inside() {
  try {
    return JSON.parse(ofTab("inside"));
  } catch {
    return null;
  }
}

export function drawn(bytes) {
  const digits = crypto.getRandomValues(new Uint8Array(bytes));
  return Array.from(digits, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

const isKey = (digits) => /^[0-9a-f]{64}$/.test(digits ?? "");

// The player's key. Of several tabs one has it and the kept heroes, as far as the browser can tell:
// two of the same key would be one player. A tab that is loaded again has the key that it had, once
// the browser has done with the page before.
async function identity() {
  let digits = known("identity");
  if (!isKey(digits)) known("identity", (digits = drawn(32)));
  if (!navigator.locks) return { digits, isMine: true };
  const before = ofTab("identity");
  if (inside() && isKey(before) && before !== digits && (await locked(before, RELEASED_MS))) return { digits: before, isMine: false };
  const isMine = await locked("identity", before === digits ? RELEASED_MS : 0);
  if (!isMine) await locked((digits = drawn(32)), 0);
  ofTab("identity", digits);
  return { digits, isMine };
}

// Has what is called so for as long as the page lives, if nobody else has it when it was waited for
// so long.
function locked(name, patience) {
  return new Promise((resolve) => {
    const forAsLongAsThePageLives = new Promise(() => {});
    const options = patience ? { signal: AbortSignal.timeout(patience) } : { ifAvailable: true };
    navigator.locks.request(`lockstone.${name}`, options, (lock) => {
      resolve(lock !== null);
      return lock ? forAsLongAsThePageLives : undefined;
    }).catch(({ name }) => resolve(name !== "TimeoutError"));
  });
}

// As which player this tab plays.
export const own = identity();
