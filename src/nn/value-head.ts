/**
 * @file The critic: one linear output on the trunk's last hidden state, launcher of shaders/value-head.wgsl.
 *
 * It begins at zero (V = 0 everywhere), so that a run with it is as deterministic as one without, and it has a gradient
 * norm and a learning rate of its own: a critic that errs by much must not shrink the policy's step.
 */
import source from '../../shaders/value-head.wgsl?raw';
import type { GpuBuffer } from '../gpu/buffers';
import type { Gpu } from '../gpu/device';
import type { Recorder } from '../gpu/recorder';
import { Parameter } from './parameter';

/** The head's name in a model's state. */
export const valueHeadName = 'value_head';

export class ValueHead {
  /** [1, width + 1]: weights, then the bias. */
  readonly parameter: Parameter;
  /** [1]: sum of squares of its gradient. */
  readonly norm: GpuBuffer;
  /** [4], see shaders/value-loss.wgsl. */
  readonly stats: GpuBuffer;
  private readonly forwardKernel;
  private readonly gradientKernel;
  private readonly backwardKernel;

  constructor(
    gpu: Gpu,
    private readonly width: number,
  ) {
    this.forwardKernel = gpu.kernel(source, 'value_forward');
    this.gradientKernel = gpu.kernel(source, 'value_gradient');
    this.backwardKernel = gpu.kernel(source, 'value_backward');
    this.parameter = new Parameter(gpu, valueHeadName, 1, width + 1, false);
    this.norm = gpu.alloc(4, 'value head norm');
    this.stats = gpu.alloc(16, 'value statistics');
    const rec = gpu.record('value head');
    rec.clear(this.parameter.weight);
    rec.submit();
  }

  /** values [n] of hidden [n, width]. */
  forward(rec: Recorder, hidden: GpuBuffer, values: GpuBuffer, n: number): void {
    const x = Math.min(n, 32768);
    rec.dispatch(
      this.forwardKernel,
      [hidden, this.parameter.weight, values],
      [x, Math.ceil(n / x)],
      [n, this.width],
      [0],
    );
  }

  /** Adds to the head's gradient, and (where trunkCoef is not 0) to dHidden [n, width]. */
  backward(
    rec: Recorder,
    hidden: GpuBuffer,
    gradValues: GpuBuffer,
    dHidden: GpuBuffer,
    n: number,
    trunkCoef: number,
  ): void {
    const { width, parameter } = this;
    rec.dispatch(
      this.gradientKernel,
      [hidden, gradValues, parameter.gradient!],
      [Math.ceil((width + 1) / 64)],
      [n, width],
      [0],
    );
    if (trunkCoef === 0) return;
    const groups = Math.ceil((n * width) / 64);
    const x = Math.min(groups, 32768);
    rec.dispatch(
      this.backwardKernel,
      [parameter.weight, gradValues, dHidden],
      [x, Math.ceil(groups / x)],
      [n, width],
      [trunkCoef],
    );
  }

  dispose(): void {
    this.parameter.dispose();
    this.norm.release();
    this.stats.release();
  }
}
