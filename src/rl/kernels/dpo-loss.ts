/** @file Launcher of shaders/dpo-loss.wgsl, and the `DpoKernel` of dpo.ts on this device. */
import source from '../../../shaders/dpo-loss.wgsl?raw';
import type { GpuBuffer } from '../../gpu/buffers';
import type { Gpu } from '../../gpu/device';
import type { Recorder } from '../../gpu/recorder';
import type { DpoKernel } from '../dpo';

export interface DpoBuffers {
  pairs: number;
  /** u32 [2 pairs + 1]: chosen and rejected in turn. */
  starts: GpuBuffer;
  /** f32 [n]. */
  logProbs: GpuBuffer;
  /** f32 [n]. */
  refLogProbs: GpuBuffer;
  /** u32 [n]: 1 = the policy's word. */
  mask: GpuBuffer;
  /** f32 [n]: weights of the SFT loss whose gradient is DPO's. */
  tokenWeights: GpuBuffer;
  /** f32 [pairs, 4]: loss, chosen reward, rejected reward, margin. */
  pairStats: GpuBuffer;
}

export class DpoLoss {
  private readonly kernel;

  constructor(gpu: Gpu) {
    this.kernel = gpu.kernel(source, 'dpo_loss');
  }

  record(rec: Recorder, b: DpoBuffers, settings: { beta: number; labelSmoothing: number }): void {
    rec.dispatch(
      this.kernel,
      [b.starts, b.logProbs, b.refLogProbs, b.mask, b.tokenWeights, b.pairStats],
      [b.pairs],
      [b.pairs],
      [settings.beta, settings.labelSmoothing],
    );
  }
}

/** Sequences come as chosen, rejected, chosen, ...; buffers live as long as the call. */
export function gpuDpo(gpu: Gpu): DpoKernel {
  const kernel = new DpoLoss(gpu);
  return async ({ starts, logProbs, refLogProbs, mask }, settings) => {
    const n = logProbs.length;
    const pairs = (starts.length - 1) / 2;
    if (pairs === 0) return { tokenWeights: new Float32Array(n), pairStats: new Float32Array(0) };
    const buffers = {
      starts: gpu.upload(starts, 'sequence starts'),
      logProbs: gpu.upload(logProbs, 'logprob'),
      refLogProbs: gpu.upload(refLogProbs, 'reference logprob'),
      mask: gpu.upload(mask, 'mask'),
      tokenWeights: gpu.alloc(Math.max(4, n * 4), 'token weights'),
      pairStats: gpu.alloc(pairs * 16, 'pair statistics'),
    };
    try {
      await gpu.ready();
      const rec = gpu.record('dpo');
      kernel.record(rec, { pairs, ...buffers }, settings);
      rec.submit();
      return {
        tokenWeights: await gpu.readF32(buffers.tokenWeights, n),
        pairStats: await gpu.readF32(buffers.pairStats, pairs * 4),
      };
    } finally {
      for (const buffer of Object.values(buffers)) buffer.release();
    }
  };
}
