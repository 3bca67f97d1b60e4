import { afterEach, describe, expect, test } from 'vitest';
import type { DecoderConfig } from '../../src/nn/config';
import { Decoder } from '../../src/nn/decoder';
import type { DecoderModel } from '../../src/nn/decoder-model';
import { initialise } from '../../src/nn/initialise';
import type { OptimizerSettings, TrainSequence } from '../../src/nn/language-model';
import { Linear } from '../../src/nn/linear';
import { LoraLinear } from '../../src/nn/lora';
import { Matmul } from '../../src/nn/matmul';
import { Parameter } from '../../src/nn/parameter';
import { testGpu } from '../gpu';
import { expectClose, normals } from '../numbers';
import { ReferenceDecoder } from '../reference/decoder';
import { adapterGradients, diagonalBlocks, merged } from '../reference/lora';
import { linear, linearBackward, type Vector } from '../reference/matmul';
import { runKernel } from './run-kernel';
import { dot, slopes } from './slopes';
import { livelyWeights, randomTokens, tinyConfig, tinyModel } from './tiny-models';

const lora = { rank: 4, alpha: 8 };
const ropeScaling = { factor: 8, lowFreqFactor: 1, highFreqFactor: 4, originalContextLength: 32 };
const sft = { kind: 'sft' } as const;
const settings: OptimizerSettings = {
  learningRate: 1e-2,
  beta1: 0.9,
  beta2: 0.99,
  eps: 1e-8,
  weightDecay: 0,
  maxGradNorm: 1,
};

const open: DecoderModel[] = [];
async function model(adapted: boolean): Promise<DecoderModel> {
  const made = await tinyModel({ lora: adapted ? lora : null });
  open.push(made);
  return made;
}
afterEach(() => {
  for (const made of open.splice(0)) made.dispose();
});

const trainingData = (seed: number): TrainSequence[] =>
  randomTokens(seed, [12, 5, 20]).map((tokens) => ({
    tokens,
    weights: tokens.map((_, t) => (t % 3 === 0 ? 0 : 0.05)),
  }));

describe.each<[number, number, number[], number, number]>([
  [9, 16, [20], 4, 2],
  [33, 12, [8], 8, 0.5],
  [17, 16, [12, 4, 4], 4, 2],
])('one layer: %i rows, %i inputs, outputs %j, rank %i, scale %d', (t, inputs, parts, each, scale) => {
  const outputs = parts.reduce((a, b) => a + b);
  const rank = parts.length * each; // of the stacked matrices
  const data = {
    x: normals(1, t * inputs),
    w: normals(2, outputs * inputs, 0.3),
    a: normals(3, rank * inputs, 0.3),
    b: diagonalBlocks(normals(4, outputs * rank, 0.3), parts, each),
    dy: normals(5, t * outputs),
    y: normals(6, t * outputs),
    dx: normals(7, t * inputs),
  };
  const adapter = { a: data.a, b: data.b, rank, scale };

  async function run(change: { add?: boolean; off?: boolean; b?: Float32Array } = {}) {
    const gpu = await testGpu();
    const matmul = new Matmul(gpu);
    const w = new Parameter(gpu, 'w', outputs, inputs, true);
    const base = new Linear(matmul, w, false);
    const layer = new LoraLinear(gpu, matmul, base, 'w', { rank: each, alpha: scale * each }, parts);
    const { a, b } = layer;
    layer.enabled = !change.off;
    const all = {
      ...data,
      b: change.b ?? data.b,
      da: new Float32Array(rank * inputs),
      db: new Float32Array(outputs * rank),
    };
    const got = await runKernel(gpu, all, (rec, buffers) => {
      for (const [p, weight] of [
        [w, buffers.w],
        [a, buffers.a],
        [b, buffers.b],
      ] as const) {
        rec.copy(weight, 0, p.weight, 0, p.count * 4);
        p.refreshTransposed(rec, matmul);
      }
      for (const p of [a, b]) {
        p.prepareTraining(rec);
        rec.clear(p.gradient!);
      }
      layer.forward(rec, buffers.x, buffers.y, t, change.add);
      layer.backward(rec, buffers.x, buffers.dy, buffers.dx, t, change.add);
      rec.copy(a.gradient!, 0, buffers.da, 0, a.count * 4);
      rec.copy(b.gradient!, 0, buffers.db, 0, b.count * 4);
    });
    for (const owned of [w, a, b, layer]) owned.dispose();
    return got;
  }

  test.each([false, true])('equals the reference with the merged weight (added: %s)', async (add) => {
    const weight = merged(data.w, adapter, outputs, inputs);
    const { dx, dw } = linearBackward(data.x, weight, data.dy, t, inputs, outputs);
    const { da, db } = adapterGradients(dw, adapter, outputs, inputs);
    const got = await run({ add });
    const y = linear(data.x, weight, t, inputs, outputs);
    expectClose(
      got.y,
      y.map((v, i) => v + (add ? data.y[i] : 0)),
      2,
    );
    expectClose(
      got.dx,
      dx.map((v, i) => v + (add ? data.dx[i] : 0)),
      2,
    );
    expectClose(got.da, da, 5);
    expectClose(got.db, diagonalBlocks(db, parts, each), 5);
  });

  test('the reference gradient is the slope of the reference', () => {
    const loss = (a: Vector, b: Vector) =>
      dot(linear(data.x, merged(data.w, { ...adapter, a, b }, outputs, inputs), t, inputs, outputs), data.dy);
    const weight = merged(data.w, adapter, outputs, inputs);
    const { dw } = linearBackward(data.x, weight, data.dy, t, inputs, outputs);
    const { da, db } = adapterGradients(dw, adapter, outputs, inputs);
    expectClose(
      da,
      slopes((v) => loss(v, data.b), data.a),
      1,
      1e-7,
    );
    expectClose(
      db,
      slopes((v) => loss(data.a, v), data.b),
      1,
      1e-7,
    );
  });

  test('with B = 0 or switched off it is its base, to the bit', async () => {
    const off = await run({ off: true });
    const fresh = await run({ b: new Float32Array(outputs * rank) });
    expect(fresh.y).toEqual(off.y);
    expect(fresh.dx).toEqual(off.dx);
    expect(off.da.every((x) => x === 0)).toBe(true);
    expect(fresh.db.some((x) => x !== 0)).toBe(true);
    expectClose(off.y, linear(data.x, data.w, t, inputs, outputs), 2);
  });
});

