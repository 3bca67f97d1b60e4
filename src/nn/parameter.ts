/** @file A named weight on the GPU with what training needs beside it: gradient, AdamW moments, transposed copy. */
import type { GpuBuffer } from '../gpu/buffers';
import type { Gpu } from '../gpu/device';
import type { Recorder } from '../gpu/recorder';
import type { Matmul } from './matmul';

export class Parameter {
  readonly weight: GpuBuffer;
  /** [columns, rows] copy for the forward product; refreshed after every update. */
  readonly transposed: GpuBuffer | null;
  gradient: GpuBuffer | null = null;
  moment1: GpuBuffer | null = null;
  moment2: GpuBuffer | null = null;

  constructor(
    private readonly gpu: Gpu,
    readonly name: string,
    /** Output features, vocabulary entries, or 1 for a norm's vector. */
    readonly rows: number,
    readonly columns: number,
    /** Matrices used in products keep a transposed copy. */
    matrix: boolean,
  ) {
    this.weight = gpu.alloc(this.count * 4, name);
    this.transposed = matrix ? gpu.alloc(this.count * 4, `${name}, transposed`) : null;
  }

  get count(): number {
    return this.rows * this.columns;
  }

  /** Allocates gradient and moments (moments zeroed) the first time the parameter is trained. */
  prepareTraining(rec: Recorder): void {
    if (this.gradient) return;
    this.gradient = this.gpu.alloc(this.count * 4, `${this.name}, gradient`);
    this.moment1 = this.gpu.alloc(this.count * 4, `${this.name}, first moment`);
    this.moment2 = this.gpu.alloc(this.count * 4, `${this.name}, second moment`);
    rec.clear(this.moment1);
    rec.clear(this.moment2);
  }

  refreshTransposed(rec: Recorder, matmul: Matmul): void {
    if (this.transposed) matmul.transpose(rec, this.weight, this.transposed, this.rows, this.columns);
  }

  dispose(): void {
    for (const buffer of [this.weight, this.transposed, this.gradient, this.moment1, this.moment2]) buffer?.release();
  }
}
