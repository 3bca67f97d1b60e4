/**
 * @file Installing Debian's own packages where that is allowed: as root, on Debian or its kin, unless DREAM_NO_INSTALL is set.
 *
 * Debian 12's Mesa 22 offers Dawn no adapter, so its software Vulkan driver comes from bookworm-backports.
 */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run, say, which } from './run.mjs';

const lists = '/etc/apt/sources.list.d';
const ownList = join(lists, 'dreamgym-backports');

/** ID, ID_LIKE and VERSION_CODENAME of /etc/os-release. */
export function distribution() {
  /** @type {Record<string, string>} */
  const fields = {};
  try {
    for (const line of readFileSync('/etc/os-release', 'utf8').split('\n')) {
      const [, key, value] = /^([A-Z_]+)="?([^"]*)"?$/.exec(line) ?? [];
      if (key) fields[key] = value;
    }
  } catch {
    // Not Linux, or a very bare one: nothing is known about it.
  }
  return { id: fields.ID ?? '', like: fields.ID_LIKE ?? '', codename: fields.VERSION_CODENAME ?? '' };
}

export function mayInstall() {
  return (
    process.platform === 'linux' &&
    process.getuid?.() === 0 &&
    !process.env.DREAM_NO_INSTALL &&
    which(['apt-get']) !== null &&
    `${distribution().id} ${distribution().like}`.includes('debian')
  );
}

/**
 * Resolves to whether the packages are there now.
 * @param {readonly string[]} packages
 * @param {{backports?: boolean}} [options] backports: take them from the release's backports
 */
export async function aptInstall(packages, { backports = false } = {}) {
  if (!mayInstall()) return false;
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const wait = ['-o', 'DPkg::Lock::Timeout=300'];
  const from = backports ? ['-t', `${distribution().codename}-backports`] : [];
  if (backports && !addBackports()) return false;
  say(`apt-get install ${[...from, ...packages].join(' ')} ...`);
  const updated = await run('apt-get', [...wait, '-qq', 'update'], { env });
  if (updated !== 0 && backports) {
    // A list that cannot be fetched would break every later update of this machine.
    for (const kind of ['.list', '.sources']) rmSync(ownList + kind, { force: true });
    return false;
  }
  return (
    (await run('apt-get', [...wait, '-qq', '-y', '--no-install-recommends', ...from, 'install', ...packages], {
      env,
    })) === 0
  );
}

/** Adds the backports suite beside the release's own entry. Returns whether apt knows it now. */
function addBackports() {
  const { codename } = distribution();
  const files = ['/etc/apt/sources.list', ...listFiles()].filter((path) => existsSync(path));
  const texts = files.map((path) => readFileSync(path, 'utf8'));
  if (texts.some((text) => new RegExp(`^[^#\n]*\\b${codename}-backports\\b`, 'm').test(text))) return true;
  for (const text of texts) {
    const entry = backportsEntry(text, codename);
    if (!entry) continue;
    writeFileSync(ownList + entry.extension, entry.text);
    return true;
  }
  return false;
}

/**
 * The entry of `codename` in an apt sources file with its suite replaced by the backports: same mirror, same key.
 * @param {string} sources
 * @param {string} codename
 * @returns {{extension: '.sources' | '.list', text: string} | null}
 */
export function backportsEntry(sources, codename) {
  const suite = `${codename}-backports`;
  const stanza = sources
    .split(/\n\s*\n/)
    .find((part) => new RegExp(`^Suites:(.*\\s)?${codename}(\\s|$)`, 'm').test(part));
  if (stanza) {
    return { extension: '.sources', text: `${stanza.trim().replace(/^Suites:.*$/m, `Suites: ${suite}`)}\n` };
  }
  const line = sources.split('\n').find((entry) => new RegExp(`^deb\\s.*\\s${codename}\\s`).test(entry));
  if (line) return { extension: '.list', text: `${line.replace(new RegExp(`\\s${codename}\\s`), ` ${suite} `)}\n` };
  return null;
}

function listFiles() {
  try {
    return readdirSync(lists)
      .filter((name) => /\.(list|sources)$/.test(name))
      .map((name) => join(lists, name));
  } catch {
    return [];
  }
}
