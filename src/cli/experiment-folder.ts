/**
 * @file An experiment on disk: a folder for every run, a lock on each, so that several processes can share a grid.
 *
 * A stage is kept as one JSON file beside its weights; the JSON is written last and by rename, so what it names is whole.
 * A run whose definition has changed is another run: its old folder is refused, never silently mixed in.
 */
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DreamError } from '../data/errors';
import type { PlannedRun } from '../dream/experiment/definition';
import type { RunResult } from '../dream/experiment/results';
import type { FinishedStage, RunKeeper } from '../dream/experiment/run';
import type { RunStore } from '../dream/run-store';
import { readSafetensors, writeSafetensors } from '../models/safetensors';
import type { ModelState } from '../nn/language-model';
import { FileRunStore } from './file-run-store';
import { replaceFile } from './replace-file';

type StoredStage = Omit<FinishedStage, 'policy' | 'experience'> & { changedExperience: boolean };

export class ExperimentFolder {
  constructor(readonly folder: string) {}

  /** Results of runs that belong to `runs` as they are defined now. */
  async results(runs: readonly PlannedRun[]): Promise<RunResult[]> {
    const found = await Promise.all(runs.map((run) => this.result(run)));
    return found.filter((result) => result !== null);
  }

  async result(run: PlannedRun): Promise<RunResult | null> {
    const kept = await readJson<{ fingerprint: string; result: RunResult }>(this.path(run, 'result.json'));
    if (!kept) return null;
    this.mustBe(run, kept.fingerprint);
    return kept.result;
  }

  /**
   * The run for this process, or null where another living process is at it. Throws `experiment-changed` when the folder
   * holds a run of another definition.
   */
  async claim(run: PlannedRun): Promise<FolderKeeper | null> {
    const lock = new FileRunStore(this.path(run));
    try {
      await lock.claim();
    } catch (error) {
      if (error instanceof DreamError && error.code === 'run-busy') return null;
      throw error;
    }
    const plan = await readJson<{ fingerprint: string }>(this.path(run, 'plan.json'));
    if (plan) this.mustBe(run, plan.fingerprint);
    else await writeJson(this.path(run, 'plan.json'), { row: run.row, seed: run.seed, fingerprint: run.fingerprint });
    return new FolderKeeper(this.path(run), lock);
  }

  async keep(run: PlannedRun, result: RunResult): Promise<void> {
    await writeJson(this.path(run, 'result.json'), { fingerprint: run.fingerprint, result });
  }

  /** Forgets a run. */
  async discard(run: PlannedRun): Promise<void> {
    await rm(this.path(run), { recursive: true, force: true });
  }

  private mustBe(run: PlannedRun, fingerprint: string): void {
    if (fingerprint === run.fingerprint) return;
    throw new DreamError(
      'experiment-changed',
      `"${run.row}", seed ${run.seed}, was run under another definition (${this.path(run)}).`,
      'Undo the change, give the experiment another name, or add --fresh to run such rows anew.',
    );
  }

  private path(run: PlannedRun, ...rest: string[]): string {
    return join(this.folder, run.id, ...rest);
  }
}

export class FolderKeeper implements RunKeeper {
  constructor(
    private readonly folder: string,
    private readonly lock: FileRunStore,
  ) {}

  async finished(): Promise<FinishedStage[]> {
    const stages: FinishedStage[] = [];
    for (;;) {
      const name = `stage-${stages.length + 1}`;
      const stored = await readJson<StoredStage>(join(this.folder, `${name}.json`));
      if (!stored) return stages;
      const { changedExperience, ...rest } = stored;
      stages.push({
        ...rest,
        policy: await readWeights(join(this.folder, `${name}.safetensors`)),
        ...(changedExperience
          ? { experience: await readWeights(join(this.folder, `${name}-experience.safetensors`)) }
          : {}),
      });
    }
  }

  async finish(index: number, { policy, experience, ...rest }: FinishedStage): Promise<void> {
    const name = `stage-${index + 1}`;
    await writeWeights(join(this.folder, `${name}.safetensors`), policy);
    if (experience) await writeWeights(join(this.folder, `${name}-experience.safetensors`), experience);
    await writeJson(join(this.folder, `${name}.json`), { ...rest, changedExperience: experience !== undefined });
  }

  store(index: number): RunStore {
    return new FileRunStore(join(this.folder, `loop-${index + 1}`));
  }

  release(): Promise<void> {
    return this.lock.release();
  }
}

async function readJson<T>(path: string): Promise<T | null> {
  if (!existsSync(path)) return null;
  try {
    return JSON.parse(await readFile(path, 'utf8')) as T;
  } catch (cause) {
    throw new DreamError('corrupt-experiment', `${path} cannot be read.`, 'Remove that run’s folder and run it anew.', {
      cause,
    });
  }
}

async function writeJson(path: string, value: unknown): Promise<void> {
  await replaceFile(path, JSON.stringify(value));
}

async function writeWeights(path: string, { weights }: ModelState): Promise<void> {
  const tensors = new Map([...weights].map(([name, data]) => [name, { shape: [data.length], data }]));
  await mkdir(join(path, '..'), { recursive: true });
  await replaceFile(path, writeSafetensors(tensors, {}));
}

async function readWeights(path: string): Promise<ModelState> {
  const { tensors } = readSafetensors(await readFile(path));
  return { step: 0, weights: new Map([...tensors].map(([name, { data }]) => [name, data])) };
}
