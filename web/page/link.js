// The link of a page: `#room=NAME&key=KEY`, and `relay` or `rollback` for other kinds of sessions.

// What it asks for.
export function asked() {
  const words = new URLSearchParams(location.hash.slice(1));
  // What is no number is as if it were not there.
  const number = (name) => (/^\d{1,9}$/.test(words.get(name)) ? Number(words.get(name)) : null);
  const room = words.get("room") ?? "";
  return {
    kind: !room ? "solo" : words.has("relay") ? "relay" : words.has("rollback") ? "rollback" : "party",
    room,
    key: words.get("key"),
    stun: words.getAll("stun"),
    turn: words.get("turn"),
    turn_user: words.get("turn-user"),
    turn_password: words.get("turn-password"),
    peers: number("peers"),
    name: words.get("name"),
    hero: words.get("hero"),
    seed: number("seed"),
    bot: words.has("bot"),
    keeps: words.has("keeps") && words.has("report"),
    seconds: number("seconds"),
    until: number("until"),
    reports: words.has("report"),
  };
}

// The same link for others, without what it says of one's own.
export const invitation = () => location.href.replace(/&(name|hero|bot|keeps|seconds|until|report|seed)(=[^&]*)?/g, "");

export function newRoom() {
  const letters = "23456789abcdefghijkmnpqrstuvwxyz";
  const drawn = crypto.getRandomValues(new Uint8Array(13));
  return `hall-${Array.from(drawn, (byte) => letters[byte % 32]).join("")}`;
}
