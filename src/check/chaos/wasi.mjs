// Runs a wasm32-wasip1 program, read from a file, in a time that never was: node -e THIS PROGRAM.wasm [ARGUMENT...]
import { readFile } from 'node:fs/promises';
import { WASI } from 'node:wasi';

const args = process.argv.slice(1);
const wasi = new WASI({ version: 'preview1', args, env: process.env, returnOnExit: true });
const module = await WebAssembly.compile(await readFile(args[0]));
let instance;
let nanoseconds = 4102444800n * 1000000000n;
const clock_time_get = (_clock, _precision, at) => {
  nanoseconds += 40000000n;
  new DataView(instance.exports.memory.buffer).setBigUint64(at, nanoseconds, true);
  return 0;
};
const imports = wasi.getImportObject();
instance = await WebAssembly.instantiate(module, {
  ...imports,
  wasi_snapshot_preview1: { ...imports.wasi_snapshot_preview1, clock_time_get },
});
process.exitCode = wasi.start(instance);
