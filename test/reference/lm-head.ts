/** @file The tied head in double precision with the whole [n, vocab] matrix: log-probability, entropy, gradients. */
import { linear, linearBackward, type Vector } from './matmul';

export interface HeadResult {
  /** [n] */
  logProbs: Float64Array;
  /** [n] */
  entropy: Float64Array;
  /** [n] */
  lse: Float64Array;
  /** [n, vocab] log-probabilities of all tokens. */
  all: Float64Array;
}

/** hidden[n, width], table[vocab, width], targets[n]. */
export function lmHead(hidden: Vector, table: Vector, targets: Vector, width: number): HeadResult {
  const n = targets.length;
  const vocab = table.length / width;
  const all = linear(hidden, table, n, width, vocab);
  const result = { logProbs: new Float64Array(n), entropy: new Float64Array(n), lse: new Float64Array(n), all };
  for (let row = 0; row < n; row++) {
    const logits = all.subarray(row * vocab, (row + 1) * vocab);
    const top = Math.max(...logits);
    const lse = top + Math.log(logits.reduce((sum, z) => sum + Math.exp(z - top), 0));
    result.lse[row] = lse;
    for (let i = 0; i < vocab; i++) logits[i] -= lse;
    result.logProbs[row] = logits[targets[row]];
    result.entropy[row] = -logits.reduce((sum, logP) => sum + Math.exp(logP) * logP, 0);
  }
  return result;
}

/** Gradients of sum(gradLogProb logProbs + gradEntropy entropy). */
export function lmHeadBackward(
  hidden: Vector,
  table: Vector,
  targets: Vector,
  width: number,
  gradLogProb: Vector,
  gradEntropy: Vector,
): { dHidden: Float64Array; dTable: Float64Array } {
  const n = targets.length;
  const vocab = table.length / width;
  const { all, entropy } = lmHead(hidden, table, targets, width);
  const dLogits = all.map((logP, at) => {
    const row = Math.floor(at / vocab);
    const hit = targets[row] === at % vocab ? 1 : 0;
    const p = Math.exp(logP);
    // d logprob / dz = 1[target] - p; dH / dz = -p (log p + H).
    return gradLogProb[row] * (hit - p) - gradEntropy[row] * p * (logP + entropy[row]);
  });
  const { dx, dw } = linearBackward(hidden, table, dLogits, n, width, vocab);
  return { dHidden: dx, dTable: dw };
}
