/** @file Small models with lively weights: large enough for every path, small enough for finite differences. */
import type { DecoderConfig } from '../../src/nn/config';
import { DecoderModel, type DecoderModelOptions } from '../../src/nn/decoder-model';
import type { Parameter } from '../../src/nn/parameter';
import { PolicyLoss } from '../../src/rl/kernels/policy-loss';
import { testGpu } from '../gpu';
import { normals, randomSource } from '../numbers';
import './patience';

export const tinyConfig: DecoderConfig = {
  vocabSize: 24,
  width: 16,
  layers: 2,
  heads: 4,
  kvHeads: 2,
  headDim: 8,
  ffn: 28,
  ropeTheta: 10_000,
  normEps: 1e-5,
  contextLength: 64,
};

/** Weights far from their usual start, so that no gradient is small by symmetry: norms around 1, matrices in between. */
export function livelyWeights(parameters: readonly Parameter[], seed: number): Map<string, Float32Array> {
  return new Map(
    parameters.map((p, index) => {
      const isNorm = /norm\d?$/.test(p.name);
      const values = normals(seed * 1000 + index, p.count, isNorm ? 0.2 : p.name === 'embed' ? 1 : p.columns ** -0.5);
      return [p.name, isNorm ? values.map((x) => 1 + x) : values];
    }),
  );
}

/** A prepared model with lively weights. Dispose it. */
export async function tinyModel(
  options: DecoderModelOptions = {},
  config: DecoderConfig = tinyConfig,
  seed = 1,
): Promise<DecoderModel> {
  const gpu = await testGpu();
  const model = await new DecoderModel(gpu, config, new PolicyLoss(gpu), options).prepare();
  model.setWeights(livelyWeights(model.named(), seed));
  return model;
}

/** Random token sequences of the given lengths. */
export function randomTokens(seed: number, lengths: readonly number[], vocab = tinyConfig.vocabSize): number[][] {
  const uniform = randomSource(seed);
  return lengths.map((length) => Array.from({ length }, () => Math.floor(uniform() * vocab)));
}
