/** @file export and import-run: a run goes on elsewhere as if it had never left. The models are plain code, the rest is real. */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { strFromU8, unzipSync } from 'fflate';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FileRunStore } from '../../src/cli/file-run-store';
import { DreamLoop } from '../../src/dream/loop';
import type { LoopParts } from '../../src/dream/loop-parts';
import { resolveConfig } from '../../src/dream/presets';
import { readPeft } from '../../src/models/adapters';
import { adapterFromEngine } from '../../src/models/adapters/engine';
import type { DecoderConfig } from '../../src/nn/config';
import type { IterationMetrics } from '../../src/worker/protocol';
import { cpuTopK } from '../dream/cpu-top-k';
import { KnowingModel, TableModel } from '../dream/fake-models';
import { fakeDomain } from '../dream/fake-world';
import { cpuAdvantages } from '../rl/cpu-advantages';
import { snapshotAt, steadyChanges } from '../store/snapshots';
import { resultInTerminal } from './terminal';

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'dream-bundle-'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

const dream = (...argv: string[]) => resultInTerminal(argv, { folder: root });

const config = (iterations: number) =>
  resolveConfig({
    seed: 7,
    iterations,
    tasksPerIteration: 6,
    groupSize: 6,
    maxSteps: 4,
    learningRate: 1e-3,
    lambda: 0.4,
    evalEvery: 2,
    evalTasks: 30,
    bufferCapacity: 100,
  });

const parts = (folder: string): LoopParts => ({
  policy: new TableModel(),
  experience: new KnowingModel(),
  domain: fakeDomain(),
  kernels: { advantages: cpuAdvantages, topK: cpuTopK },
  store: new FileRunStore(join(root, folder)),
  adapter: 'plain code',
  gpuBytes: () => 1,
  emit: () => {},
});

const timeless = (metrics: readonly IterationMetrics[]) =>
  metrics.map(({ seconds: _s, generateTokensPerSecond: _g, trainTokensPerSecond: _t, ...rest }) => rest);

describe('a bundle', () => {
  it('exported, imported elsewhere and continued equals the run that was never interrupted', async () => {
    const whole = DreamLoop.fresh(parts('whole'), config(6), 'run');
    await whole.run();
    const begun = parts('here');
    const interrupted = DreamLoop.fresh(begun, config(6), 'run');
    begun.emit = (event) => {
      if (event.type === 'iteration' && event.metrics.iteration === 3) interrupted.control.stop();
    };
    await interrupted.run();
    expect(interrupted.phase).toBe('stopped');

    const exported = await dream('export', '--run', 'here', '--format', 'bundle', '--out', 'out/run.zip');
    expect(exported.code, exported.err).toBe(0);
    expect(exported.result).toMatchObject({ format: 'bundle', adapter: false, dropped: [] });
    const imported = await dream('import-run', '--file', 'out/run.zip', '--run', 'there/run');
    expect(imported.code, imported.err).toBe(0);
    expect(imported.result).toMatchObject({ runId: 'run', iteration: 3, iterations: 6, adapter: false });
    await rm(join(root, 'here'), { recursive: true });

    const stored = await new FileRunStore(join(root, 'there/run')).load();
    const continued = await DreamLoop.restore(parts('there/run'), stored!);
    await continued.run();
    expect(continued.state.weightsHash).toBe(whole.state.weightsHash);
    expect(continued.state.weightsHash).toMatch(/^[0-9a-f]{64}$/);
    expect(timeless(continued.state.metrics)).toEqual(timeless(whole.state.metrics));
    expect(continued.state.rollouts).toEqual(whole.state.rollouts);
    expect(continued.state.pool.tasks()).toEqual(whole.state.pool.tasks());
    const [ours, theirs] = [continued.state, whole.state].map(({ buffer }) => buffer.takeChanges().nextId);
    expect(ours).toBe(theirs);
    expect(await readdir(join(root, 'there'))).toEqual(['run']);
  });

  it('never overwrites a run, and leaves nothing of a file that is none', async () => {
    const again = await dream('import-run', '--file', 'out/run.zip', '--run', 'there/run');
    expect(again.result.error.code).toBe('run-exists');
    await writeFile(join(root, 'nonsense.zip'), 'PK nonsense');
    const nonsense = await dream('import-run', '--file', 'nonsense.zip', '--run', 'new');
    expect(['corrupt-run', 'not-a-bundle']).toContain(nonsense.result.error.code);
    expect((await dream('import-run', '--file', 'absent.zip', '--run', 'new')).result.error.code).toBe('no-run');
    expect(await readdir(root)).not.toContain('new');
  });

  it('carries the adapter of a real model’s run as a PEFT folder', async () => {
    const shape: DecoderConfig = {
      vocabSize: 272,
      width: 32,
      layers: 2,
      heads: 4,
      kvHeads: 2,
      headDim: 16,
      ffn: 48,
      ropeTheta: 10_000,
      normEps: 1e-5,
      contextLength: 512,
    };
    const rank = 4;
    const sizes = { qkv: [32, 64 + 32 + 32, 3], out: [64, 32, 1], gate_up: [32, 96, 2], down: [48, 32, 1] };
    const weights = new Map<string, Float32Array>();
    for (let layer = 0; layer < shape.layers; layer++)
      for (const [name, [inputs, outputs, stacked]] of Object.entries(sizes)) {
        const numbers = (length: number) => Float32Array.from({ length }, (_, i) => Math.sin(i + layer + stacked));
        weights.set(`layer.${layer}.${name}.lora_A`, numbers(stacked * rank * inputs));
        weights.set(`layer.${layer}.${name}.lora_B`, numbers(outputs * stacked * rank));
      }
    const model = { label: 'tiny', sha256: 'a'.repeat(64), rank, alpha: 8, contextLength: 512, parallel: 2 };
    const snapshot = await snapshotAt(0, { ...steadyChanges(0), removed: [] });
    await new FileRunStore(join(root, 'lora')).save(0, { ...snapshot, model, policy: { step: 0, weights } });

    const { code, err, result } = await dream('export', '--run', 'lora', '--format', 'bundle', '--out', 'lora.zip');
    expect(code, err).toBe(0);
    expect(result.adapter).toBe(true);
    await dream('import-run', '--file', 'lora.zip', '--run', 'lora2', '--adapter-out', 'peft');
    const files = new Map<string, Uint8Array>();
    for (const name of await readdir(join(root, 'peft'))) files.set(name, await readFile(join(root, 'peft', name)));
    const adapter = readPeft(files, shape, model.sha256);
    const base = { baseModel: 'tiny', baseHash: model.sha256 };
    expect(adapter).toEqual(adapterFromEngine(weights, shape, { rank, alpha: 8 }, base));
    const kit = await dream('export', '--run', 'lora2', '--format', 'server-kit', '--out', 'kit.zip');
    expect(kit.result).toMatchObject({ adapter: true, tasks: 1 });
    expect(Object.keys(unzipSync(await readFile(join(root, 'kit.zip'))))).toContain(
      'adapter/adapter_model.safetensors',
    );
  });
});

