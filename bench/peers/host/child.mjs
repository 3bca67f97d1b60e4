/** @file One contestant on Dawn in a process of its own: `child.mjs TASK` (JSON, see contest.mjs), one line of JSON on stdout. */
import { openAsBlob } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from '../../../scripts/run.mjs';
import { contest } from './contest.mjs';
import { adapterName } from './dawn.mjs';

/** Dawn holds the process open. @param {object} result */
const finish = (result) =>
  process.stdout.write(`\n${JSON.stringify({ adapter: adapterName, ...result })}\n`, () => process.exit(0));

try {
  const result = await contest(JSON.parse(process.argv[2]), {
    load: (path) => import(pathToFileURL(join(root, path)).href),
    open: (path) => openAsBlob(join(root, path)),
  });
  finish(result);
} catch (error) {
  finish({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
}
