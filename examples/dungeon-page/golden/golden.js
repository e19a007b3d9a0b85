// Works out the golden checksums, and writes them in the console on one line.

import init, { golden } from "./game.js";

await init({ module_or_path: "game_bg.wasm" });
console.log(`golden ${golden().trim().replaceAll("\n", ", ")}`);
