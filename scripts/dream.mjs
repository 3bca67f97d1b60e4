/** @file `npm run --silent dream -- COMMAND`: builds the terminal program when its sources changed, chooses the driver, hands over. */
import { spawn } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { buildCli } from './build.mjs';
import { findGpuDriver } from './find-gpu-driver.mjs';
import { install } from './install.mjs';
import { say } from './run.mjs';

const args = process.argv.slice(2);
/** These run without a GPU. */
const plainCommands = ['annotate', 'early-experience', 'env', 'export', 'import', 'import-run', 'relay', 'serve'];
const plain =
  args.length === 0 ||
  plainCommands.includes(args[0]) ||
  (args[0] === 'judge' && !args.includes('--model')) ||
  args.includes('--help') ||
  args.includes('-h') ||
  args.includes('--envs') ||
  args.includes('--list');

try {
  await install();
  const bundle = await buildCli();
  const env = plain ? {} : (await findGpuDriver({ quiet: true })).env;
  if (env.LD_LIBRARY_PATH && env.LD_LIBRARY_PATH !== process.env.LD_LIBRARY_PATH) {
    // The dynamic linker reads this variable once, when a process starts.
    const child = spawn(process.execPath, [bundle, ...args], { env: { ...process.env, ...env }, stdio: 'inherit' });
    process.on('SIGINT', () => {}); // the child has it too, and decides
    process.on('SIGTERM', () => child.kill('SIGTERM'));
    child.on('exit', (code) => process.exit(code ?? 1));
  } else {
    // The same process otherwise: what kills it kills the work, and a resumed run never meets its own ghost.
    Object.assign(process.env, env);
    await import(pathToFileURL(bundle).href);
  }
} catch (error) {
  say(error instanceof Error ? error.message : String(error));
  process.exit(1);
}
