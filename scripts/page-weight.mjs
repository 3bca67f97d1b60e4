/** @file How heavy the page is: the gzipped JavaScript that a run asks for, trainer included, against the promise of 250 kB. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { buildPage, pageFolder } from './build.mjs';
import { install } from './install.mjs';
import { isMain, say } from './run.mjs';

export const limitBytes = 250_000;

/** Fetched when the reader opens a panel and not before (test/browser/models.e2e.ts watches that for one of them). */
const onDemand =
  /^(?:(?:models|experiments|worlds)-panel|(?:models|experiments|remote-world)\.worker|transformers-worker)-/;

/** What a script asks for by itself: its imports of either kind, and its workers. @param {string} text */
const asked = (text) =>
  [...text.matchAll(/(?:from|import\(?)\s*["'`]\.\/([\w.-]+\.js)|new URL\(["'`]([\w.-]+\.js)/g)].map(
    ([, script, worker]) => script ?? worker,
  );

/** Every script that comes without a panel being opened, with its gzipped bytes, heaviest first. @param {string} folder */
export function pageWeight(folder) {
  /** @type {Map<string, number>} */
  const files = new Map();
  const entry = /src="\.\/assets\/([\w.-]+\.js)"/.exec(readFileSync(join(folder, 'index.html'), 'utf8'))?.[1];
  for (const pending = entry ? [entry] : []; pending.length > 0; ) {
    const name = /** @type {string} */ (pending.pop());
    if (files.has(name) || onDemand.test(name)) continue;
    const script = readFileSync(join(folder, 'assets', name));
    files.set(name, gzipSync(script, { level: 9 }).length);
    pending.push(...asked(script.toString()));
  }
  const heaviest = [...files].map(([name, bytes]) => ({ name, bytes })).sort((a, b) => b.bytes - a.bytes);
  return { files: heaviest, bytes: heaviest.reduce((sum, file) => sum + file.bytes, 0) };
}

if (isMain(import.meta.url)) {
  await install();
  await buildPage();
  const { files, bytes } = pageWeight(pageFolder);
  for (const file of files) say(`${(file.bytes / 1000).toFixed(1).padStart(7)} kB  ${file.name}`);
  say(
    `${(bytes / 1000).toFixed(1).padStart(7)} kB gzipped JavaScript without what the panels fetch when they are opened; at most ${limitBytes / 1000} kB`,
  );
  process.exit(bytes <= limitBytes ? 0 : 1);
}
