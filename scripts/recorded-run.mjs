/**
 * @file Makes the page's recorded run from a run's file: `node scripts/recorded-run.mjs bench/results/FILE.json`.
 *
 * The same record with the sample rollouts of the first, the last and every fifth iteration only: the page loads it before
 * anything else, and nobody looks through four hundred episodes.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, say } from './run.mjs';

const [source] = process.argv.slice(2);
if (!source) {
  say('Name the run: node scripts/recorded-run.mjs bench/results/FILE.json');
  process.exit(2);
}
const record = JSON.parse(readFileSync(source, 'utf8'));
const last = record.metrics.length;
const rollouts = record.rollouts.filter(
  (/** @type {{ iteration: number }} */ { iteration }) => iteration === 1 || iteration === last || iteration % 5 === 0,
);
const path = join(root, 'public', 'runs', 'household-tiny.json');
writeFileSync(path, `${JSON.stringify({ ...record, rollouts })}\n`);
say(`${path}: ${last} iterations, rollouts of ${rollouts.length}`);
