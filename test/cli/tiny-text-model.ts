/** @file The shape of a model of byte-level words, small enough to train in a test; prompts are as long as their letters. */
import type { DecoderConfig } from '../../src/nn/config';

export const tinyTextModel: DecoderConfig = {
  vocabSize: 272,
  width: 32,
  layers: 1,
  heads: 2,
  kvHeads: 1,
  headDim: 16,
  ffn: 32,
  ropeTheta: 10_000,
  normEps: 1e-5,
  contextLength: 4096,
};
