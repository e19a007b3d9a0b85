// What the keys of a game are called, on the keyboard that is there, and which of them is meant.

let named = []; // The game's, as `learn` found them.
let layout = null; // What the keys say by their places, if the browser tells.

// `right click or K skill, P takes, 1 to 4 wear` names keys by single capital letters and digits.
export async function learn(keys) {
  named = [...keys.matchAll(/\b(right click or )?([A-Z]|\d to \d) ([^,]+)/g)];
  layout = await navigator.keyboard?.getLayoutMap?.().catch(() => null);
}

// The game's keys, and the page's own.
export function keysOf() {
  const walks = [{ sign: "Click", what: "walks, strikes, takes; held, again and again" }, { sign: [..."WASD"].map(signOf).join(" "), what: "walks" }];
  const others = [["Enter", "says something"], ["/", "a command; /help lists them"], [signOf("F"), "full screen"]];
  return [...walks, ...skills(), ...others.map(([sign, what]) => ({ sign, what }))];
}

// What the game has keys for.
export function skills() {
  return named.map(([, other, key, what]) => ({ key, sign: other ? `${signOf(key)}, right click` : signOf(key), what }));
}

// What stands on the key that is meant by a letter: a letter's key is known by its place, too.
export const signOf = (key) => layout?.get(`Key${key}`)?.toUpperCase() ?? key;

// Which key is meant: by what it says, or by its place, as on a US keyboard, where it says nothing
// that the game knows.
export function meant({ code, key }) {
  const said = key.toLowerCase();
  const knows = said === "f" || skills().some(({ key }) => key.toLowerCase() === said);
  return knows ? said : (/^(?:Key|Digit|Numpad)(\w)$/.exec(code)?.[1].toLowerCase() ?? said);
}
