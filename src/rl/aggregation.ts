/**
 * @file How token losses become one number: weights per token, so that the kernels only ever sum.
 *
 * token-mean is DAPO's, sequence-mean the original GRPO's, sequence-sum-norm Dr. GRPO's (dreamgym.md, 5.1 and 5.2).
 * The sample unit says what a "sequence" is. With `step` every turn is a sample of its own; because transcripts are
 * linear and attention is causal, a turn scores the same inside its episode as alone behind its prefix, so no prefix is
 * ever copied: steps are only weighted differently.
 */
import type { TokenStream } from './rollout';

export type Aggregation = 'token-mean' | 'sequence-mean' | 'sequence-sum-norm';
export type SampleUnit = 'episode' | 'step';

/** Sampled tokens of each sample of one stream: one entry per episode, or one per turn that has tokens. */
function sampleLengths(stream: TokenStream, unit: SampleUnit): Map<number, number> {
  const lengths = new Map<number, number>();
  stream.turns.forEach((turn, t) => {
    // Index 0 is never predicted, so it can bear no loss.
    if (turn < 0 || t === 0) return;
    const sample = unit === 'step' ? turn : 0;
    lengths.set(sample, (lengths.get(sample) ?? 0) + 1);
  });
  return lengths;
}

/**
 * Loss weight per token of each stream of a mini-batch: [stream][token].
 * `horizon` is the fixed divisor of sequence-sum-norm: the most tokens one sample may hold, whatever it did hold.
 */
export function lossWeights(
  streams: readonly TokenStream[],
  aggregation: Aggregation,
  unit: SampleUnit,
  horizon: number,
): Float32Array[] {
  const lengths = streams.map((stream) => sampleLengths(stream, unit));
  const samples = lengths.reduce((sum, l) => sum + l.size, 0);
  const tokens = lengths.reduce((sum, l) => sum + [...l.values()].reduce((a, b) => a + b, 0), 0);

  return streams.map((stream, i) => {
    const weights = new Float32Array(stream.tokens.length);
    for (let t = 1; t < weights.length; t++) {
      const turn = stream.turns[t];
      if (turn < 0) continue;
      if (aggregation === 'token-mean') weights[t] = 1 / tokens;
      else if (aggregation === 'sequence-sum-norm') weights[t] = 1 / (samples * horizon);
      else weights[t] = 1 / (samples * lengths[i].get(unit === 'step' ? turn : 0)!);
    }
    return weights;
  });
}
