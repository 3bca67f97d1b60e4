/** @file Runs a contestant on Dawn in Node, on the driver that `npm run dream` would take. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { findGpuDriver } from '../../../scripts/find-gpu-driver.mjs';
import { root } from '../../../scripts/run.mjs';

const child = fileURLToPath(new URL('./child.mjs', import.meta.url));

/** @returns {Promise<{name: string, run: (task: object) => Promise<any>, close: () => Promise<void>}>} */
export async function dawnHost() {
  const { kind, env } = await findGpuDriver({ quiet: true });
  if (kind === 'none') throw new Error('No GPU driver was found for Dawn; see node scripts/find-gpu-driver.mjs.');
  return { name: `Dawn in Node ${process.versions.node}`, run: (task) => run(task, env), close: async () => {} };
}

/** @param {object} task @param {Record<string, string>} env @returns {Promise<any>} */
function run(task, env) {
  return new Promise((done) => {
    const process_ = spawn(process.execPath, [child, JSON.stringify(task)], {
      cwd: root,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    /** @type {any} */
    let result = null;
    createInterface({ input: process_.stdout }).on('line', (line) => {
      if (line.startsWith('{')) result = JSON.parse(line);
    });
    process_.on('close', (code, signal) => done(result ?? { error: `The process ended with ${signal ?? code}.` }));
  });
}
