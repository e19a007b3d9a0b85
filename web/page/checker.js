// The desync checker, in a worker: nobody waits for it, and who waits no more ends the worker.

import init, { recordings, panicked } from "./viewer.js";

onmessage = async ({ data: { module, files } }) => {
  await init({ module_or_path: module });
  try {
    const told = recordings().check(files, (tick, ticks) => postMessage({ tick, ticks }));
    postMessage({ told: JSON.parse(told) });
  } catch (error) {
    const broke = () => `The game broke as it was checked (${panicked() ?? error.message}): check the files with the game's own program, which tells more.`;
    postMessage({ trouble: typeof error === "string" ? error : broke() });
  }
};
