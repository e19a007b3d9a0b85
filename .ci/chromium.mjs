// Runs a wasm32-wasip1 program in Chromium: node chromium.mjs PROGRAM.wasm
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const program = readFileSync(process.argv[2]).toString('base64');

// What the program asks its system for. It gets no more than what this page has.
function run() {
  const bytes = Uint8Array.from(atob(document.getElementById('program').textContent), (letter) => letter.charCodeAt(0));
  const said = [];
  const numbers = () => new DataView(instance.exports.memory.buffer);
  const system = {
    environ_sizes_get: (count, size) => (numbers().setUint32(count, 0, true), numbers().setUint32(size, 0, true), 0),
    environ_get: () => 0,
    fd_write: (_, parts, count, written) => {
      let sum = 0;
      for (let part = parts; part < parts + 8 * count; part += 8) {
        const [at, length] = [numbers().getUint32(part, true), numbers().getUint32(part + 4, true)];
        said.push(...new Uint8Array(instance.exports.memory.buffer, at, length));
        sum += length;
      }
      numbers().setUint32(written, sum, true);
      return 0;
    },
    proc_exit: (code) => { throw new Error(`it exits with ${code}`); },
  };
  const instance = new WebAssembly.Instance(new WebAssembly.Module(bytes), { wasi_snapshot_preview1: system });
  instance.exports._start();
  document.body.textContent = new TextDecoder().decode(new Uint8Array(said));
}

const folder = mkdtempSync(join(tmpdir(), 'program-'));
try {
  const page = join(folder, 'page.html');
  writeFileSync(page, `<body><script id="program" type="text/plain">${program}</script><script>(${run})()</script>`);
  const quiet = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run'];
  const shown = ['--dump-dom', `--user-data-dir=${join(folder, 'profile')}`, `file://${page}`];
  const told = execFileSync('chromium', [...quiet, ...shown], { stdio: ['ignore', 'pipe', 'ignore'], maxBuffer: 1 << 26 });
  process.stdout.write(/<body>(.*)<\/body>/s.exec(told.toString())[1]);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
