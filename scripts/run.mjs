/** @file What every script needs: the project's folder, a way to say things, and child processes that may fail loudly. */
import { spawn } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');

/** Remarks go to stderr: stdout belongs to a command's own output. @param {string} line */
export function say(line) {
  process.stderr.write(`${line}\n`);
}

/** True when the module is the script that was started. @param {string} url import.meta.url */
export function isMain(url) {
  return process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(url);
}

/**
 * Runs a program in the project's folder, its output on stderr unless `stdout` is 'inherit'; resolves to its exit code.
 * @param {string} program
 * @param {readonly string[]} args
 * @param {{env?: NodeJS.ProcessEnv, stdout?: 'inherit' | 'stderr', shell?: boolean}} [options]
 * @returns {Promise<number>}
 */
export function run(program, args, { env = process.env, stdout = 'stderr', shell = false } = {}) {
  return new Promise((done) => {
    const child = spawn(program, args, {
      cwd: root,
      env,
      shell,
      stdio: ['ignore', stdout === 'inherit' ? 'inherit' : 2, 'inherit'],
    });
    // Ctrl-C reaches the whole group by itself; a TERM sent to us alone does not.
    const stop = () => {
      child.kill('SIGTERM');
      process.exit(143);
    };
    process.once('SIGTERM', stop);
    child.on('error', (error) => {
      say(`${program}: ${error.message}`);
      done(127);
    });
    child.on('exit', (code, signal) => {
      process.off('SIGTERM', stop);
      done(code ?? (signal ? 1 : 0));
    });
  });
}

/** A package's program under this Node. @param {string} script @param {readonly string[]} args @param {Parameters<typeof run>[2]} [options] */
export function runNode(script, args, options) {
  return run(process.execPath, [join(root, script), ...args], options);
}

/** The first of these programs that is on the PATH, as a full path. @param {readonly string[]} names @returns {string | null} */
export function which(names) {
  for (const name of names) {
    for (const folder of (process.env.PATH ?? '').split(delimiter)) {
      if (folder && isExecutable(join(folder, name))) return join(folder, name);
    }
  }
  return null;
}

/** @param {string} path */
export function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
