/** @file One contestant on Dawn in a process of its own, asked over IPC: a task first, then rounds. */
import { openAsBlob } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from '../../../scripts/run.mjs';
import { openContest } from './contest.mjs';
import { adapterName } from './dawn.mjs';

/** @type {import('./contest.mjs').Opened | null} */
let opened = null;

process.on('message', async (/** @type {import('./contest.mjs').StepTask | null} */ task) => {
  try {
    if (opened) {
      process.send?.(await opened.round());
      return;
    }
    if (!task) throw new Error('A round was asked for before the task.');
    opened = await openContest(task, {
      load: (path) => import(pathToFileURL(join(root, path)).href),
      open: (path) => openAsBlob(join(root, path)),
    });
    process.send?.({ adapter: adapterName, ...opened.first });
  } catch (error) {
    process.send?.({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
});
