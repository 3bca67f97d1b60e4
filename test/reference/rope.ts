/** @file Rotary position embedding in double precision, half-split as in Llama. */
import type { RopeScaling } from '../../src/nn/config';
import type { Vector } from './matmul';

/** Llama 3's rule as its model card gives it, in wavelengths. */
export function stretched(frequency: number, scaling?: RopeScaling): number {
  if (!scaling) return frequency;
  const { factor, lowFreqFactor: low, highFreqFactor: high, originalContextLength: context } = scaling;
  const wavelength = (2 * Math.PI) / frequency;
  if (wavelength < context / high) return frequency;
  if (wavelength > context / low) return frequency / factor;
  const smooth = (context / wavelength - low) / (high - low);
  return ((1 - smooth) * frequency) / factor + smooth * frequency;
}

/** Turns the first `heads` heads of x[t, width] by their token's position; direction -1 turns back. */
export function rope(
  x: Vector,
  positions: Vector,
  {
    heads,
    headDim,
    width,
    theta,
    scaling,
  }: { heads: number; headDim: number; width: number; theta: number; scaling?: RopeScaling },
  direction: 1 | -1 = 1,
): Float64Array {
  const y = Float64Array.from(x);
  const half = headDim / 2;
  for (let row = 0; row < positions.length; row++) {
    for (let head = 0; head < heads; head++) {
      for (let i = 0; i < half; i++) {
        const angle = direction * positions[row] * stretched(theta ** ((-2 * i) / headDim), scaling);
        const first = row * width + head * headDim + i;
        const second = first + half;
        y[first] = x[first] * Math.cos(angle) - x[second] * Math.sin(angle);
        y[second] = x[first] * Math.sin(angle) + x[second] * Math.cos(angle);
      }
    }
  }
  return y;
}
