/**
 * @file A linear layer y = x transpose(W), W stored [out, in] as in every model file.
 *
 * `Projection` is the seam: quantised weights (quantised-linear.ts) and adapters (lora.ts) implement the same calls.
 */
import type { GpuBuffer } from '../gpu/buffers';
import type { Binding, Recorder } from '../gpu/recorder';
import type { Matmul } from './matmul';
import type { Parameter } from './parameter';

export interface Projection {
  readonly inputs: number;
  readonly outputs: number;
  /** y[t, outputs] (+)= x[t, inputs] transpose(W). */
  forward(rec: Recorder, x: Binding, y: GpuBuffer, t: number, add?: boolean): void;
  /** dx[t, inputs] (+)= dy[t, outputs] W; and the gradients of whatever is trainable, from the saved input x. */
  backward(rec: Recorder, x: Binding, dy: GpuBuffer, dx: Binding, t: number, add?: boolean): void;
}

export class Linear implements Projection {
  constructor(
    private readonly matmul: Matmul,
    readonly parameter: Parameter,
    /** Frozen layers compute no weight gradient. */
    public trainable: boolean,
  ) {}

  get inputs(): number {
    return this.parameter.columns;
  }

  get outputs(): number {
    return this.parameter.rows;
  }

  forward(rec: Recorder, x: Binding, y: GpuBuffer, t: number, add = false): void {
    this.matmul.nn(rec, x, this.parameter.transposed!, y, t, this.inputs, this.outputs, add);
  }

  backward(rec: Recorder, x: Binding, dy: GpuBuffer, dx: Binding, t: number, add = false): void {
    this.matmul.nn(rec, dy, this.parameter.weight, dx, t, this.outputs, this.inputs, add);
    if (this.trainable) this.matmul.tn(rec, dy, x, this.parameter.gradient!, this.outputs, t, this.inputs, true);
  }
}
