/**
 * @file One run in one folder: the terminal's RunStore.
 *
 * run.json is the commit. Everything it names is written (and flushed) before it, and it replaces the old one by an
 * atomic rename, so a kill at any moment leaves either the previous iteration or this one, whole. Weights are one flat
 * file of f32; the buffer and the rollouts are one file of changes an iteration.
 */
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DreamError } from '../data/errors';
import type { Trajectory } from '../data/trajectory';
import type { BufferChanges, RunSnapshot, RunStore, RunSummary, StoredRun, Transition } from '../dream/run-store';
import type { ModelState } from '../nn/language-model';
import { replaceFile } from './replace-file';

type TensorKind = 'weights' | 'moments1' | 'moments2';
const kinds = ['weights', 'moments1', 'moments2'] as const satisfies readonly TensorKind[];

interface TensorEntry {
  kind: TensorKind;
  name: string;
  length: number;
}

/** What run.json holds. `edition` is part of every file name: a run that replaces another never touches its files. */
interface Commit extends Omit<RunSnapshot, 'policy' | 'buffer' | 'rollouts'> {
  edition: string;
  bufferNextId: number;
  policy: { step: number; tensors: TensorEntry[] };
}

interface IterationFile {
  buffer: BufferChanges;
  rollouts: Trajectory[];
}

export class FileRunStore implements RunStore {
  constructor(readonly folder: string) {}

  /**
   * Claims the folder for this process until `release`. Throws `run-busy` while another living process holds it; what a
   * killed one left behind is taken over.
   */
  async claim(): Promise<void> {
    const path = join(this.folder, 'lock');
    try {
      await mkdir(this.folder, { recursive: true });
      const holder = existsSync(path) ? Number(await readFile(path, 'utf8')) : 0;
      if (holder > 0 && holder !== process.pid && isAlive(holder))
        throw new DreamError(
          'run-busy',
          `The run in ${this.folder} is being trained by another process (${holder}).`,
          'Wait for it, end it, or name another folder with --run.',
        );
      await writeFile(path, String(process.pid));
    } catch (error) {
      throw error instanceof DreamError ? error : storageError(error, this.folder);
    }
  }

  async release(): Promise<void> {
    await rm(join(this.folder, 'lock'), { force: true });
  }

  async save(iteration: number, snapshot: RunSnapshot): Promise<void> {
    const edition = snapshot.created.replace(/\D/g, '');
    const { policy, buffer, rollouts, ...header } = snapshot;
    const tensors = flatten(policy);
    const changes: IterationFile = { buffer, rollouts };
    const commit: Commit = {
      ...header,
      edition,
      bufferNextId: buffer.nextId,
      policy: { step: policy.step, tensors: tensors.map(({ data: _, ...entry }) => entry) },
    };
    try {
      await mkdir(this.folder, { recursive: true });
      await replaceFile(
        join(this.folder, this.weightsFile(edition, iteration)),
        ...tensors.map(({ data }) => new Uint8Array(data.buffer, data.byteOffset, data.byteLength)),
      );
      await replaceFile(join(this.folder, this.changesFile(edition, iteration)), JSON.stringify(changes));
      await replaceFile(join(this.folder, 'run.json'), JSON.stringify(commit));
    } catch (error) {
      throw storageError(error, this.folder);
    }
    await this.sweep(edition, iteration);
  }

  /** The run in this folder; null when there is none or it has another id. */
  async load(runId?: string): Promise<StoredRun | null> {
    const commit = await this.commit();
    if (!commit || (runId !== undefined && commit.runId !== runId)) return null;
    const { edition, bufferNextId, policy, ...header } = commit;
    try {
      const transitions = new Map<number, Transition>();
      const rollouts: StoredRun['rollouts'] = [];
      for (let iteration = 0; iteration <= commit.iteration; iteration++) {
        const file = JSON.parse(await this.read(this.changesFile(edition, iteration))) as IterationFile;
        for (const transition of file.buffer.added) transitions.set(transition.id, transition);
        for (const id of file.buffer.removed) transitions.delete(id);
        if (file.rollouts.length > 0) rollouts.push({ iteration, trajectories: file.rollouts });
      }
      const bytes = await readFile(join(this.folder, this.weightsFile(edition, commit.iteration)));
      return {
        ...header,
        policy: unflatten(policy, bytes),
        buffer: { transitions: [...transitions.values()], nextId: bufferNextId },
        rollouts,
      };
    } catch (error) {
      throw corrupt(this.folder, error);
    }
  }

