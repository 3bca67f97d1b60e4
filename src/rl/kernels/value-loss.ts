/** @file Launcher of shaders/value-loss.wgsl: the critic's clipped squared error, as gradient and statistics. */
import source from '../../../shaders/value-loss.wgsl?raw';
import type { Gpu } from '../../gpu/device';
import type { Recorder } from '../../gpu/recorder';
import type { ValueLossBuffers } from '../../nn/token-loss';

export class ValueLoss {
  private readonly loss;
  private readonly stats;

  constructor(gpu: Gpu) {
    this.loss = gpu.kernel(source, 'value_loss');
    this.stats = gpu.kernel(source, 'value_stats');
  }

  /** @param clip how far V may move from its value at rollout time before the error is no longer followed; 0 = off. */
  record(rec: Recorder, b: ValueLossBuffers, clip: number): void {
    const inputs = [b.values, b.oldValues, b.returns, b.weights];
    const u32 = [b.n, b.accumulate ? 1 : 0];
    rec.dispatch(this.loss, [...inputs, b.gradValues], [Math.ceil(b.n / 64)], u32, [clip]);
    rec.dispatch(this.stats, [...inputs, b.stats], [1], u32, [clip]);
  }
}
