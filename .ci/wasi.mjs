// Runs a wasm32-wasip1 program under node: node wasi.mjs PROGRAM.wasm [ARGUMENT...]
import { readFile } from 'node:fs/promises';
import { WASI } from 'node:wasi';

const [program] = process.argv.slice(2);
const wasi = new WASI({ version: 'preview1', args: process.argv.slice(2), returnOnExit: true });
const module = await WebAssembly.compile(await readFile(program));
const instance = await WebAssembly.instantiate(module, wasi.getImportObject());
process.exitCode = wasi.start(instance);
