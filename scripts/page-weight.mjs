/** @file How heavy the page is: gzipped JavaScript of the build, all of it, against the promise of 250 kB. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { buildPage, pageFolder } from './build.mjs';
import { install } from './install.mjs';
import { isMain, say } from './run.mjs';

export const limitBytes = 250_000;

/** Every script below `folder` with its gzipped bytes, heaviest first. @param {string} folder */
export function pageWeight(folder) {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.m?js$/.test(name))
    .map((name) => ({ name, bytes: gzipSync(readFileSync(join(folder, name)), { level: 9 }).length }))
    .sort((a, b) => b.bytes - a.bytes);
  return { files, bytes: files.reduce((sum, file) => sum + file.bytes, 0) };
}

if (isMain(import.meta.url)) {
  await install();
  await buildPage();
  const { files, bytes } = pageWeight(pageFolder);
  for (const file of files) say(`${(file.bytes / 1000).toFixed(1).padStart(7)} kB  ${file.name}`);
  say(`${(bytes / 1000).toFixed(1).padStart(7)} kB gzipped JavaScript; at most ${limitBytes / 1000} kB`);
  process.exit(bytes <= limitBytes ? 0 : 1);
}