describe('dream export', () => {
  it('writes data sets and tables of a folder, a record and a bundle alike', async () => {
    const texts = new Map<string, string>();
    for (const [run, out] of [
      ['there/run', 'a'],
      ['out/run.zip', 'b'],
    ])
      for (const format of ['trl', 'preference', 'csv']) {
        const { code, err, result } = await dream(
          'export',
          '--run',
          run,
          '--format',
          format,
          '--out',
          `${out}.${format}`,
        );
        expect(code, err).toBe(0);
        expect(result.bytes).toBeGreaterThan(0);
        texts.set(`${out}.${format}`, await readFile(join(root, `${out}.${format}`), 'utf8'));
      }
    const line = JSON.parse(texts.get('b.trl')!.split('\n')[0]);
    expect(line.messages[0].role).toBe('user');
    expect(line.success).toBe(true);
    expect(Object.keys(JSON.parse(texts.get('b.preference')!.split('\n')[0]))).toEqual([
      'prompt',
      'chosen',
      'rejected',
      'task',
    ]);
    expect(texts.get('a.csv')!.split('\r\n')).toHaveLength(1 + 7 + 1);

    const zip = unzipSync(await readFile(join(root, 'out/run.zip')));
    await writeFile(join(root, 'record.json'), strFromU8(zip['run.json']));
    expect((await dream('export', '--run', 'record.json', '--format', 'csv', '--out', 'c.csv')).code).toBe(0);
    const bundle = await dream('export', '--run', 'record.json', '--format', 'bundle', '--out', 'c.zip');
    expect(bundle.result.error.code).toBe('no-checkpoint');
    const kit = await dream('export', '--run', 'out/run.zip', '--format', 'server-kit', '--out', 'kit.zip');
    expect(kit.result.tasks).toBeGreaterThan(5);
  });

  it('says what is missing or wrong', async () => {
    expect(await dream('export', '--run', 'x')).toMatchObject({ code: 2 });
    expect(await dream('export', '--run', 'x', '--format', 'pdf', '--out', 'y')).toMatchObject({ code: 2 });
    const nothing = await dream('export', '--run', 'nowhere', '--format', 'csv', '--out', 'y');
    expect(nothing.result.error.code).toBe('no-run');
  });
});
