/** @file Launcher of shaders/importance-correction.wgsl: bounded weights for what sampler and trainer disagree on. */
import source from '../../../shaders/importance-correction.wgsl?raw';
import type { GpuBuffer } from '../../gpu/buffers';
import type { Gpu } from '../../gpu/device';
import type { Recorder } from '../../gpu/recorder';
import type { CorrectionMode } from '../advantage-kernels';

export interface CorrectionBuffers {
  sequences: number;
  /** u32 [sequences + 1]. */
  starts: GpuBuffer;
  /** f32 [n]. */
  trainer: GpuBuffer;
  /** f32 [n]. */
  sampler: GpuBuffer;
  /** u32 [n]. */
  mask: GpuBuffer;
  /** f32 [n]. */
  factor: GpuBuffer;
}

export class ImportanceCorrection {
  private readonly kernel;

  constructor(gpu: Gpu) {
    this.kernel = gpu.kernel(source, 'importance_correction');
  }

  record(rec: Recorder, b: CorrectionBuffers, settings: { mode: CorrectionMode; cap: number }): void {
    const perSequence = settings.mode.startsWith('sequence') ? 1 : 0;
    const drop = settings.mode.endsWith('mask') ? 1 : 0;
    rec.dispatch(
      this.kernel,
      [b.starts, b.trainer, b.sampler, b.mask, b.factor],
      [Math.ceil(b.sequences / 64)],
      [b.sequences, perSequence, drop],
      [settings.cap],
    );
  }
}
