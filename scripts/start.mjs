/** @file `npm start`: packages, the built page, a server on this machine, and a browser on it, or the address where there is no display. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildPage, hasPage, pageFolder } from './build.mjs';
import { findBrowser } from './find-browser.mjs';
import { install } from './install.mjs';
import { root, say } from './run.mjs';
import { serve } from './static-server.mjs';

const inTerminal = 'npm run dream -- train --preset household-tiny';

function readOptions() {
  const { values } = parseArgs({
    options: {
      port: { type: 'string', default: '5173' },
      'no-open': { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const port = Number(values.port);
  if (!Number.isInteger(port) || port < 0 || port > 65535)
    throw new Error(`--port cannot be "${values.port}": give 0 to 65535.`);
  return { port, open: !values['no-open'], help: values.help };
}

function hasDisplay() {
  if (process.env.CI) return false;
  if (process.platform === 'linux') return Boolean(process.env.DISPLAY || process.env.WAYLAND_DISPLAY);
  return !process.env.SSH_CONNECTION;
}

/** @param {string} browser @param {string} url */
function openBrowser(browser, url) {
  const args = [url];
  if (process.platform === 'linux') {
    // WebGPU is not yet on by default on every Linux. A profile of our own makes sure that the switches are heard
    // even when the person's browser is already open.
    args.unshift('--enable-unsafe-webgpu', '--enable-features=Vulkan', '--no-first-run');
    args.unshift(`--user-data-dir=${join(root, '.cache', 'browser-profile')}`);
    if (process.getuid?.() === 0) args.unshift('--no-sandbox'); // as root it does not start otherwise
  }
  // On a Mac the browser that is open already must get the address, and only `open` does that.
  const [program, words] =
    process.platform === 'darwin' ? ['open', ['-a', `${browser.split('.app/')[0]}.app`, url]] : [browser, args];
  const child = spawn(program, words, { detached: true, stdio: 'ignore' });
  child.on('error', (error) => say(`The browser did not start (${error.message}): open the address yourself.`));
  child.unref();
}

try {
  const { port, open, help } = readOptions();
  if (help) {
    process.stdout.write(
      'npm start [-- --port N] [--no-open]\n\nBuilds the page, serves it on this machine and opens it.\n',
    );
    process.exit(0);
  }
  await install();
  if (!hasPage()) throw new Error('index.html is missing: this checkout is not complete. Clone it again.');
  await buildPage();
  const { url } = await serve(pageFolder, { port });
  const browser = open && hasDisplay() ? await findBrowser() : null;
  process.stdout.write(`\n  DreamGym is at ${url}   (Ctrl-C ends it)\n`);
  if (browser) {
    openBrowser(browser, url);
  } else {
    if (open && !hasDisplay())
      process.stdout.write('  There is no display here. Open the address in a browser on this machine,\n');
    else process.stdout.write('  Open the address in Chrome, Chromium or Edge,\n');
    process.stdout.write(`  or train in the terminal instead: ${inTerminal}\n`);
  }
} catch (error) {
  say(error instanceof Error ? error.message : String(error));
  process.exit(1);
}
