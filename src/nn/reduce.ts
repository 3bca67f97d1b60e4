/** @file Deterministic sums: launcher of shaders/reduce.wgsl. */
import source from '../../shaders/reduce.wgsl?raw';
import type { GpuBuffer } from '../gpu/buffers';
import type { Gpu } from '../gpu/device';
import type { Recorder } from '../gpu/recorder';

const PIECES = 256;

export class Reduce {
  private readonly rowsKernel;
  private readonly squaresKernel;
  private readonly totalKernel;

  constructor(private readonly gpu: Gpu) {
    this.rowsKernel = gpu.kernel(source, 'sum_rows');
    this.squaresKernel = gpu.kernel(source, 'sum_squares');
    this.totalKernel = gpu.kernel(source, 'total');
  }

  /** y[n] += column sums of x[rows, n]. */
  sumRows(rec: Recorder, x: GpuBuffer, y: GpuBuffer, rows: number, n: number): void {
    rec.dispatch(this.rowsKernel, [x, y], [Math.ceil(n / 64)], [rows, n]);
  }

  /** y[0] += sum of squares of x[n]. */
  sumSquares(rec: Recorder, x: GpuBuffer, y: GpuBuffer, n: number): void {
    const pieces = Math.min(PIECES, Math.ceil(n / 64));
    const partial = this.gpu.alloc(pieces * 4, 'squares');
    rec.dispatch(this.squaresKernel, [x, partial], [Math.ceil(pieces / 64)], [pieces, n]);
    rec.dispatch(this.totalKernel, [partial, y], [1], [1, pieces]);
    partial.release();
  }
}
