import { describe, expect, test } from 'vitest';
import { AdamW } from '../../src/nn/adamw';
import type { OptimizerSettings } from '../../src/nn/language-model';
import { Parameter } from '../../src/nn/parameter';
import { Reduce } from '../../src/nn/reduce';
import { testGpu } from '../gpu';
import { expectClose, normals } from '../numbers';
import { type AdamWState, adamw as reference } from '../reference/adamw';

const settings: OptimizerSettings = {
  learningRate: 0.02,
  beta1: 0.9,
  beta2: 0.95,
  eps: 1e-8,
  weightDecay: 0.1,
  maxGradNorm: 1,
};

/** A matrix, a norm vector (not decayed), and one matrix larger than a workgroup's share. */
const shapes: [string, number, number][] = [
  ['matrix', 12, 16],
  ['norm', 1, 20],
  ['large', 300, 64],
];

const weights = (i: number) => normals(i, shapes[i][1] * shapes[i][2]);
/** Step 2 has tiny gradients, which no clip touches. */
const gradients = (i: number, step: number) =>
  normals(10 * step + i, shapes[i][1] * shapes[i][2], step === 2 ? 1e-3 : 1);

async function run(steps: number, change: Partial<OptimizerSettings> = {}, spoil?: { step: number; value: number }) {
  const gpu = await testGpu();
  const optimizer = new AdamW(gpu, new Reduce(gpu));
  await gpu.ready();
  const parameters = shapes.map(([name, rows, columns]) => new Parameter(gpu, name, rows, columns, false));
  const norm = gpu.alloc(4, 'norm');
  const norms: number[] = [];
  const prepare = gpu.record('prepare');
  for (const p of parameters) p.prepareTraining(prepare);
  prepare.submit();
  parameters.forEach((p, i) => {
    gpu.write(p.weight, weights(i));
  });
  const snapshots: number[][][] = [];
  for (let step = 1; step <= steps; step++) {
    parameters.forEach((p, i) => {
      const gradient = gradients(i, step);
      if (spoil?.step === step && i === 1) gradient[7] = spoil.value;
      gpu.write(p.gradient!, gradient);
    });
    const rec = gpu.record('step');
    optimizer.record(rec, parameters, norm, { ...settings, ...change }, step);
    rec.submit();
    norms.push(Math.sqrt((await gpu.readF32(norm, 1))[0]));
    const state: number[][] = [];
    for (const p of parameters) {
      for (const buffer of [p.weight, p.moment1!, p.moment2!]) state.push([...(await gpu.readF32(buffer, p.count))]);
    }
    snapshots.push(state);
  }
  for (const p of parameters) p.dispose();
  norm.release();
  return { snapshots, norms };
}

describe.each<[string, Partial<OptimizerSettings>]>([
  ['clipped', {}],
  ['not clipped', { maxGradNorm: 0 }],
  ['without decay', { weightDecay: 0, maxGradNorm: 50 }],
  ['other moments', { beta1: 0, beta2: 0.999, eps: 1e-4 }],
])('%s', (_, change) => {
  test('five steps equal the reference', async () => {
    const { snapshots, norms } = await run(5, change);
    const states: AdamWState[] = shapes.map(([, rows], i) => ({
      weight: Float64Array.from(weights(i)),
      moment1: new Float64Array(weights(i).length),
      moment2: new Float64Array(weights(i).length),
      decayed: rows > 1,
    }));
    for (let step = 1; step <= 5; step++) {
      const each = shapes.map((_, i) => gradients(i, step));
      const norm = reference(states, each, { ...settings, ...change }, step);
      expectClose([norms[step - 1]], [norm]);
      states.forEach((state, i) => {
        expectClose(snapshots[step - 1][3 * i], state.weight, 1);
        // Gradients of two signs cancel in the first moment; 1 - 0.999 is known in f32 to 1.3e-5.
        expectClose(snapshots[step - 1][3 * i + 1], state.moment1, Math.max(...state.moment1.map(Math.abs)));
        expectClose(snapshots[step - 1][3 * i + 2], state.moment2, Math.max(...state.moment2) / 100, 2e-5);
      });
    }
  });
});

test('the first step has the size of the learning rate, whatever the gradient', async () => {
  const { snapshots } = await run(1, { weightDecay: 0, maxGradNorm: 0 });
  shapes.forEach((_, i) => {
    const before = weights(i);
    const moved = snapshots[0][3 * i].map((w, j) => w - before[j]);
    const want = Array.from(gradients(i, 1), (g) => -settings.learningRate * Math.sign(g));
    expectClose(moved, want, 1, 1e-4);
  });
});

test.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 3e38])(
  'a gradient with %d in it changes nothing; the next step is taken',
  async (value) => {
    const { snapshots, norms } = await run(3, {}, { step: 2, value });
    expect(Number.isFinite(norms[1])).toBe(false);
    expect(snapshots[1]).toEqual(snapshots[0]);
    expect(snapshots[2]).not.toEqual(snapshots[1]);
    expect(snapshots[2].flat().every(Number.isFinite)).toBe(true);
  },
);

test('is the same to the bit twice', async () => {
  expect(await run(3)).toEqual(await run(3));
});