describe('in the decoder', () => {
  test('before the first step it equals its base, to the bit, in scoring and in generation', async () => {
    const [base, adapted] = [await model(false), await model(true)];
    initialise(adapted, 5); // B = 0
    adapted.setWeights(livelyWeights(base.named(), 1));
    const texts = randomTokens(3, [30, 8, 1]);
    expect(await adapted.score(texts)).toEqual(await base.score(texts));
    const spoken = [base, adapted].map(async (m) => {
      const sessions = m.sessions(3);
      texts.forEach((text, i) => {
        sessions.append(i, text);
      });
      const options = { temperature: 2, seed: 1, stopTokens: [], maxNewTokens: 10 };
      const result = await sessions.generate([0, 1, 2], options);
      sessions.dispose();
      return result;
    });
    expect(await spoken[1]).toEqual(await spoken[0]);
  });

  test.each<[string, DecoderConfig]>([
    ['a Llama', tinyConfig],
    ['stretched rotation', { ...tinyConfig, ropeScaling }],
    ['Qwen2: biases', { ...tinyConfig, attentionBias: true }],
    ['Qwen3: head norms, its own head', { ...tinyConfig, qkNorm: true, untiedHead: true }],
    ['SmolLM3: a layer without rotation', { ...tinyConfig, noRopeLayers: [1] }],
  ])('the gradient of every adapter equals the reference with merged weights: %s', async (_, config) => {
    const gpu = await testGpu();
    const m = await tinyModel({ lora }, config);
    open.push(m);
    const weights = livelyWeights(m.named(), 1);
    const adapters = new Map(
      m.decoder.parameters
        .filter((p) => weights.has(`${p.name}.lora_A`))
        .map((p) => [p.name, { p, a: weights.get(`${p.name}.lora_A`)!, b: weights.get(`${p.name}.lora_B`)! }]),
    );
    expect(adapters.size).toBe(4 * tinyConfig.layers);
    const options = (name: string) => ({
      rank: lora.rank * m.decoder.weights.adapted.get(name)!.parts.length,
      scale: lora.alpha / lora.rank,
    });
    const blocks = (name: string, b: Vector) =>
      diagonalBlocks(b, m.decoder.weights.adapted.get(name)!.parts, lora.rank);
    const whole = new Map<string, Vector>(weights);
    for (const [name, adapter] of adapters) {
      const { p, a } = adapter;
      adapter.b = blocks(name, adapter.b);
      whole.set(name, merged(weights.get(name)!, { a, b: adapter.b, ...options(name) }, p.rows, p.columns));
      m.setWeights(new Map([[`${name}.lora_B`, adapter.b]]));
    }
    const data = trainingData(4);
    const reference = new ReferenceDecoder(
      config,
      whole,
      data.map((s) => s.tokens),
    );
    const slope = data.flatMap((s) => Array.from(s.weights).slice(1)).map((w) => -w);
    const want = reference.backward(
      slope,
      slope.map(() => 0),
    );
    const scores = await m.score(data.map((s) => s.tokens));
    expectClose(
      scores.flatMap((logProbs) => [...logProbs].slice(1)),
      reference.head.logProbs,
      5,
    );
    await m.accumulateGradients(data, sft);
    for (const [name, { p, a, b }] of adapters) {
      const { da, db } = adapterGradients(want.get(name)!, { a, b, ...options(name) }, p.rows, p.columns);
      for (const [part, gradient] of [
        [`${name}.lora_A`, da],
        [`${name}.lora_B`, blocks(name, db)],
      ] as const) {
        const adapter = m.decoder.adapters.find((q) => q.name === part)!;
        const got = await gpu.readF32(adapter.gradient!, adapter.count);
        expectClose(got, gradient, Math.max(...gradient.map(Math.abs)), 2e-5);
      }
    }
  });

  test('training changes the adapters only, and lowers the loss', async () => {
    const m = await model(true);
    for (const { b, parts } of m.decoder.weights.adapted.values()) {
      const { weights } = await m.exportState(false);
      m.setWeights(new Map([[b.name, diagonalBlocks(weights.get(b.name)!, parts, lora.rank)]]));
    }
    const before = await m.exportState(false);
    const data = trainingData(7);
    const first = await m.trainStep(data, sft, settings);
    let last = first;
    for (let step = 0; step < 40; step++) last = await m.trainStep(data, sft, settings);
    expect(last.loss).toBeLessThan(0.8 * first.loss);
    const after = await m.exportState(true);
    for (const p of m.decoder.parameters) expect(after.weights.get(p.name)).toEqual(before.weights.get(p.name));
    for (const p of m.decoder.adapters) expect(after.weights.get(p.name)).not.toEqual(before.weights.get(p.name));
    expect([...after.moments1!.keys()].sort()).toEqual(m.decoder.adapters.map((p) => p.name).sort());
    for (const p of m.decoder.parameters) expect(p.gradient).toBeNull();
    for (const { b, parts } of m.decoder.weights.adapted.values()) {
      const values = after.weights.get(b.name)!;
      expect(values).toEqual(diagonalBlocks(values, parts, lora.rank)); // the blocks stay apart
    }
  });

  test('what it generates it also scores, and it continues from its state to the bit', async () => {
    const m = await model(true);
    for (let step = 0; step < 2; step++) await m.trainStep(trainingData(10 + step), sft, settings);
    const sessions = m.sessions(1);
    sessions.append(0, [1, 2, 3]);
    const options = { temperature: 2, seed: 1, stopTokens: [], maxNewTokens: 20 };
    const [{ tokens, logProbs }] = await sessions.generate([0], options);
    sessions.dispose();
    const [scores] = await m.score([[1, 2, 3, ...tokens]]);
    expectClose(logProbs, scores.slice(3), 1, 1e-5);

    const resumed = await model(true);
    await resumed.importState(await m.exportState(true));
    const data = trainingData(20);
    expect(await resumed.trainStep(data, sft, settings)).toEqual(await m.trainStep(data, sft, settings));
    expect(await resumed.exportState(true)).toEqual(await m.exportState(true));
  });

  test.each([0, 2, -4, 6.5])('a rank of %d is refused in words', async (rank) => {
    const gpu = await testGpu();
    expect(() => new Decoder(gpu, tinyConfig, { lora: { rank, alpha: 8 } })).toThrow(
      expect.objectContaining({ code: 'bad-model-config' }),
    );
  });
});
