/**
 * @file Published models' exact shapes with random weights: to measure speed and memory where nothing can be downloaded.
 */
import { DreamError } from '../data/errors';
import type { DecoderConfig } from '../nn/config';
import { expectedTensors } from './families';
import { floatToHalf } from './half';
import { quantiseRows } from './quantise';
import { BLOCK, type Rows, type ScaleForm, type TensorInfo, type WeightForm, type WeightSource } from './weights';

const base = { normEps: 1e-5, contextLength: 131_072 };

/** As in the models' own config.json. */
export const SHAPES: Readonly<Record<string, DecoderConfig>> = {
  'smollm2-135m': {
    ...base,
    vocabSize: 49_152,
    width: 576,
    layers: 30,
    heads: 9,
    kvHeads: 3,
    headDim: 64,
    ffn: 1536,
    ropeTheta: 100_000,
    contextLength: 8192,
  },
  'qwen2.5-0.5b': {
    ...base,
    vocabSize: 151_936,
    width: 896,
    layers: 24,
    heads: 14,
    kvHeads: 2,
    headDim: 64,
    ffn: 4864,
    ropeTheta: 1e6,
    normEps: 1e-6,
    contextLength: 32_768,
    attentionBias: true,
  },
  'llama-3.2-1b': {
    ...base,
    vocabSize: 128_256,
    width: 2048,
    layers: 16,
    heads: 32,
    kvHeads: 8,
    headDim: 64,
    ffn: 8192,
    ropeTheta: 500_000,
    ropeScaling: { factor: 32, lowFreqFactor: 1, highFreqFactor: 4, originalContextLength: 8192 },
  },
  'llama-3.2-3b': {
    ...base,
    vocabSize: 128_256,
    width: 3072,
    layers: 28,
    heads: 24,
    kvHeads: 8,
    headDim: 128,
    ffn: 8192,
    ropeTheta: 500_000,
    ropeScaling: { factor: 32, lowFreqFactor: 1, highFreqFactor: 4, originalContextLength: 8192 },
  },
  'qwen2.5-3b': {
    ...base,
    vocabSize: 151_936,
    width: 2048,
    layers: 36,
    heads: 16,
    kvHeads: 2,
    headDim: 128,
    ffn: 11_008,
    ropeTheta: 1e6,
    normEps: 1e-6,
    contextLength: 32_768,
    attentionBias: true,
  },
};

/** Weights in 4 bits, norms in f32. Throws `unknown-shape`. */
export function randomSource(shape: string, seed = 1): WeightSource {
  const config = SHAPES[shape];
  if (!config) {
    throw new DreamError(
      'unknown-shape',
      `There is no shape "${shape}".`,
      `Choose one of ${Object.keys(SHAPES).join(', ')}.`,
    );
  }
  const tensors = new Map(
    expectedTensors(config).map(({ name, rows, columns }): [string, TensorInfo] => {
      const form: WeightForm = rows > 1 && columns % BLOCK === 0 ? 'q4' : 'f32';
      const bytes = form === 'q4' ? (rows * columns * 5) / 8 : rows * columns * 4;
      return [name, { name, rows, columns, stored: `random ${form}`, bytes, form, scales: 'half' }];
    }),
  );
  let state = seed >>> 0;
  const next = (): number => {
    // xorshift32: two gigabytes of codes must not take a minute.
    state = state === 0 ? 0x9e3779b9 : state;
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
  return {
    label: shape,
    architecture: 'random',
    config,
    tensors,
    tokenizer: async () => null,
    async read(name: string, _first: number, count: number, form: WeightForm, scales: ScaleForm): Promise<Rows> {
      const { rows, columns } = tensors.get(name)!;
      if (form === 'q4' && scales === 'half') return randomBlocks((count * columns) / BLOCK, columns, next);
      const isNorm = rows === 1 && !name.endsWith('bias');
      const values = Float32Array.from({ length: count * columns }, () =>
        isNorm ? 1 : (next() / 2 ** 31 - 1) / Math.sqrt(columns),
      );
      return form === 'f32' ? { form, values } : quantiseRows(values, columns, form, scales);
    },
    close: () => {},
  };
}

/** Codes of any kind with one scale: values evenly spread in +-1 / sqrt(columns), as large as trained weights are. */
function randomBlocks(blocks: number, columns: number, next: () => number): Rows {
  const reach = 1 / Math.sqrt(columns);
  const codes = new Uint32Array(blocks * 4);
  for (let i = 0; i < codes.length; i++) codes[i] = next();
  const word = ((floatToHalf(-reach) << 16) | floatToHalf((2 * reach) / 15)) >>> 0;
  return { form: 'q4', codes, scales: new Uint32Array(blocks).fill(word) };
}
