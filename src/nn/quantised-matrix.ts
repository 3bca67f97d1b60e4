/**
 * @file A frozen quantised matrix on the GPU: codes and scales in slabs of rows, so that no buffer exceeds what one binding
 * may hold (128 MiB on the smallest device), filled piece by piece from a model file.
 *
 * The forms are those of src/models/weights.ts; shaders/quantised-block.wgsl reads them.
 */
import { DreamError } from '../data/errors';
import type { GpuBuffer } from '../gpu/buffers';
import type { Gpu } from '../gpu/device';
import { BLOCK, type Rows, type ScaleForm } from '../models/weights';

export type QuantisedForm = 'q4' | 'q8';

/** Slabs start at multiples of this many rows: 256 bytes of an f32 row, the alignment of bindings. */
const SLAB_STEP = 64;

/** Consecutive rows that lie in one pair of buffers. */
export interface Slab {
  readonly first: number;
  readonly count: number;
  readonly codes: GpuBuffer;
  readonly scales: GpuBuffer;
}

function rowBytes(columns: number, form: QuantisedForm, scales: ScaleForm): { codes: number; scales: number } {
  const blocks = columns / BLOCK;
  return { codes: blocks * (form === 'q4' ? 16 : 32), scales: blocks * (scales === 'half' ? 4 : 8) };
}

export class QuantisedMatrix {
  readonly slabs: readonly Slab[];

  /**
   * `rows` (outputs) a multiple of 4, `columns` (inputs) a multiple of 32; the contents are undefined until written.
   * Throws `bad-weights` for other shapes, `gpu-buffer-too-large` where not even 4 rows fit `maxBufferBytes`.
   */
  constructor(
    private readonly gpu: Gpu,
    readonly name: string,
    readonly rows: number,
    readonly columns: number,
    readonly form: QuantisedForm,
    readonly scales: ScaleForm,
    maxBufferBytes = Math.min(gpu.limits.maxBufferSize, gpu.limits.maxStorageBufferBindingSize),
  ) {
    if (rows <= 0 || rows % 4 !== 0 || columns <= 0 || columns % BLOCK !== 0) {
      throw new DreamError(
        'bad-weights',
        `"${name}" has ${rows} rows of ${columns} weights: not whole blocks of ${BLOCK}, or rows not a multiple of 4.`,
        'Load this tensor as f32.',
      );
    }
    const bytes = rowBytes(columns, form, scales);
    const fitting = Math.floor(maxBufferBytes / Math.max(bytes.codes, bytes.scales));
    const step = fitting >= SLAB_STEP ? fitting - (fitting % SLAB_STEP) : 0;
    if (step === 0 && fitting < rows) {
      throw new DreamError(
        'gpu-buffer-too-large',
        `${SLAB_STEP} rows of "${name}" need more than the ${maxBufferBytes} bytes that this device allows in one buffer.`,
        'Choose a smaller model.',
      );
    }
    const slabs: Slab[] = [];
    for (let first = 0; first < rows; first += step || rows) {
      const count = Math.min(step || rows, rows - first);
      slabs.push({
        first,
        count,
        codes: gpu.alloc(count * bytes.codes, `${name}, codes`),
        scales: gpu.alloc(count * bytes.scales, `${name}, scales`),
      });
    }
    this.slabs = slabs;
  }

  /** Bytes of codes and scales, before the pool rounds each buffer up (under 7 %). */
  static bytesFor(rows: number, columns: number, form: QuantisedForm, scales: ScaleForm): number {
    const bytes = rowBytes(columns, form, scales);
    return rows * (bytes.codes + bytes.scales);
  }

  /** Bytes held on the device. */
  get bytes(): number {
    return this.slabs.reduce((total, { codes, scales }) => total + codes.capacity + scales.capacity, 0);
  }

  /** Fills rows [firstRow, firstRow + rows given). They must have this matrix' form. Throws `bad-weights`. */
  write(firstRow: number, rows: Rows): void {
    const { columns, form, gpu, name } = this;
    const bytes = rowBytes(columns, form, this.scales);
    const count = rows.form === form ? (rows.codes.length * 4) / bytes.codes : Number.NaN;
    if (
      rows.form !== form ||
      !Number.isInteger(count) ||
      rows.scales.length * 4 !== count * bytes.scales ||
      firstRow < 0 ||
      firstRow + count > this.rows
    ) {
      throw new DreamError(
        'bad-weights',
        `Rows from ${firstRow} on (${rows.form}) do not fit "${name}": ${this.rows} x ${columns}, ${form}, ${this.scales} scales.`,
        'This is a defect in the program; please report the message.',
      );
    }
    const codeWords = bytes.codes / 4;
    const scaleWords = bytes.scales / 4;
    for (const slab of this.slabs) {
      const from = Math.max(firstRow, slab.first);
      const to = Math.min(firstRow + count, slab.first + slab.count);
      if (from >= to) continue;
      const part = (words: Uint32Array, perRow: number) =>
        words.subarray((from - firstRow) * perRow, (to - firstRow) * perRow);
      gpu.write(slab.codes, part(rows.codes, codeWords), (from - slab.first) * bytes.codes);
      gpu.write(slab.scales, part(rows.scales, scaleWords), (from - slab.first) * bytes.scales);
    }
  }

  dispose(): void {
    for (const slab of this.slabs) {
      slab.codes.release();
      slab.scales.release();
    }
  }
}
