/** @file The critic's clipped squared error of one token in double precision, its slope, and a head of one linear output. */

export interface ValueToken {
  value: number;
  oldValue: number;
  return: number;
  weight: number;
}

export function valueLoss(t: ValueToken, clip: number): number {
  if (t.weight === 0) return 0;
  const plain = (t.value - t.return) ** 2;
  if (clip === 0) return 0.5 * t.weight * plain;
  const bounded = Math.min(t.oldValue + clip, Math.max(t.oldValue - clip, t.value));
  return 0.5 * t.weight * Math.max(plain, (bounded - t.return) ** 2);
}

export function valueClipped(t: ValueToken, clip: number): boolean {
  return t.weight !== 0 && valueLoss(t, clip) > valueLoss(t, 0);
}

/** dL / dV. */
export function valueGradient(t: ValueToken, clip: number): number {
  return t.weight === 0 || valueClipped(t, clip) ? 0 : t.weight * (t.value - t.return);
}

/** V of each row; `head` is [width + 1], the bias last. */
export function headValues(hidden: ArrayLike<number>, head: ArrayLike<number>, rows: number): number[] {
  const width = head.length - 1;
  return Array.from({ length: rows }, (_, row) => {
    let sum = head[width];
    for (let d = 0; d < width; d++) sum += hidden[row * width + d] * head[d];
    return sum;
  });
}

/** dL/dhead [width + 1] from dL/dV [rows]. */
export function headGradient(hidden: ArrayLike<number>, gradValues: readonly number[], width: number): number[] {
  return Array.from({ length: width + 1 }, (_, d) =>
    gradValues.reduce((sum, g, row) => sum + g * (d === width ? 1 : hidden[row * width + d]), 0),
  );
}
