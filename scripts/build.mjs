/** @file The two builds, each made only when its sources are newer: the page into dist/, the terminal's one file into .cache/cli/. */
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isMain, root, runNode, say } from './run.mjs';

const shared = ['src', 'shaders', 'package-lock.json', 'scripts/build.mjs'];
const pageSources = [...shared, 'index.html', 'public', 'vite.config.ts'];
const cliSources = [...shared, 'vite.cli.config.ts'];

export const pageFolder = join(root, 'dist');
export const cliBundle = join(root, '.cache', 'cli', 'dream.mjs');
const pageStamp = join(root, '.cache', 'page-built');

/** The latest change below these paths; folders count too, since a deleted file leaves only its folder newer. @param {readonly string[]} paths @returns {number} */
function newest(paths) {
  let latest = 0;
  for (const path of paths) {
    const full = join(root, path);
    const stat = statSync(full, { throwIfNoEntry: false });
    if (!stat) continue;
    latest = Math.max(latest, stat.mtimeMs);
    if (stat.isDirectory()) latest = Math.max(latest, newest(readdirSync(full).map((name) => join(path, name))));
  }
  return latest;
}

/** @param {string} output @param {readonly string[]} sources */
function isFresh(output, sources) {
  const made = statSync(output, { throwIfNoEntry: false });
  return made !== undefined && made.mtimeMs >= newest(sources);
}

export function hasPage() {
  return existsSync(join(root, 'index.html'));
}

/** Builds the page into dist/. Throws when it does not build. */
export async function buildPage() {
  if (existsSync(join(pageFolder, 'index.html')) && isFresh(pageStamp, pageSources)) return;
  const began = new Date();
  say('page: building ...');
  const code = await runNode('node_modules/vite/bin/vite.js', ['build', '--logLevel', 'warn']);
  if (code !== 0) throw new Error('The page could not be built; the messages above say why.');
  stamp(pageStamp, began);
}

/**
 * Builds the terminal's bundle and returns its path. The finished file is moved into place, so that commands already
 * running, or two built at once, never see half of one. Throws when it does not build.
 */
export async function buildCli() {
  if (isFresh(cliBundle, cliSources)) return cliBundle;
  const began = new Date();
  const folder = join('.cache', `cli-build-${process.pid}`);
  try {
    const args = ['build', '--config', 'vite.cli.config.ts', '--outDir', folder, '--logLevel', 'warn'];
    const code = await runNode('node_modules/vite/bin/vite.js', args);
    if (code !== 0) throw new Error('The terminal program could not be built; the messages above say why.');
    mkdirSync(join(root, '.cache', 'cli'), { recursive: true });
    utimesSync(join(root, folder, 'dream.mjs'), began, began);
    renameSync(join(root, folder, 'dream.mjs'), cliBundle);
  } finally {
    rmSync(join(root, folder), { recursive: true, force: true });
  }
  return cliBundle;
}

/** Dated at the start of the build: what changed while it ran counts as newer. @param {string} path @param {Date} time */
function stamp(path, time) {
  mkdirSync(join(root, '.cache'), { recursive: true });
  writeFileSync(path, '');
  utimesSync(path, time, time);
}

if (isMain(import.meta.url)) await buildPage();
