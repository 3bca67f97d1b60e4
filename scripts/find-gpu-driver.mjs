/**
 * @file Which driver Dawn gets: a real GPU's, else lavapipe (Mesa), else the SwiftShader that comes with Chromium.
 *
 * On Linux the Vulkan loader reads its choice from the environment before Dawn is loaded, so the answer is an
 * environment. Every candidate is really opened, in a child process; the answer is kept until the drivers change.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { aptInstall, distribution, mayInstall } from './debian.mjs';
import { isMain, root, say } from './run.mjs';

/**
 * @typedef {object} Driver
 * @property {'hardware' | 'lavapipe' | 'swiftshader' | 'system' | 'none'} kind system: left to the operating system or to the person's own setting
 * @property {string} name The adapter as Dawn calls it.
 * @property {Record<string, string>} env What the process that loads Dawn needs in its environment.
 * @property {string} advice What to do for a better (or any) driver; empty when there is nothing to do.
 */

/** Folders whose chrome brings `vk_swiftshader_icd.json` along. */
function chromiumFolders() {
  const cache = join(homedir(), '.cache', 'ms-playwright');
  const playwright = names(cache)
    .filter((name) => name.startsWith('chromium-'))
    .flatMap((name) => names(join(cache, name)).map((inner) => join(cache, name, inner)));
  return [
    ...['/usr/lib/chromium', '/usr/lib/chromium-browser', '/usr/lib64/chromium-browser', '/opt/google/chrome'],
    ...['/opt/microsoft/msedge', '/snap/chromium/current/usr/lib/chromium-browser', ...playwright],
  ];
}

const icdFolders = ['/usr/share/vulkan/icd.d', '/etc/vulkan/icd.d', '/usr/local/share/vulkan/icd.d'];

/** @param {string} folder */
function names(folder) {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}

function icdFiles() {
  return icdFolders.flatMap((folder) => names(folder).map((name) => join(folder, name)));
}

/** Debian calls it lvp_icd.json or lvp_icd.x86_64.json; on a machine of two architectures both may be there. */
function lavapipeFiles() {
  const arch = { x64: 'x86_64', arm64: 'aarch64' }[/** @type {string} */ (process.arch)] ?? process.arch;
  const files = icdFiles().filter((path) => /\/lvp_icd[^/]*\.json$/.test(path));
  return files.sort((a, b) => Number(b.includes(arch)) - Number(a.includes(arch)));
}

function swiftshaderFiles() {
  return chromiumFolders()
    .map((folder) => join(folder, 'vk_swiftshader_icd.json'))
    .filter((path) => existsSync(path));
}

/** A graphics card that the kernel knows, whatever Vulkan says. */
function cardNodes() {
  const dri = names('/dev/dri').filter((name) => name.startsWith('renderD'));
  const nvidia = names('/dev').filter((name) => /^nvidia\d+$/.test(name));
  return [...dri.map((name) => `/dev/dri/${name}`), ...nvidia.map((name) => `/dev/${name}`)];
}

/** @param {Record<string, string>} env @returns {{name: string, software: boolean} | null} */
function probe(env) {
  const { stdout, status } = spawnSync(process.execPath, [join(root, 'scripts/probe-adapter.mjs')], {
    cwd: root,
    env: { ...process.env, ...env },
    encoding: 'utf8',
    timeout: 60_000,
  });
  if (status !== 0) return null;
  try {
    return JSON.parse(stdout);
  } catch {
    return null;
  }
}

/** Mesa and the loader want a private folder; bare machines and containers have none. @returns {Record<string, string>} */
function runtimeFolder() {
  if (process.env.XDG_RUNTIME_DIR) return {};
  const folder = join(root, '.cache', 'xdg-runtime');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return { XDG_RUNTIME_DIR: folder };
}

/** Everything the choice depends on; a different text means choose again. */
function fingerprint() {
  const files = [...icdFiles(), ...swiftshaderFiles()].map((path) => `${path}@${statSync(path).mtimeMs}`);
  const { VK_ICD_FILENAMES, VK_DRIVER_FILES } = process.env;
  const dawn = statSync(join(root, 'node_modules/webgpu/package.json')).mtimeMs;
  return JSON.stringify([process.platform, process.arch, VK_ICD_FILENAMES, VK_DRIVER_FILES, files, cardNodes(), dawn]);
}

const cacheFile = join(root, '.cache', 'gpu-driver.json');

/** @returns {Driver | null} */
function remembered() {
  try {
    const { key, driver } = JSON.parse(readFileSync(cacheFile, 'utf8'));
    return key === fingerprint() ? { ...driver, env: { ...driver.env, ...runtimeFolder() } } : null;
  } catch {
    return null;
  }
}

