/** @file A frozen linear layer with quantised weights: what an adapter stands on (`Projection`). */
import type { GpuBuffer } from '../gpu/buffers';
import type { Recorder } from '../gpu/recorder';
import type { Projection } from './linear';
import type { QuantisedMatrix } from './quantised-matrix';
import type { QuantisedProducts } from './quantised-products';

export class QuantisedLinear implements Projection {
  /** Asks for the matrix' kernels: construct before `gpu.ready()`. */
  constructor(
    private readonly products: QuantisedProducts,
    readonly matrix: QuantisedMatrix,
  ) {
    products.prepare(matrix);
  }

  get inputs(): number {
    return this.matrix.columns;
  }

  get outputs(): number {
    return this.matrix.rows;
  }

  forward(rec: Recorder, x: GpuBuffer, y: GpuBuffer, t: number, add = false): void {
    this.products.forward(rec, this.matrix, x, y, t, add);
  }

  /** Only dx: the weights are frozen, so the saved input is not needed. */
  backward(rec: Recorder, _x: GpuBuffer, dy: GpuBuffer, dx: GpuBuffer, t: number, add = false): void {
    this.products.backward(rec, this.matrix, dy, dx, t, add);
  }
}
