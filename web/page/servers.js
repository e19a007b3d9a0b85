// Which STUN and TURN servers are there.

// One has so long to answer.
const ANSWER_MS = 2_000;

// What of a link's STUN and TURN servers answers, and warnings of the others. The browser tells no
// peer where this page is before it has asked each: for one that is not there it waits too long.
export async function answering({ room, stun, turn, turn_user: username, turn_password: credential }) {
  const servers = [...stun.map((urls) => ({ urls })), ...(turn ? [{ urls: turn, username, credential }] : [])];
  const are = room ? await Promise.all(servers.map(isSilent)) : [];
  const silent = servers.filter((_, n) => are[n]).map(({ urls }) => urls);
  const found = { stun: stun.filter((url) => !silent.includes(url)), turn: silent.includes(turn) ? null : turn };
  const told = (url) => `The server ${url} does not answer: this page looks for ways to others without it.`;
  return { found, warnings: silent.map(told) };
}

async function isSilent(server) {
  try {
    const connection = new RTCPeerConnection({ iceServers: [server] });
    connection.createDataChannel("");
    const answered = new Promise((resolve) => {
      connection.onicegatheringstatechange = () => connection.iceGatheringState === "complete" && resolve(false);
    });
    await connection.setLocalDescription();
    const late = new Promise((resolve) => setTimeout(resolve, ANSWER_MS, true));
    return await Promise.race([answered, late]).finally(() => connection.close());
  } catch {
    // Of what no browser takes the program tells.
    return false;
  }
}
