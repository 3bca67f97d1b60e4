/** @file Runs contestants on Dawn in Node, on the driver that `npm run dream` would take. */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { findGpuDriver } from '../../../scripts/find-gpu-driver.mjs';
import { root } from '../../../scripts/run.mjs';

const program = fileURLToPath(new URL('./child.mjs', import.meta.url));

/**
 * @typedef {object} Runner
 * @property {any} first What the contestant's warm-up showed, with `adapter`; or `error`.
 * @property {() => Promise<any>} round
 * @property {() => Promise<void>} close
 * @typedef {{name: string, open: (task: object) => Promise<Runner>, close: () => Promise<void>}} Host
 */

/** @returns {Promise<Host>} */
export async function dawnHost() {
  const { kind, env } = await findGpuDriver({ quiet: true });
  if (kind === 'none') throw new Error('No GPU driver was found for Dawn; see node scripts/find-gpu-driver.mjs.');
  return {
    name: `Dawn in Node ${process.versions.node}`,
    async open(task) {
      const child = fork(program, {
        cwd: root,
        env: { ...process.env, ...env },
        stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      });
      /** @type {Promise<any>} */
      const ended = new Promise((done) =>
        child.once('exit', (code, signal) => done({ error: `The process ended with ${signal ?? code}.` })),
      );
      /** @param {object} message @returns {Promise<any>} */
      const ask = (message) => {
        const answer = new Promise((done) => child.once('message', done));
        child.send(message, () => {}); // a process that has ended is told of by `ended`
        return Promise.race([answer, ended]);
      };
      return {
        first: await ask(task),
        round: () => ask({}),
        async close() {
          child.kill();
          await ended;
        },
      };
    },
    close: async () => {},
  };
}
