/** @file Steps are taken whole or not at all: launcher of shaders/finite-guard.wgsl. */
import source from '../../shaders/finite-guard.wgsl?raw';
import type { GpuBuffer } from '../gpu/buffers';
import type { Gpu } from '../gpu/device';
import type { Recorder } from '../gpu/recorder';

export class FiniteGuard {
  private readonly kernel;

  constructor(gpu: Gpu) {
    this.kernel = gpu.kernel(source, 'finite_guard');
  }

  /** Where the first number of `watched` is not finite, the update under `norm` [1] will not take place. */
  record(rec: Recorder, watched: GpuBuffer, norm: GpuBuffer): void {
    rec.dispatch(this.kernel, [watched, norm], [1], [0]);
  }
}
