/** @file Causal grouped-query attention over ragged sequences in double precision, with the whole score matrix. */
import type { Vector } from './matmul';

export interface AttentionShape {
  heads: number;
  kvHeads: number;
  headDim: number;
  /** Tokens of each sequence; their rows follow each other. */
  lengths: readonly number[];
}

interface Weights {
  /** Rows of the queries, keys and values of one pair in qkv: offsets of their first numbers. */
  q: number;
  k: number;
  v: number;
  /** First number of the output, and the row of lse. */
  o: number;
  l: number;
  p: number;
}

/** Every (query token, head, key token) with its probability; lse[t, heads] beside. */
function probabilities(qkv: Vector, shape: AttentionShape): { pairs: Weights[][]; lse: Float64Array } {
  const { heads, kvHeads, headDim, lengths } = shape;
  const width = (heads + 2 * kvHeads) * headDim;
  const t = lengths.reduce((a, b) => a + b, 0);
  const lse = new Float64Array(t * heads);
  const pairs: Weights[][] = [];
  let base = 0;
  for (const length of lengths) {
    for (let token = base; token < base + length; token++) {
      for (let head = 0; head < heads; head++) {
        const shared = Math.floor((head * kvHeads) / heads);
        const q = token * width + head * headDim;
        const scores: number[] = [];
        for (let key = base; key <= token; key++) {
          let dot = 0;
          for (let i = 0; i < headDim; i++) dot += qkv[q + i] * qkv[key * width + (heads + shared) * headDim + i];
          scores.push(dot / Math.sqrt(headDim));
        }
        const top = Math.max(...scores);
        const l = token * heads + head;
        lse[l] = top + Math.log(scores.reduce((sum, s) => sum + Math.exp(s - top), 0));
        pairs.push(
          scores.map((s, j) => ({
            q,
            k: (base + j) * width + (heads + shared) * headDim,
            v: (base + j) * width + (heads + kvHeads + shared) * headDim,
            o: l * headDim,
            l,
            p: Math.exp(s - lse[l]),
          })),
        );
      }
    }
    base += length;
  }
  return { pairs, lse };
}

/** o[t, heads * headDim] and lse[t, heads] of qkv[t, (heads + 2 kvHeads) * headDim]. */
export function attention(qkv: Vector, shape: AttentionShape): { o: Float64Array; lse: Float64Array } {
  const { pairs, lse } = probabilities(qkv, shape);
  const o = new Float64Array(lse.length * shape.headDim);
  for (const { v, o: out, p } of pairs.flat()) {
    for (let i = 0; i < shape.headDim; i++) o[out + i] += p * qkv[v + i];
  }
  return { o, lse };
}

/** dqkv from dO, by the chain rule through the softmax of every row: ds = p (dp - sum p dp). */
export function attentionBackward(qkv: Vector, dO: Vector, shape: AttentionShape): Float64Array {
  const { headDim } = shape;
  const dqkv = new Float64Array(qkv.length);
  for (const row of probabilities(qkv, shape).pairs) {
    const dp = row.map(({ v, o }) => {
      let dot = 0;
      for (let i = 0; i < headDim; i++) dot += dO[o + i] * qkv[v + i];
      return dot;
    });
    const mean = row.reduce((sum, { p }, j) => sum + p * dp[j], 0);
    row.forEach(({ q, k, v, o, p }, j) => {
      const ds = (p * (dp[j] - mean)) / Math.sqrt(headDim);
      for (let i = 0; i < headDim; i++) {
        dqkv[q + i] += ds * qkv[k + i];
        dqkv[k + i] += ds * qkv[q + i];
        dqkv[v + i] += p * dO[o + i];
      }
    });
  }
  return dqkv;
}
