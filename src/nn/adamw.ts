/** @file AdamW over a list of parameters with global-norm clipping: launcher of shaders/adamw.wgsl. */
import source from '../../shaders/adamw.wgsl?raw';
import type { GpuBuffer } from '../gpu/buffers';
import type { Gpu } from '../gpu/device';
import type { Recorder } from '../gpu/recorder';
import type { OptimizerSettings } from './language-model';
import type { Parameter } from './parameter';
import type { Reduce } from './reduce';

export class AdamW {
  private readonly kernel;
  constructor(
    gpu: Gpu,
    private readonly reduce: Reduce,
  ) {
    this.kernel = gpu.kernel(source, 'adamw');
  }

  /** `norm` [1] receives the sum of squares of all gradients. */
  recordNorm(rec: Recorder, parameters: readonly Parameter[], norm: GpuBuffer): void {
    rec.clear(norm);
    for (const p of parameters) this.reduce.sumSquares(rec, p.gradient!, norm, p.count);
  }

  /**
   * One update under the norm of `recordNorm`; when it is not finite nothing changes.
   * Norm vectors (one row) are not decayed, as is customary.
   * @param step 1-based count of updates, for the bias correction
   */
  recordUpdate(
    rec: Recorder,
    parameters: readonly Parameter[],
    norm: GpuBuffer,
    settings: OptimizerSettings,
    step: number,
  ): void {
    for (const p of parameters) {
      const groups = Math.ceil(p.count / 64);
      const x = Math.min(groups, 32768);
      rec.dispatch(
        this.kernel,
        [p.gradient!, p.weight, p.moment1!, p.moment2!, norm],
        [x, Math.ceil(groups / x)],
        [p.count],
        [
          settings.learningRate,
          settings.beta1,
          settings.beta2,
          settings.eps,
          p.rows === 1 ? 0 : settings.weightDecay,
          1 - settings.beta1 ** step,
          1 - settings.beta2 ** step,
          settings.maxGradNorm,
        ],
      );
    }
  }

  /** Norm and update in one. */
  record(
    rec: Recorder,
    parameters: readonly Parameter[],
    norm: GpuBuffer,
    settings: OptimizerSettings,
    step: number,
  ): void {
    this.recordNorm(rec, parameters, norm);
    this.recordUpdate(rec, parameters, norm, settings, step);
  }
}
