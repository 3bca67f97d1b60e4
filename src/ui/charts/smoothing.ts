/**
 * @file From measured values to a drawable line: smooth first, then thin out.
 *
 * The order matters: smoothing what was already thinned out draws a curve that nobody measured (TensorBoard #6829).
 * Thinning keeps each bucket's extremes, so a spike never disappears (#6830).
 */

export type Value = number | null;

/** More smoothing than this shows a line that no longer follows the run (TensorBoard #4372). */
export const maxSmoothing = 0.99;

/** Exponential moving average with bias correction: the first point is itself, gaps stay gaps and are not counted. */
export function smooth(values: readonly Value[], weight: number): Value[] {
  const keep = Math.min(Math.max(weight, 0), maxSmoothing);
  let sum = 0;
  let mass = 0;
  return values.map((value) => {
    if (value === null || !Number.isFinite(value)) return null;
    sum = keep * sum + (1 - keep) * value;
    mass = keep * mass + (1 - keep);
    return sum / mass;
  });
}

/**
 * Indices to draw, at most about `limit`: first and last of everything, and each bucket's smallest and largest of every
 * line, so that all lines of a chart keep one x axis.
 */
export function thinned(lines: readonly (readonly Value[])[], length: number, limit: number): number[] {
  if (length <= limit) return Array.from({ length }, (_, i) => i);
  const keep = new Set<number>([0, length - 1]);
  const buckets = Math.max(1, Math.floor(limit / (2 * Math.max(1, lines.length))));
  for (let b = 0; b < buckets; b++) {
    const start = Math.floor((b * length) / buckets);
    const end = Math.floor(((b + 1) * length) / buckets);
    for (const line of lines) {
      let lowest = -1;
      let highest = -1;
      for (let i = start; i < end; i++) {
        const value = line[i];
        if (value === null || value === undefined) continue;
        if (lowest < 0 || value < (line[lowest] as number)) lowest = i;
        if (highest < 0 || value > (line[highest] as number)) highest = i;
      }
      if (lowest >= 0) keep.add(lowest).add(highest);
    }
  }
  return [...keep].sort((a, b) => a - b);
}

/** Raw and smoothed lines of one chart over one x axis, thinned to what a screen can show. */
export function drawable(
  xs: readonly number[],
  raw: readonly (readonly Value[])[],
  weight: number,
  limit = 800,
): { xs: number[]; raw: Value[][]; smoothed: Value[][] } {
  const smoothed = raw.map((line) => smooth(line, weight));
  const kept = thinned([...raw, ...smoothed], xs.length, limit);
  const pick = (line: readonly Value[]) => kept.map((i) => line[i] ?? null);
  return { xs: kept.map((i) => xs[i]), raw: raw.map(pick), smoothed: smoothed.map(pick) };
}
