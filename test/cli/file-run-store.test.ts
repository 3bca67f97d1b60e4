import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FileRunStore } from '../../src/cli/file-run-store';
import { resolveConfig } from '../../src/dream/presets';
import type { RunSnapshot, Transition } from '../../src/dream/run-store';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'run-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const transition = (id: number): Transition => ({
  id,
  source: 'imagined',
  episode: 'e',
  room: 'r',
  task: 't',
  state: 's',
  action: 'a',
  nextState: `n ${id}`,
  reward: 0,
});

function snapshot(iteration: number, changes: Partial<RunSnapshot> = {}): RunSnapshot {
  return {
    format: 1,
    runId: 'run',
    created: '2026-01-02T03:04:05.678Z',
    savedAt: `2026-01-02T03:05:0${iteration}.000Z`,
    adapter: 'a',
    config: resolveConfig({ seed: 3 }),
    iteration,
    phase: 'running',
    policy: {
      step: 2 * iteration,
      weights: new Map([
        ['b', Float32Array.of(iteration, 0.1)],
        ['a', Float32Array.of(1 / 3)],
      ]),
      moments1: new Map([['b', Float32Array.of(5, iteration)]]),
    },
    weightsHash: `h${iteration}`,
    buffer: {
      added: [transition(2 * iteration), transition(2 * iteration + 1)],
      removed: [2 * iteration - 2],
      nextId: 2 * iteration + 2,
    },
    pool: [],
    metrics: [],
    evaluations: [],
    measurementSteps: iteration,
    rollouts: [],
    ...changes,
  };
}

describe('the file store', () => {
  it('gives back what was saved, increments put together', async () => {
    const store = new FileRunStore(join(folder, 'deep', 'run'));
    expect(await store.load()).toBeNull();
    expect(await store.latest()).toBeNull();
    for (const i of [0, 1, 2]) await store.save(i, snapshot(i));
    const run = (await store.load('run'))!;
    expect(run.buffer.transitions.map((t) => t.id)).toEqual([1, 3, 4, 5]);
    expect(run.buffer.nextId).toBe(6);
    expect(run.policy).toEqual(snapshot(2).policy);
    expect([...run.policy.weights.keys()]).toEqual(['b', 'a']);
    expect(run).toMatchObject({ iteration: 2, weightsHash: 'h2', measurementSteps: 2, config: { seed: 3 } });
    expect(await store.list()).toMatchObject([{ runId: 'run', iteration: 2, phase: 'running' }]);
    expect(await store.load('another')).toBeNull();
    // Only the last weights are kept.
    expect((await readdir(store.folder)).filter((name) => name.startsWith('weights-'))).toHaveLength(1);
  });

  it('a kill before the commit leaves the previous iteration whole', async () => {
    const store = new FileRunStore(folder);
    await store.save(0, snapshot(0));
    await store.save(1, snapshot(1));
    const committed = await readFile(join(folder, 'run.json'));
    const before = await store.load();
    // Everything of iteration 2 but its commit.
    const later = new FileRunStore(folder);
    const kept = await readFile(join(folder, 'weights-20260102030405678-1.bin'));
    await later.save(2, snapshot(2));
    await writeFile(join(folder, 'run.json'), committed);
    await writeFile(join(folder, 'weights-20260102030405678-1.bin'), kept);
    expect(await store.load()).toEqual(before);
    // And the iteration can be done again.
    await store.save(2, snapshot(2));
    expect((await store.load())!.buffer.transitions.map((t) => t.id)).toEqual([1, 3, 4, 5]);
  });

  it('a new run in the folder replaces the old one, and not before its own commit', async () => {
    const store = new FileRunStore(folder);
    await store.save(0, snapshot(0));
    await store.save(1, snapshot(1));
    await store.save(0, snapshot(0, { created: '2027-01-01T00:00:00.000Z', runId: 'new' }));
    expect((await store.load())!).toMatchObject({ runId: 'new', iteration: 0 });
    expect((await readdir(folder)).sort()).toEqual([
      'changes-20270101000000000-0.json',
      'run.json',
      'weights-20270101000000000-0.bin',
    ]);
    await store.remove('new');
    expect(await readdir(folder)).toEqual([]);
  });

  it('says what is wrong with a damaged run', async () => {
    const store = new FileRunStore(folder);
    await store.save(0, snapshot(0));
    const weights = join(folder, 'weights-20260102030405678-0.bin');
    await writeFile(weights, (await readFile(weights)).subarray(4));
    await expect(store.load()).rejects.toMatchObject({ code: 'corrupt-run' });
    await writeFile(join(folder, 'run.json'), '{"format":1');
    await expect(store.latest()).rejects.toMatchObject({ code: 'corrupt-run' });
    await writeFile(join(folder, 'run.json'), '{"format":2}');
    await expect(store.load()).rejects.toMatchObject({ code: 'corrupt-run' });
  });

  it('belongs to one living process at a time', async () => {
    const store = new FileRunStore(folder);
    await store.claim();
    // Our own, again: a second attempt in one process is no rival.
    await store.claim();
    await writeFile(join(folder, 'lock'), String(process.ppid));
    await expect(store.claim()).rejects.toMatchObject({ code: 'run-busy' });
    // A killed process left its lock behind.
    await writeFile(join(folder, 'lock'), '4194303999');
    await store.claim();
    await store.release();
    expect(await readdir(folder)).toEqual([]);
  });

  it('says when it may not write', async () => {
    await writeFile(join(folder, 'file'), '');
    const store = new FileRunStore(join(folder, 'file', 'run'));
    await expect(store.save(0, snapshot(0))).rejects.toMatchObject({ code: 'storage-denied' });
  });
});
