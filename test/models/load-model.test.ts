import { afterEach, describe, expect, test } from 'vitest';
import type { DreamError } from '../../src/data/errors';
import { openGguf } from '../../src/models/gguf';
import { engineLayout } from '../../src/models/llama-names';
import { type LoadOptions, loadModel, planLoad } from '../../src/models/load-model';
import { planMemory } from '../../src/models/memory-plan';
import { randomSource, SHAPES } from '../../src/models/random-source';
import type { WeightSource } from '../../src/models/weights';
import type { DecoderModel } from '../../src/nn/decoder-model';
import { initialise } from '../../src/nn/initialise';
import { ownGpu, testGpu } from '../gpu';
import { expectClose } from '../numbers';
import '../nn/patience';
import { randomTokens } from '../nn/tiny-models';
import { MemorySource, modelParts, tiny, writeGguf } from './gguf/writer';

const open: DecoderModel[] = [];
afterEach(() => {
  for (const model of open.splice(0)) model.dispose();
});

async function load(source: WeightSource, options: LoadOptions = {}): Promise<DecoderModel> {
  const model = await loadModel(await testGpu(), source, { contextLength: 64, ...options });
  open.push(model);
  return model;
}

const gguf = () => openGguf(new MemorySource(writeGguf(modelParts({ layers: 2 }))));
const texts = randomTokens(1, [12, 30, 3], tiny.vocab);

describe('a model file on the GPU', () => {
  test('quantised weights score as the same weights in f32', async () => {
    const source = await gguf();
    expect(planLoad(source).forms.size).toBeGreaterThan(0);
    const quantised = await load(source);
    // Every tensor as f32, whatever the file holds.
    const dequantised: WeightSource = {
      ...source,
      tensors: new Map([...source.tensors].map(([name, info]) => [name, { ...info, form: 'f32' as const }])),
      read: (name, first, count, form, scales) => source.read(name, first, count, form, scales),
      tokenizer: () => source.tokenizer(),
      close: () => {},
    };
    const plain = await load(dequantised, { floats: 'f32' });
    expect(plain.decoder.weights.matrices.size).toBe(0);
    const [a, b] = [await quantised.score(texts), await plain.score(texts)];
    a.forEach((scores, i) => {
      expectClose(scores, b[i], 5, 2e-5);
    });
    const inEight = await load(source, {});
    expect(await inEight.score(texts)).toEqual(a);
  });

  test('floats may be quantised while loading', async () => {
    const source = await gguf();
    const floats: WeightSource = {
      ...source,
      tensors: new Map([...source.tensors].map(([name, info]) => [name, { ...info, form: 'f32' as const }])),
      read: (...asked) => source.read(...asked),
      tokenizer: () => source.tokenizer(),
      close: () => {},
    };
    expect([...planLoad(floats, { floats: 'q8' }).forms.values()].every(({ form }) => form === 'q8')).toBe(true);
    const rounded = await load(floats, { floats: 'q8' });
    const exact = await load(floats, { floats: 'f32' });
    const [a, b] = [await rounded.score(texts), await exact.score(texts)];
    a.forEach((scores, i) => {
      expectClose(scores, b[i], 5, 0.05);
    });
  });

  test('progress reaches the whole; a LoRA trains over it and starts as the base', async () => {
    const source = await gguf();
    let last = 0;
    const model = await load(source, {
      lora: { rank: 4, alpha: 8 },
      onProgress: ({ bytes, total }) => {
        expect(bytes).toBeGreaterThanOrEqual(last);
        last = bytes / total;
      },
    });
    expect(last).toBeCloseTo(1, 6);
    initialise(model, 3, 'adapters');
    const base = await load(source);
    expect(await model.score(texts)).toEqual(await base.score(texts));
    const sequences = texts.map((tokens) => ({ tokens, weights: tokens.map(() => 0.02) }));
    const optimizer = { learningRate: 1e-2, beta1: 0.9, beta2: 0.95, eps: 1e-8, weightDecay: 0, maxGradNorm: 1 };
    const first = await model.trainStep(sequences, { kind: 'sft' }, optimizer);
    let loss = first.loss;
    for (let step = 0; step < 15; step++) ({ loss } = await model.trainStep(sequences, { kind: 'sft' }, optimizer));
    expect(loss).toBeLessThan(0.9 * first.loss);
    await expect(base.trainStep(sequences, { kind: 'sft' }, optimizer)).rejects.toMatchObject({
      code: 'nothing-to-train',
    });
  });
});

