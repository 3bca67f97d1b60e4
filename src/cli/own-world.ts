/**
 * @file A world of your own, from a file named on the command line: TypeScript or JavaScript whose default export is a
 * `World` (src/envs/world.ts). The file is a program and runs with your rights: name only files you trust.
 */
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { asDreamError, DreamError } from '../data/errors';
import type { World } from '../envs/world';

const needs = {
  name: 'string',
  summary: 'string',
  trainingTasks: 'function',
  heldOutTasks: 'function',
  create: 'function',
  expert: 'function',
} as const satisfies Record<keyof World, string>;

/** Is this the path of a world's file rather than the name of a built-in one? */
export const isOwnWorld = (name: string): boolean => /\.(ts|mts|js|mjs)$/.test(name);

/**
 * @param path Absolute.
 * Throws DreamError: `file-read`, `world-build` (it does not compile), `world-failed` (it throws when loaded),
 * `not-a-world` (its default export lacks something).
 */
export async function loadOwnWorld(path: string): Promise<World> {
  const found = await stat(path).catch(() => null);
  if (!found?.isFile())
    throw new DreamError('file-read', `${path} cannot be read: there is no such file.`, 'Check the path.');
  const typescript = /^\.m?ts$/.test(extname(path));
  const module: unknown = typescript ? await runBundled(path) : await run(path, path);
  const world = (module as { default?: unknown }).default;
  if (typeof world !== 'object' || world === null) throw notAWorld(path, 'it has no default export');
  for (const [name, type] of Object.entries(needs)) {
    const value = (world as Record<string, unknown>)[name];
    const fits = type === 'string' ? typeof value === 'string' : typeof value === 'function';
    if (!fits) throw notAWorld(path, `${name} must be a ${type}`);
  }
  return world as World;
}

/** Vite is what builds this program, so it can build the file too; what it imports is bundled with it. */
async function runBundled(path: string): Promise<unknown> {
  const folder = await mkdtemp(join(tmpdir(), 'dream-world-'));
  const file = join(folder, 'world.mjs');
  try {
    await writeFile(file, await bundle(path));
    return await run(file, path);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function bundle(path: string): Promise<string> {
  try {
    const { build } = await import('vite');
    const built = await build({
      configFile: false,
      logLevel: 'silent',
      publicDir: false,
      build: {
        ssr: path,
        write: false,
        minify: false,
        target: 'node20',
        rolldownOptions: { output: { codeSplitting: false } },
      },
      ssr: { noExternal: true },
    });
    const outputs = Array.isArray(built) ? built : [built];
    for (const output of outputs)
      if ('output' in output) for (const chunk of output.output) if (chunk.type === 'chunk') return chunk.code;
    throw new Error('the build gave no code');
  } catch (cause) {
    throw new DreamError(
      'world-build',
      `${path} does not compile: ${asDreamError(cause).message.split('\n')[0].slice(0, 300)}`,
      'Correct it and try again; examples/own-world has a world that works.',
      { cause },
    );
  }
}

async function run(file: string, shown: string): Promise<unknown> {
  try {
    return await import(/* @vite-ignore */ pathToFileURL(file).href);
  } catch (cause) {
    throw new DreamError(
      'world-failed',
      `${shown} fails when it is loaded: ${asDreamError(cause).message.slice(0, 300)}`,
      'Correct it and try again.',
      { cause },
    );
  }
}

function notAWorld(path: string, what: string): DreamError {
  return new DreamError(
    'not-a-world',
    `${path} is not a world: ${what}.`,
    'Its default export must be a World (src/envs/world.ts); examples/own-world/drinks-machine.ts shows one.',
  );
}
