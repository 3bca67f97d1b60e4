/** @file Small adapters for tests: a model with grouped heads, every size different from every other. */
import {
  type LoraAdapter,
  moduleName,
  PROJECTIONS,
  type ProjectionName,
  projectionShape,
} from '../../../src/models/adapters/adapter';
import type { DecoderConfig } from '../../../src/nn/config';
import { normals } from '../../numbers';

export const config: DecoderConfig = {
  vocabSize: 32,
  width: 24,
  layers: 2,
  heads: 4,
  kvHeads: 2,
  headDim: 8,
  ffn: 40,
  ropeTheta: 10000,
  normEps: 1e-5,
  contextLength: 64,
};

export interface Made {
  rank?: number;
  alpha?: number;
  projections?: readonly ProjectionName[];
  layers?: readonly number[];
}

export function madeAdapter({
  rank = 4,
  alpha = 8,
  projections = PROJECTIONS,
  layers = [0, 1],
}: Made = {}): LoraAdapter {
  const adapter: LoraAdapter = { rank, alpha, modules: new Map(), baseModel: 'someone/some-model', baseHash: 'abc123' };
  for (const layer of layers) {
    for (const projection of projections) {
      const { outputs, inputs } = projectionShape(config, projection);
      const seed = adapter.modules.size * 2 + 1;
      adapter.modules.set(moduleName(layer, projection), {
        a: normals(seed, rank * inputs),
        b: normals(seed + 1, outputs * rank),
      });
    }
  }
  return adapter;
}

/** W's change, [outputs, inputs]: what an adapter means. */
export function product(adapter: LoraAdapter, name: string): number[] {
  const { rank, alpha, modules } = adapter;
  const { a, b } = modules.get(name)!;
  const inputs = a.length / rank;
  const result = new Array<number>((b.length / rank) * inputs).fill(0);
  for (let o = 0; o < b.length / rank; o++)
    for (let r = 0; r < rank; r++)
      for (let i = 0; i < inputs; i++) result[o * inputs + i] += (alpha / rank) * b[o * rank + r] * a[r * inputs + i];
  return result;
}
