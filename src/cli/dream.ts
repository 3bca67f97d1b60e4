/** @file The entry of the terminal's bundle: the real streams, the real signals, and a hard exit, since Dawn holds the process. */
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { main } from './main';

// npm runs scripts in the package's folder and keeps the person's own one in INIT_CWD.
const folder = process.env.INIT_CWD ?? process.cwd();
// The bundle lies in .cache/cli/.
const root = resolve(dirname(fileURLToPath(import.meta.url)), '..', '..');

function onInterrupt(handler: () => void): void {
  let asked = false;
  const react = () => {
    if (asked) process.exit(130);
    asked = true;
    process.stderr.write('\nStopping at the next safe point; press Ctrl-C again to stop at once.\n');
    handler();
  };
  process.on('SIGINT', react);
  process.on('SIGTERM', react);
}

/** process.exit drops what a pipe has not taken yet, and a result cut in half is worse than none. */
function flush(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((done) => stream.write('', () => done()));
}

// A reader that went away (`| head`) is no failure of ours.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

const code = await main(process.argv.slice(2), {
  stdout: process.stdout,
  stderr: process.stderr,
  root,
  folder,
  onInterrupt,
});
await Promise.all([flush(process.stdout), flush(process.stderr)]);
process.exit(code);
