/**
 * @file LoRA (Hu et al. 2022): y = x transpose(W) + (alpha / r) (x transpose(A)) transpose(B), W frozen.
 *
 * B starts at zero, so that at step 0 the adapted model equals its base bit for bit.
 */
import type { GpuBuffer } from '../gpu/buffers';
import type { Gpu } from '../gpu/device';
import type { Recorder } from '../gpu/recorder';
import type { Projection } from './linear';
import type { Matmul } from './matmul';
import type { Parameter } from './parameter';

export class LoraLinear implements Projection {
  /** Off: the base alone (the KL reference). */
  enabled = true;

  constructor(
    private readonly gpu: Gpu,
    private readonly matmul: Matmul,
    readonly base: Projection,
    /** [r, inputs] */
    readonly a: Parameter,
    /** [outputs, r] */
    readonly b: Parameter,
    /** alpha / r */
    readonly scale: number,
  ) {}

  get inputs(): number {
    return this.base.inputs;
  }

  get outputs(): number {
    return this.base.outputs;
  }

  forward(rec: Recorder, x: GpuBuffer, y: GpuBuffer, t: number, add = false): void {
    this.base.forward(rec, x, y, t, add);
    if (!this.enabled) return;
    const hidden = this.hidden(rec, x, t);
    this.matmul.nn(rec, hidden, this.b.transposed!, y, t, this.a.rows, this.outputs, true, this.scale);
    hidden.release();
  }

  backward(rec: Recorder, x: GpuBuffer, dy: GpuBuffer, dx: GpuBuffer, t: number, add = false): void {
    this.base.backward(rec, x, dy, dx, t, add);
    if (!this.enabled) return;
    const r = this.a.rows;
    const hidden = this.hidden(rec, x, t); // recomputed: r is small, keeping it per layer is not
    const dHidden = this.gpu.alloc(t * r * 4, 'lora dh');
    this.matmul.tn(rec, dy, hidden, this.b.gradient!, this.outputs, t, r, true, this.scale);
    this.matmul.nn(rec, dy, this.b.weight, dHidden, t, this.outputs, r, false, this.scale);
    this.matmul.tn(rec, dHidden, x, this.a.gradient!, r, t, this.inputs, true);
    this.matmul.nn(rec, dHidden, this.a.weight, dx, t, r, this.inputs, true);
    hidden.release();
    dHidden.release();
  }

  private hidden(rec: Recorder, x: GpuBuffer, t: number): GpuBuffer {
    const hidden = this.gpu.alloc(t * this.a.rows * 4, 'lora h');
    this.matmul.nn(rec, x, this.a.transposed!, hidden, t, this.inputs, this.a.rows);
    return hidden;
  }
}
