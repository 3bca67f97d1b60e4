/**
 * @file LoRA (Hu et al. 2022): y = x transpose(W) + (alpha / r) (x transpose(A)) transpose(B), W frozen.
 *
 * B starts at zero, so that at step 0 the adapted model equals its base bit for bit. Where several projections are one
 * stacked product (q, k, v; gate, up), each keeps its own adapter as in PEFT: their A are stacked, B is block-diagonal,
 * and one small product serves them all.
 */
import source from '../../shaders/lora.wgsl?raw';
import type { GpuBuffer } from '../gpu/buffers';
import type { Gpu } from '../gpu/device';
import type { Binding, Recorder } from '../gpu/recorder';
import type { Projection } from './linear';
import type { Matmul } from './matmul';
import { Parameter } from './parameter';

export interface LoraSettings {
  rank: number;
  alpha: number;
}

export class LoraLinear implements Projection {
  /** Off: the base alone (the KL reference). */
  enabled = true;
  /** [parts * r, inputs] */
  readonly a: Parameter;
  /** [outputs, parts * r]: output row o of part p is zero outside columns [p r, (p + 1) r). */
  readonly b: Parameter;
  /** alpha / r */
  private readonly scale: number;
  private readonly rank: number;
  private readonly part: GpuBuffer | null;
  private readonly keepBlocks;

  constructor(
    private readonly gpu: Gpu,
    private readonly matmul: Matmul,
    readonly base: Projection,
    name: string,
    { rank, alpha }: LoraSettings,
    /** Output features of each stacked projection; one entry where nothing is stacked. */
    readonly parts: readonly number[] = [base.outputs],
  ) {
    this.rank = rank;
    this.scale = alpha / rank;
    this.a = new Parameter(gpu, `${name}.lora_A`, parts.length * rank, base.inputs, true);
    this.b = new Parameter(gpu, `${name}.lora_B`, base.outputs, parts.length * rank, true);
    const partOfRow = parts.flatMap((rows, p) => new Array<number>(rows).fill(p));
    this.part = parts.length > 1 ? gpu.upload(Uint32Array.from(partOfRow), `${name}, part of row`) : null;
    this.keepBlocks = gpu.kernel(source, 'keep_blocks');
  }

  get inputs(): number {
    return this.base.inputs;
  }

  get outputs(): number {
    return this.base.outputs;
  }

  forward(rec: Recorder, x: Binding, y: GpuBuffer, t: number, add = false): void {
    this.base.forward(rec, x, y, t, add);
    if (!this.enabled) return;
    const hidden = this.hidden(rec, x, t);
    this.matmul.nn(rec, hidden, this.b.transposed!, y, t, this.a.rows, this.outputs, true, this.scale);
    hidden.release();
  }

  backward(rec: Recorder, x: Binding, dy: GpuBuffer, dx: Binding, t: number, add = false): void {
    this.base.backward(rec, x, dy, dx, t, add);
    if (!this.enabled) return;
    const r = this.a.rows;
    const hidden = this.hidden(rec, x, t); // recomputed: r is small, keeping it per layer is not
    const dHidden = this.gpu.alloc(t * r * 4, 'lora dh');
    this.matmul.tn(rec, dy, hidden, this.b.gradient!, this.outputs, t, r, true, this.scale);
    if (this.part) {
      const groups = [Math.ceil(this.b.count / 64)] as const;
      rec.dispatch(this.keepBlocks, [this.part, this.b.gradient!], groups, [this.outputs, r, this.rank]);
    }
    this.matmul.nn(rec, dy, this.b.weight, dHidden, t, this.outputs, r, false, this.scale);
    this.matmul.tn(rec, dHidden, x, this.a.gradient!, r, t, this.inputs, true);
    this.matmul.nn(rec, dHidden, this.a.weight, dx, t, r, this.inputs, true);
    hidden.release();
    dHidden.release();
  }

  private hidden(rec: Recorder, x: Binding, t: number): GpuBuffer {
    const hidden = this.gpu.alloc(t * this.a.rows * 4, 'lora h');
    this.matmul.nn(rec, x, this.a.transposed!, hidden, t, this.inputs, this.a.rows);
    return hidden;
  }

  dispose(): void {
    this.part?.release();
  }
}
