/**
 * @file One forward and backward pass over a pack of sequences: the trunk on all tokens, head, loss and critic on those that
 * bear loss only.
 */
import type { GpuBuffer } from '../gpu/buffers';
import type { Gpu } from '../gpu/device';
import { type Decoder, trainingActivations } from './decoder';
import type { Loss, TrainSequence } from './language-model';
import { headOutputs } from './lm-head';
import { hold, lossTokens, type Pack, uploadPack } from './packing';
import type { TokenLoss } from './token-loss';
import type { ValueHead } from './value-head';

export class TrainingPass {
  constructor(
    private readonly gpu: Gpu,
    private readonly decoder: Decoder,
    private readonly tokenLoss: TokenLoss,
    /** f32 [8], see token-loss.ts. */
    private readonly stats: GpuBuffer,
  ) {}

  /**
   * Forward and backward of one pack; gradients and statistics are added to on the GPU.
   * @param head the critic; it learns where the loss has one.
   * @returns tokens computed; 0 where none bears loss.
   */
  async run(pack: Pack, sequences: readonly TrainSequence[], loss: Loss, head: ValueHead | null): Promise<number> {
    const { gpu, decoder, tokenLoss } = this;
    const { width, vocabSize } = decoder.config;
    const loaded = lossTokens(pack, sequences);
    const { n, rows, targets, weights, old, reference, advantages, samples } = loaded;
    if (n === 0) return 0;
    const held: GpuBuffer[] = [];
    const up = (data: number[], label: string): GpuBuffer => hold(held, gpu.upload(Float32Array.from(data), label));
    const batch = uploadPack(gpu, pack, vocabSize, held);
    const rowBuffer = hold(held, gpu.upload(Uint32Array.from(rows), 'loss rows'));
    const targetBuffer = hold(held, gpu.upload(Uint32Array.from(targets), 'targets'));
    const out = headOutputs(gpu, n, held);
    const lossBuffers = {
      n,
      ...out,
      weights: up(weights, 'weights'),
      gradLogProb: hold(held, gpu.alloc(n * 4, 'd logprob')),
      gradEntropy: hold(held, gpu.alloc(n * 4, 'd entropy')),
      stats: this.stats,
      accumulate: true,
    };
    const policy =
      loss.kind === 'policy'
        ? {
            oldLogProbs: up(old, 'old logprob'),
            refLogProbs: loss.klCoef > 0 ? up(reference, 'reference logprob') : undefined,
            advantages: up(advantages, 'advantages'),
            perSample:
              loss.importance === 'sequence'
                ? {
                    samples: samples.length - 1,
                    starts: hold(held, gpu.upload(Uint32Array.from(samples), 'sample starts')),
                    logRatio: hold(held, gpu.alloc(n * 4, 'sample log ratio')),
                  }
                : undefined,
          }
        : null;
    const hidden = hold(held, gpu.alloc(n * width * 4, 'loss hidden'));
    const dHidden = hold(held, gpu.alloc(n * width * 4, 'd loss hidden'));
    const dFinal = hold(held, gpu.alloc(batch.t * width * 4, 'd final'));
    const acts = trainingActivations(gpu, decoder.config, batch.t);
    const rec = gpu.record('train');
    decoder.forward(rec, batch, acts);
    decoder.embedding.gather(rec, acts.final, rowBuffer, hidden, n, width);
    const logits = decoder.head.forward(rec, hidden, targetBuffer, out, n);
    if (loss.kind === 'policy' && policy) tokenLoss.record(rec, { ...lossBuffers, ...policy }, loss);
    else tokenLoss.recordSft(rec, lossBuffers);
    decoder.head.backward(
      rec,
      hidden,
      targetBuffer,
      out,
      lossBuffers.gradLogProb,
      lossBuffers.gradEntropy,
      dHidden,
      n,
      logits,
    );
    if (loss.kind === 'policy' && loss.critic && head) {
      const values = hold(held, gpu.alloc(n * 4, 'values'));
      const gradValues = hold(held, gpu.alloc(n * 4, 'd values'));
      head.forward(rec, hidden, values, n);
      tokenLoss.recordValue(
        rec,
        {
          n,
          values,
          oldValues: up(loaded.oldValues, 'old values'),
          returns: up(loaded.returns, 'returns'),
          weights: up(loaded.valueWeights, 'value weights'),
          gradValues,
          stats: head.stats,
          accumulate: true,
        },
        loss.critic,
      );
      head.backward(rec, hidden, gradValues, dHidden, n, loss.critic.trunkCoef);
    }
    rec.clear(dFinal, 0, batch.t * width * 4);
    decoder.embedding.scatter(rec, dHidden, rowBuffer, dFinal, n, width);
    decoder.backward(rec, batch, acts, dFinal);
    rec.submit();
    acts.release();
    for (const buffer of held) buffer.release();
    await gpu.throttle();
    return batch.t;
  }
}