describe('what goes wrong leaves nothing on the GPU', () => {
  async function failing(change: (source: WeightSource) => Partial<WeightSource>, options: LoadOptions = {}) {
    const gpu = await testGpu();
    const before = gpu.memory.bytesInUse;
    const source = await gguf();
    const broken = { ...source, tokenizer: () => source.tokenizer(), close: () => {}, ...change(source) };
    const error = await loadModel(gpu, broken as WeightSource, { contextLength: 64, ...options }).then(
      () => null,
      (thrown: DreamError) => thrown,
    );
    expect(gpu.memory.bytesInUse).toBe(before);
    return error;
  }
  const without = (name: string) => (source: WeightSource) => ({
    tensors: new Map([...source.tensors].filter(([found]) => found !== name)),
    read: source.read.bind(source),
  });

  test('a missing tensor, a wrong shape', async () => {
    const name = 'model.layers.1.mlp.down_proj.weight';
    const missing = await failing(without(name));
    expect(missing).toMatchObject({ code: 'missing-tensor' });
    expect(missing?.message).toContain(name);
    const wrong = await failing((source) => ({
      tensors: new Map(
        [...source.tensors].map(([found, info]) => [found, found === name ? { ...info, rows: info.rows + 4 } : info]),
      ),
      read: source.read.bind(source),
    }));
    expect(wrong).toMatchObject({ code: 'wrong-shape' });
    expect(wrong?.message).toContain(name);
  });

  test('a file that goes away in the middle, and a person who changes their mind', async () => {
    let reads = 0;
    const gone = await failing((source) => ({
      read: (...asked) => (reads++ > 6 ? Promise.reject(new Error('gone')) : source.read(...asked)),
    }));
    expect(gone?.message).toBe('gone');
    const stop = new AbortController();
    const aborted = await failing((source) => ({ read: source.read.bind(source) }), {
      signal: stop.signal,
      onProgress: () => stop.abort(),
    });
    expect(aborted?.name).toBe('AbortError');
  });
});

describe('the memory plan', () => {
  test.each(['f32', 'f16'] as const)('agrees with the count within a tenth, cache in %s', async (precision) => {
    const gpu = await ownGpu();
    try {
      const source = randomSource('smollm2-135m');
      const small = { ...source, config: { ...SHAPES['smollm2-135m'], layers: 3, vocabSize: 4096 } };
      const wanted = new Set(engineLayout(small.config).flatMap(({ pieces }) => pieces.map(({ hf }) => hf)));
      const tensors = new Map(
        [...source.tensors]
          .filter(([name]) => wanted.has(name))
          .map(([name, info]) => [name, name.includes('embed') ? { ...info, rows: 4096 } : info]),
      );
      const options = { contextLength: 96, lora: { rank: 8, alpha: 16 }, tokensPerPass: 256, precision };
      const shape: WeightSource = { ...small, tensors };
      const { config, forms } = planLoad(shape, options);
      const settings = { rank: 8, contextLength: 96, streams: 4, passTokens: 256, promptTokens: 128, precision };
      const { maxBufferSize, maxStorageBufferBindingSize } = gpu.limits;
      const plan = planMemory(config, forms, settings, { maxBufferSize, maxStorageBufferBindingSize });
      gpu.memory.trim();
      const before = gpu.memory.bytesAllocated;
      gpu.memory.bytesPeak = before;
      const model = await loadModel(gpu, shape, options);
      initialise(model, 1, 'adapters');
      const sessions = model.sessions(4);
      for (let i = 0; i < 4; i++) sessions.append(i, randomTokens(i, [32], 4096)[0]);
      await sessions.generate([0, 1, 2, 3], { temperature: 1, seed: 1, stopTokens: [], maxNewTokens: 32 });
      sessions.dispose();
      gpu.memory.trim();
      const sequences = randomTokens(9, [64, 64, 64, 64], 4096).map((tokens) => ({
        tokens,
        weights: tokens.map(() => 1 / 256),
      }));
      const optimizer = { learningRate: 1e-4, beta1: 0.9, beta2: 0.95, eps: 1e-8, weightDecay: 0, maxGradNorm: 1 };
      await model.trainStep(sequences, { kind: 'sft' }, optimizer);
      const counted = gpu.memory.bytesPeak - before;
      expect(Math.abs(counted / plan.plannedGpuBytes - 1), `${counted} of ${plan.plannedGpuBytes}`).toBeLessThan(0.1);
      model.dispose();
    } finally {
      gpu.destroy();
    }
  });
});
