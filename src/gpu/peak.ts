/** @file The adapter's own multiply-add peak: launcher of shaders/peak.wgsl. */
import source from '../../shaders/peak.wgsl?raw';
import type { Gpu } from './device';

const THREADS = 16_384;
/** 4 chains x 8 fused steps x 4 lanes x 2 operations. */
const OPERATIONS_PER_ROUND = 4 * 8 * 4 * 2;

/** Milliseconds of one run of `record`ed work, the best of a few, after a warm-up that also compiles. */
export async function bestMilliseconds(gpu: Gpu, work: () => void, rounds = 4): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round <= rounds; round++) {
    const start = performance.now();
    work();
    await gpu.finish();
    if (round > 0) best = Math.min(best, performance.now() - start);
  }
  return best;
}

/** GFLOP/s of fused multiply-adds. */
export async function measurePeak(gpu: Gpu): Promise<number> {
  const kernel = gpu.kernel(source, 'peak');
  await gpu.ready();
  const y = gpu.alloc(THREADS * 4, 'peak');
  let rounds = 16;
  for (;;) {
    const milliseconds = await bestMilliseconds(gpu, () => {
      const rec = gpu.record('peak');
      rec.dispatch(kernel, [y], [THREADS / 64], [rounds]);
      rec.submit();
    });
    // Long enough to drown the cost of a submission, short enough for every watchdog.
    if (milliseconds > 30 || rounds >= 1 << 20) {
      y.release();
      return (THREADS * rounds * OPERATIONS_PER_ROUND) / milliseconds / 1e6;
    }
    rounds *= 4;
  }
}
