/** @file The sampler in double precision: support by sorting, the same random numbers, the draw. */

export interface SamplerSettings {
  temperature: number;
  /** 0 = off. */
  topK: number;
  /** 1 = off. */
  topP: number;
  /** 0 or absent = off. */
  minP?: number;
  /** Absent = all. */
  allowed?: readonly number[];
}

/** PCG hash (Jarzynski & Olano 2020). */
function pcg(x: number): number {
  const state = (Math.imul(x, 747796405) + 2891336453) >>> 0;
  const word = Math.imul((state >>> ((state >>> 28) + 4)) ^ state, 277803737) >>> 0;
  return ((word >>> 22) ^ word) >>> 0;
}

/** Uniform in [0, 1) with 24 bits. */
export function uniform01(seed: number, stream: number, position: number): number {
  return (pcg(pcg(pcg(seed) ^ stream) ^ position) >>> 8) / 2 ** 24;
}

/** Kept ids, ascending: the k largest logits (ties of the smallest stay), of these the fewest that hold topP of the mass. */
export function support(
  logits: ArrayLike<number>,
  { temperature, topK, topP, minP = 0, allowed }: SamplerSettings,
): number[] {
  const ranked = Array.from(logits, (_, i) => i)
    .filter((i) => allowed?.includes(i) ?? true)
    .sort((i, j) => logits[j] - logits[i] || i - j);
  const last = topK > 0 && topK < ranked.length ? logits[ranked[topK - 1]] : -Infinity;
  const likely = (i: number) => Math.exp((logits[i] - logits[ranked[0]]) / temperature) >= minP;
  const kept = ranked.filter((i) => logits[i] >= last && likely(i));
  if (topP >= 1) return kept.sort((i, j) => i - j);
  const weights = kept.map((i) => Math.exp((logits[i] - logits[ranked[0]]) / temperature));
  const wanted = topP * weights.reduce((a, b) => a + b, 0);
  let mass = 0;
  let count = 0;
  while (count < kept.length && mass < wanted) mass += weights[count++];
  const smallest = logits[kept[Math.max(1, count) - 1]];
  return kept.filter((i) => logits[i] >= smallest).sort((i, j) => i - j);
}

/** Probability of every token [v] under the shaped distribution. */
export function probabilities(logits: ArrayLike<number>, settings: SamplerSettings): Float64Array {
  const p = new Float64Array(logits.length);
  const kept = support(logits, settings);
  const top = Math.max(...kept.map((i) => logits[i]));
  for (const i of kept) p[i] = Math.exp((logits[i] - top) / settings.temperature);
  const total = p.reduce((a, b) => a + b, 0);
  return p.map((x) => x / total);
}

/** The drawn token for u in [0, 1): inverse of the cumulative distribution. */
export function draw(p: ArrayLike<number>, u: number): number {
  let left = u;
  for (let i = 0; i < p.length; i++) {
    left -= p[i];
    if (left < 0) return i;
  }
  return -1;
}

/** Log-probability at temperature 1, over the whole vocabulary. */
export function logProb(logits: ArrayLike<number>, token: number): number {
  const top = Math.max(...Array.from(logits));
  return logits[token] - top - Math.log(Array.from(logits).reduce((sum, z) => sum + Math.exp(z - top), 0));
}
