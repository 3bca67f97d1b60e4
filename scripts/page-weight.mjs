/** @file How heavy the page is: the gzipped JavaScript that a run asks for, trainer included, against the promise of 250 kB. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { buildPage, pageFolder } from './build.mjs';
import { install } from './install.mjs';
import { isMain, say } from './run.mjs';

export const limitBytes = 250_000;

/** Fetched when the reader opens the panel "Models" and not before (test/browser/models.e2e.ts watches that). */
const onDemand = /^assets[/\\](models-panel|models\.worker|transformers-worker)-/;

/** Every script below `folder` that comes without being asked for, with its gzipped bytes, heaviest first. @param {string} folder */
export function pageWeight(folder) {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.m?js$/.test(name) && !onDemand.test(name))
    .map((name) => ({ name, bytes: gzipSync(readFileSync(join(folder, name)), { level: 9 }).length }))
    .sort((a, b) => b.bytes - a.bytes);
  return { files, bytes: files.reduce((sum, file) => sum + file.bytes, 0) };
}

if (isMain(import.meta.url)) {
  await install();
  await buildPage();
  const { files, bytes } = pageWeight(pageFolder);
  for (const file of files) say(`${(file.bytes / 1000).toFixed(1).padStart(7)} kB  ${file.name}`);
  say(
    `${(bytes / 1000).toFixed(1).padStart(7)} kB gzipped JavaScript without what the panel Models fetches; at most ${limitBytes / 1000} kB`,
  );
  process.exit(bytes <= limitBytes ? 0 : 1);
}