  async latest(): Promise<RunSummary | null> {
    const commit = await this.commit();
    if (!commit) return null;
    const { runId, iteration, phase, config, created, savedAt } = commit;
    return { runId, iteration, phase, config, created, savedAt };
  }

  async list(): Promise<RunSummary[]> {
    const latest = await this.latest();
    return latest ? [latest] : [];
  }

  async remove(runId: string): Promise<void> {
    const commit = await this.commit();
    if (commit?.runId !== runId) return;
    // The commit first: without it the rest is only litter.
    await rm(join(this.folder, 'run.json'), { force: true });
    await this.sweep('', -1);
  }

  private async commit(): Promise<Commit | null> {
    if (!existsSync(join(this.folder, 'run.json'))) return null;
    try {
      const commit = JSON.parse(await this.read('run.json')) as Commit;
      if (commit.format !== 1 || typeof commit.runId !== 'string') throw new Error('run.json is of another format');
      return commit;
    } catch (error) {
      throw corrupt(this.folder, error);
    }
  }

  private read(name: string): Promise<string> {
    return readFile(join(this.folder, name), 'utf8');
  }

  /** Removes what the commit no longer names: other editions, older weights, changes of iterations undone by a kill. */
  private async sweep(edition: string, iteration: number): Promise<void> {
    const ours = /^(?:weights|changes)-(\d+)-(\d+)\.(?:bin|json)(?:\.part)?$/;
    for (const name of await readdir(this.folder)) {
      const match = ours.exec(name);
      if (!match) continue;
      const stale = match[1] !== edition || Number(match[2]) > iteration;
      const oldWeights = name.startsWith('weights-') && Number(match[2]) < iteration;
      if (stale || oldWeights) await rm(join(this.folder, name), { force: true });
    }
  }

  private weightsFile(edition: string, iteration: number): string {
    return `weights-${edition}-${iteration}.bin`;
  }

  private changesFile(edition: string, iteration: number): string {
    return `changes-${edition}-${iteration}.json`;
  }
}

function flatten(state: ModelState): (TensorEntry & { data: Float32Array })[] {
  return kinds.flatMap((kind) =>
    [...(state[kind] ?? new Map<string, Float32Array>())].map(([name, data]) => ({
      kind,
      name,
      length: data.length,
      data,
    })),
  );
}

function unflatten({ step, tensors }: Commit['policy'], bytes: Uint8Array): ModelState {
  const total = tensors.reduce((sum, { length }) => sum + 4 * length, 0);
  if (total !== bytes.byteLength) throw new Error(`the weights have ${bytes.byteLength} bytes instead of ${total}`);
  const state: ModelState = { step, weights: new Map() };
  let offset = 0;
  for (const { kind, name, length } of tensors) {
    // Copied: a file's bytes need not lie on a multiple of four.
    const data = new Float32Array(length);
    new Uint8Array(data.buffer).set(bytes.subarray(offset, offset + 4 * length));
    state[kind] ??= new Map();
    state[kind].set(name, data);
    offset += 4 * length;
  }
  return state;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // It lives, but belongs to somebody else.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function storageError(error: unknown, folder: string): DreamError {
  const code = (error as NodeJS.ErrnoException).code ?? '';
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new DreamError(
      'storage-full',
      `There is no space left for the run in ${folder}.`,
      'Free some space, then continue with --resume: the last finished iteration is intact.',
      { cause: error },
    );
  return new DreamError(
    'storage-denied',
    `The run could not be written to ${folder} (${code || String(error)}).`,
    'Choose another folder with --run, or correct its permissions.',
    { cause: error },
  );
}

function corrupt(folder: string, cause: unknown): DreamError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new DreamError(
    'corrupt-run',
    `The run in ${folder} cannot be read: ${why}.`,
    'Start it anew without --resume, or name another folder with --run.',
    { cause },
  );
}
