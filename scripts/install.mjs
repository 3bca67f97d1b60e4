/** @file Packages: `npm ci` when node_modules is missing or does not match package-lock.json, nothing otherwise. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isMain, root, run, say } from './run.mjs';

/** @typedef {{version?: string, optional?: boolean}} LockedPackage */

/** @param {string} path @returns {Record<string, LockedPackage> | null} */
function lockedPackages(path) {
  try {
    return JSON.parse(readFileSync(join(root, path), 'utf8')).packages ?? null;
  } catch {
    return null;
  }
}

/** npm notes what it installed; optional packages of other platforms are rightly absent. */
export function isInstalled() {
  const wanted = lockedPackages('package-lock.json');
  const present = lockedPackages('node_modules/.package-lock.json');
  if (!wanted || !present) return false;
  return Object.entries(wanted).every(
    ([path, { version, optional }]) =>
      path === '' || present[path]?.version === version || (optional && !present[path]),
  );
}

/** Makes node_modules match the lock file. Throws when npm fails. */
export async function install() {
  const major = process.versions.node.split('.').map(Number);
  if (major[0] < 20 || (major[0] === 20 && major[1] < 19)) {
    throw new Error(`Node ${process.versions.node} is too old: install Node 20.19 or newer.`);
  }
  if (isInstalled()) return;
  say('packages: installing (npm ci) ...');
  const args = ['ci', '--no-audit', '--no-fund'];
  // Under `npm start` npm says where it is itself, which spares a search for npm.cmd on Windows.
  const npm = process.env.npm_execpath;
  const code = npm?.endsWith('.js')
    ? await run(process.execPath, [npm, ...args])
    : await run('npm', args, { shell: process.platform === 'win32' });
  if (code !== 0) {
    throw new Error(
      'The packages could not be installed. Check the network (and the proxy in npm config), then run npm ci by hand.',
    );
  }
}

if (isMain(import.meta.url)) {
  try {
    await install();
    say('packages: as in package-lock.json');
  } catch (error) {
    say(error instanceof Error ? error.message : String(error));
    process.exit(1);
  }
}
