/** @file Our engine's step: the LanguageModel's own trainStep, all weights trained. */
import { openGpu } from '../../../src/gpu/device';
import { fromLlama } from '../../../src/models/llama-names';
import { DecoderModel } from '../../../src/nn/decoder-model';
import { PolicyLoss } from '../../../src/rl/kernels/policy-loss';
import { type Contestant, firstWeights, normEps, optimizer, ropeTheta, type Shape, tokenRows } from './problem.mjs';

export async function prepare(shape: Shape): Promise<Contestant> {
  const gpu = await openGpu(navigator.gpu);
  const { layers, width, heads, headDim, ffn, vocab, length } = shape;
  const model = new DecoderModel(
    gpu,
    {
      ...{ layers, width, heads, kvHeads: heads, headDim, ffn, vocabSize: vocab },
      ...{ ropeTheta, normEps, contextLength: length + 1 },
    },
    new PolicyLoss(gpu),
  );
  await model.prepare();
  model.setWeights(fromLlama(model.config, firstWeights(shape)));
  const rows = tokenRows(shape);
  const sequences = rows.map((tokens) => ({ tokens, weights: tokens.map(() => 1 / (rows.length * length)) }));
  return {
    async step() {
      const { loss, applied } = await model.trainStep(sequences, { kind: 'sft' }, { ...optimizer, maxGradNorm: 0 });
      if (!applied) throw new Error('The step was skipped: loss or gradient is not finite.');
      await gpu.finish();
      return loss;
    },
  };
}