/** Tries the candidates in their order. @returns {Driver} */
function choose() {
  const base = runtimeFolder();
  const own = process.env.VK_ICD_FILENAMES ?? process.env.VK_DRIVER_FILES;
  if (process.platform !== 'linux' || own) {
    const found = probe(base);
    if (found) return { kind: 'system', name: found.name, env: base, advice: '' };
    return {
      kind: 'none',
      name: 'none',
      env: base,
      advice: own ? `The driver of VK_ICD_FILENAMES (${own}) does not work: unset it.` : advice(),
    };
  }
  const byLoader = probe(base);
  if (byLoader && !byLoader.software) return { kind: 'hardware', name: byLoader.name, env: base, advice: '' };
  for (const path of lavapipeFiles()) {
    const env = { ...base, VK_ICD_FILENAMES: path };
    const found = probe(env);
    if (found) return { kind: 'lavapipe', name: found.name, env, advice: cardNodes().length > 0 ? advice() : '' };
  }
  for (const path of swiftshaderFiles()) {
    const env = { ...base, VK_ICD_FILENAMES: path };
    // Where the system has no Vulkan loader, the one beside Chromium's driver serves.
    const libraries = [dirname(path), process.env.LD_LIBRARY_PATH].filter(Boolean).join(':');
    for (const candidate of [env, { ...env, LD_LIBRARY_PATH: libraries }]) {
      const found = probe(candidate);
      if (found) return { kind: 'swiftshader', name: found.name, env: candidate, advice: advice() };
    }
  }
  return { kind: 'none', name: 'none', env: base, advice: advice() };
}

/** What a person can do on this machine to get a driver, or a better one. */
function advice() {
  if (process.platform === 'win32') return 'Update the graphics driver (Direct3D 12 is needed).';
  if (process.platform === 'darwin') return 'macOS 13 or newer with Metal is needed; remote sessions may have no GPU.';
  const { id, like, codename } = distribution();
  const system = `${id} ${like}`;
  const [card] = cardNodes();
  if (card?.includes('nvidia')) {
    return `${card} is there, but not its Vulkan driver: install NVIDIA's (Debian: nvidia-vulkan-icd; containers: NVIDIA_DRIVER_CAPABILITIES=all).`;
  }
  const start = card ? `${card} is there, but not its Vulkan driver: ` : 'Software driver: ';
  if (codename === 'bookworm')
    return `${start}add Debian's bookworm-backports, then apt-get install -t bookworm-backports mesa-vulkan-drivers`;
  if (/debian|ubuntu/.test(system)) return `${start}sudo apt-get install mesa-vulkan-drivers`;
  if (/fedora|rhel/.test(system)) return `${start}sudo dnf install mesa-vulkan-drivers vulkan-loader`;
  if (/arch/.test(system)) return `${start}sudo pacman -S vulkan-swrast vulkan-icd-loader`;
  return `${start}install Mesa's Vulkan drivers (lavapipe) and the Vulkan loader, or Chromium`;
}

/**
 * The driver for Dawn in Node. Needs the packages installed.
 * @param {{install?: boolean, quiet?: boolean}} [options] install: may fetch lavapipe where that is allowed; quiet: say nothing of a known choice
 * @returns {Promise<Driver>}
 */
export async function findGpuDriver({ install = true, quiet = false } = {}) {
  const known = remembered();
  if (known) {
    if (!quiet) say(describe(known));
    return known;
  }
  let driver = choose();
  if (
    install &&
    (driver.kind === 'none' || driver.kind === 'swiftshader') &&
    mayInstall() &&
    !process.env.VK_ICD_FILENAMES
  ) {
    const backports = distribution().codename === 'bookworm';
    if (await aptInstall(['mesa-vulkan-drivers', 'libvulkan1'], { backports })) driver = choose();
  }
  say(describe(driver));
  if (driver.advice) say(`  ${driver.advice}`);
  if (driver.kind !== 'none') {
    mkdirSync(dirname(cacheFile), { recursive: true });
    writeFileSync(cacheFile, JSON.stringify({ key: fingerprint(), driver }));
  }
  return driver;
}

/** @param {Driver} driver */
function describe({ kind, name }) {
  if (kind === 'none') return 'GPU driver: none found, so nothing can run on Dawn';
  const words = {
    hardware: 'real GPU',
    lavapipe: 'software (lavapipe)',
    swiftshader: "software (Chromium's SwiftShader)",
    system: 'as the system offers',
  };
  return `GPU driver: ${words[kind]}: ${name}`;
}

if (isMain(import.meta.url)) {
  const driver = await findGpuDriver();
  process.exit(driver.kind === 'none' ? 1 : 0);
}
