/** @file Which browser opens the page and runs its test: Chrome, Chromium or Edge, or Debian's chromium where it may be installed. */

import { readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { aptInstall, distribution, mayInstall } from './debian.mjs';
import { isExecutable, isMain, say, which } from './run.mjs';

const linuxNames = [
  ...['google-chrome-stable', 'google-chrome', 'chromium', 'chromium-browser'],
  ...['microsoft-edge-stable', 'microsoft-edge', 'google-chrome-beta', 'google-chrome-unstable'],
];

function macPaths() {
  return ['/Applications', join(homedir(), 'Applications')].flatMap((folder) =>
    ['Google Chrome', 'Chromium', 'Microsoft Edge'].map((name) => `${folder}/${name}.app/Contents/MacOS/${name}`),
  );
}

function windowsPaths() {
  const { PROGRAMFILES, LOCALAPPDATA } = process.env;
  const folders = [PROGRAMFILES, process.env['PROGRAMFILES(X86)'], LOCALAPPDATA].filter(
    (folder) => folder !== undefined,
  );
  return ['Google\\Chrome', 'Chromium', 'Microsoft\\Edge'].flatMap((name) =>
    folders.map((folder) => `${folder}\\${name}\\Application\\${name.endsWith('Edge') ? 'msedge' : 'chrome'}.exe`),
  );
}

/** Browsers that a Playwright of this user has downloaded. */
function playwrightPaths() {
  const cache = join(homedir(), '.cache', 'ms-playwright');
  try {
    return readdirSync(cache)
      .filter((name) => name.startsWith('chromium-'))
      .flatMap((name) => ['chrome-linux', 'chrome-linux64'].map((inner) => join(cache, name, inner, 'chrome')));
  } catch {
    return [];
  }
}

function search() {
  const own = process.env.DREAM_BROWSER ?? process.env.CHROME_PATH;
  if (own) return own;
  if (process.platform === 'darwin') return macPaths().find(isExecutable) ?? null;
  if (process.platform === 'win32') return windowsPaths().find(isExecutable) ?? null;
  return which(linuxNames) ?? playwrightPaths().find(isExecutable) ?? null;
}

/**
 * The browser's program, or null after saying what to install. DREAM_BROWSER names one by hand.
 * @param {{install?: boolean}} [options] install: may fetch Debian's chromium where that is allowed
 * @returns {Promise<string | null>}
 */
export async function findBrowser({ install = true } = {}) {
  let path = search();
  // Ubuntu's package of this name is an empty shell around a snap.
  if (!path && install && mayInstall() && distribution().id === 'debian' && (await aptInstall(['chromium'])))
    path = search();
  if (path && !isExecutable(path)) {
    say(`browser: ${path} (from DREAM_BROWSER or CHROME_PATH) cannot be started`);
    return null;
  }
  if (path) say(`browser: ${path}`);
  else say(`browser: none found. ${advice()}`);
  return path;
}

function advice() {
  const { id, like } = distribution();
  if (id === 'debian') return 'Install one: sudo apt-get install chromium';
  if (`${id} ${like}`.includes('fedora')) return 'Install one: sudo dnf install chromium';
  if (`${id} ${like}`.includes('arch')) return 'Install one: sudo pacman -S chromium';
  return 'Install Chrome, Chromium or Edge, or name one: DREAM_BROWSER=/path/to/chrome';
}

if (isMain(import.meta.url)) {
  process.exit((await findBrowser()) ? 0 : 1);
}
