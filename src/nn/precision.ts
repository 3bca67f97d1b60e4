/**
 * @file How keys and values are kept while a model generates: f32, or f16 in half the bytes.
 *
 * Halves are packed and unpacked by functions that every WebGPU has, so no optional feature is needed; but what a driver makes
 * of them is checked on this very device before the first one is believed. All arithmetic stays f32.
 */
import { DreamError } from '../data/errors';
import { halfCacheChecks } from '../gpu/checks/half-cache-checks';
import type { Gpu } from '../gpu/device';
import { runChecks } from '../gpu/self-test';

export type Precision = 'f32' | 'f16';
/** `auto`: f16 where this device computes it right. */
export type PrecisionChoice = Precision | 'auto';

export const precisionChoices = ['f32', 'f16', 'auto'] as const satisfies readonly PrecisionChoice[];

/** Bytes of one number in the cache. */
export const cacheBytes: Readonly<Record<Precision, number>> = { f32: 4, f16: 2 };

/** Throws `f16-unreliable` where f16 is demanded of a device that computes it wrong. */
export async function choosePrecision(gpu: Gpu, choice: PrecisionChoice): Promise<Precision> {
  if (choice === 'f32') return 'f32';
  const wrong = (await runChecks(gpu, halfCacheChecks())).filter(({ ok }) => !ok).map(({ name }) => name);
  if (wrong.length === 0) return 'f16';
  if (choice === 'auto') return 'f32';
  throw new DreamError(
    'f16-unreliable',
    `This graphics device computes wrong numbers in half precision (${wrong.join(', ')}).`,
    'Choose the precision f32.',
  );
}
