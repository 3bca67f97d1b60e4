/** @file A run as a person names it: its folder, an exported record, or a bundle; and a bundle put into a folder again. */
import { mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { DreamError } from '../data/errors';
import { looksLikeBundle, type ReadBundle, readBundle } from '../data/exporters/bundle/read';
import { recordOf } from '../data/exporters/bundle/write';
import { readRunRecord } from '../data/importers/run-record';
import { checkConfig } from '../dream/presets';
import type { RunSnapshot, StoredRun } from '../dream/run-store';
import type { RunRecord } from '../worker/protocol';
import { FileRunStore } from './file-run-store';
import { replaceFile } from './replace-file';
import { runAdapter } from './run-adapter';

export interface OpenedRun {
  record: RunRecord;
  /** null for an exported record: it shows a run, but cannot continue it. */
  stored: StoredRun | null;
  /** PEFT files; empty where the run trains a whole model. */
  adapter: ReadonlyMap<string, Uint8Array>;
  notices: readonly string[];
}

/** Throws `no-run`, `corrupt-run`, `not-a-run`, `newer-run`. */
export async function openRun(path: string): Promise<OpenedRun> {
  const found = await stat(path).catch(() => null);
  if (!found) throw noRun(path, 'there is nothing of that name');
  if (found.isDirectory()) {
    const stored = await new FileRunStore(path).load();
    if (!stored) throw noRun(path, 'the folder holds no run');
    return { record: recordOf(stored), stored, adapter: runAdapter(stored), notices: [] };
  }
  const bytes = await readFile(path);
  if (looksLikeBundle(bytes)) {
    const { stored, adapter, notices } = await readBundle(bytes, checkConfig);
    return { record: recordOf(stored), stored, adapter, notices };
  }
  return { ...(await readRunRecord(bytes, checkConfig)), stored: null, adapter: new Map() };
}

/** Throws `not-a-bundle`, `corrupt-run`, `newer-run`, `no-run`. */
export async function openBundle(path: string): Promise<ReadBundle> {
  const bytes = await readFile(path).catch(() => {
    throw noRun(path, 'the file cannot be read');
  });
  return readBundle(bytes, checkConfig);
}

/**
 * Makes `folder` the folder of this run, so that `train --resume` continues it. It appears whole or not at all.
 * Throws `run-exists` for a folder that holds anything, `storage-full`, `storage-denied`.
 */
export async function storeRun(folder: string, stored: StoredRun): Promise<void> {
  const entries = await readdir(folder).catch(() => []);
  if (entries.length > 0)
    throw new DreamError(
      'run-exists',
      `The folder ${folder} is not empty.`,
      'Name a new folder with --run; a run is never overwritten by an import.',
    );
  const part = join(dirname(folder), `.${basename(folder)}.part-${process.pid}`);
  try {
    const store = new FileRunStore(part);
    for (const snapshot of snapshotsOf(stored)) await store.save(snapshot.iteration, snapshot);
    await rm(folder, { recursive: true, force: true });
    await mkdir(dirname(folder), { recursive: true });
    await rename(part, folder);
  } finally {
    await rm(part, { recursive: true, force: true });
  }
}

/**
 * The commits that such a run is made of. The buffer comes whole with the last one, and only the last one has weights: no
 * other is ever read.
 */
function* snapshotsOf(stored: StoredRun): Generator<RunSnapshot> {
  const { buffer, rollouts, ...rest } = stored;
  const shown = new Map(rollouts.map(({ iteration, trajectories }) => [iteration, trajectories]));
  for (let iteration = 0; iteration <= stored.iteration; iteration++) {
    const last = iteration === stored.iteration;
    yield {
      ...rest,
      iteration,
      policy: last ? stored.policy : { step: 0, weights: new Map() },
      buffer: { added: last ? buffer.transitions : [], removed: [], nextId: buffer.nextId },
      rollouts: shown.get(iteration) ?? [],
    };
  }
}

/** Beside, flushed, then renamed over. Throws `storage-full`, `storage-denied`. */
export async function writeWhole(path: string, content: Uint8Array | string): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true });
    await replaceFile(path, content);
  } catch (cause) {
    await rm(`${path}.part`, { force: true }).catch(() => undefined);
    const { code } = cause as NodeJS.ErrnoException;
    throw new DreamError(
      code === 'ENOSPC' || code === 'EDQUOT' ? 'storage-full' : 'storage-denied',
      `${path} could not be written (${code ?? String(cause)}).`,
      'Free some space or name another place with --out.',
      { cause },
    );
  }
}

function noRun(path: string, why: string): DreamError {
  return new DreamError(
    'no-run',
    `There is no run at ${path}: ${why}.`,
    'Name the folder of a run (train --run), or a file written by train --out or export.',
  );
}
