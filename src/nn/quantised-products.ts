/**
 * @file Products with quantised matrices: launcher of shaders/quantised-*.wgsl.
 *
 * Two ways. Fused: every weight is unpacked in registers, once for up to 16 rows of x (decoding). Unpacked: a piece of the
 * matrix is written as f32 into a bounded scratch buffer and the f32 product runs over it (prompts and training on devices
 * where that product is the faster one). All ways add in the same order: the choice changes the speed and never a bit.
 */
import type { GpuBuffer } from '../gpu/buffers';
import type { Gpu } from '../gpu/device';
import type { Recorder } from '../gpu/recorder';
import { BLOCK, type ScaleForm } from '../models/weights';
import type { Matmul, MatmulVariant } from './matmul';
import { LANES, type QuantisedKernels, quantisedKernels, type Tiled } from './quantised-kernels';
import { type QuantisedForm, QuantisedMatrix, type Slab } from './quantised-matrix';

/** Pieces are multiples of this many rows, so that offsets of bindings are aligned. */
const PIECE_STEP = 64;

/** Rows [row, row + count) of a slab; `first` counts from the matrix' first row. */
interface Piece {
  slab: Slab;
  row: number;
  count: number;
  first: number;
}

export class QuantisedProducts {
  /**
   * Which fused kernels run. Software adapters take those with subgroups without a timing: 3 (one row) to 18 times (16 rows)
   * as fast on lavapipe.
   */
  variant: MatmulVariant;
  /** Up to so many rows of x the fused kernels run; above, the f32 product over unpacked pieces. */
  fusedRows: number;
  private readonly kernels = new Map<string, QuantisedKernels>();
  private scratch: GpuBuffer | null = null;
  private scratchBytes: number;

  constructor(
    private readonly gpu: Gpu,
    private readonly matmul: Matmul,
    /** Room for unpacked weights; grows to 64 rows of the widest matrix. */
    scratchBytes = 4 * 2 ** 20,
  ) {
    this.scratchBytes = scratchBytes;
    const fast = gpu.isSoftware && gpu.features.includes('subgroups') && gpu.subgroupMinSize >= 8;
    this.variant = fast ? 'subgroup' : 'plain';
    this.fusedRows = fast ? Number.POSITIVE_INFINITY : 16;
  }

  /** Asks for a matrix' kernels: before `gpu.ready()`, and before anything that uses this object is recorded. */
  prepare({ form, scales, columns }: QuantisedMatrix): void {
    this.kernelsFor(form, scales);
    const bytes = PIECE_STEP * columns * 4;
    if (bytes <= this.scratchBytes) return;
    this.scratchBytes = bytes;
    this.dispose();
  }

  /** Bytes that the first unpacked product allocates. */
  get scratchSize(): number {
    return this.scratchBytes;
  }

  private kernelsFor(form: QuantisedForm, scales: ScaleForm): QuantisedKernels {
    const key = `${form} ${scales}`;
    let kernels = this.kernels.get(key);
    if (!kernels) {
      kernels = quantisedKernels(this.gpu, form, scales);
      this.kernels.set(key, kernels);
    }
    return kernels;
  }

  /** The chosen variant's kernel with the smallest tile that covers m rows, or the largest. */
  private tiled(w: QuantisedMatrix, direction: 'forward' | 'backward', m: number): Tiled {
    const { plain, subgroup } = this.kernelsFor(w.form, w.scales);
    const candidates = ((this.variant === 'subgroup' && subgroup) || plain)[direction];
    return candidates.find(({ tile }) => tile >= m) ?? candidates[candidates.length - 1];
  }

  /** y[m, rows] (+)= alpha x[m, columns] transpose(W). */
  forward(rec: Recorder, w: QuantisedMatrix, x: GpuBuffer, y: GpuBuffer, m: number, add = false, alpha = 1): void {
    const fused = m <= this.fusedRows;
    // Rows of y are whole sums however the matrix is cut: fused pieces need only be short enough for one submission.
    const weights = fused ? this.gpu.workPerSubmit / (2 * m) : this.scratchBytes / 4;
    const { kernel, tile, span } = this.tiled(w, 'forward', m);
    for (const piece of pieces(w, weights)) {
      const { slab, row, count, first } = piece;
      if (fused) {
        rec.work(2 * m * count * w.columns);
        const groups = [Math.ceil(count / span), Math.ceil(m / tile)] as const;
        const u32 = [m, count, w.columns / BLOCK, w.rows, first, row, add ? 1 : 0];
        rec.dispatch(kernel, [slab.codes, slab.scales, x, y], groups, u32, [alpha]);
      } else {
        const unpacked = this.unpack(rec, w, piece, true);
        const range = [y, first * 4, (m * w.rows - first) * 4] as const;
        this.matmul.nn(rec, x, unpacked, range, m, w.columns, count, add, alpha, { yRow: w.rows });
      }
    }
  }

  /** dx[m, columns] (+)= alpha dy[m, rows] W. */
  backward(rec: Recorder, w: QuantisedMatrix, dy: GpuBuffer, dx: GpuBuffer, m: number, add = false, alpha = 1): void {
    const fused = m <= this.fusedRows;
    const { kernel, tile, span } = this.tiled(w, 'backward', m);
    // The sums run over rows: the same pieces both ways, so that they are rounded alike.
    for (const piece of pieces(w, this.scratchBytes / 4)) {
      const { slab, row, count, first } = piece;
      const more = add || first > 0;
      if (fused) {
        rec.work(2 * m * count * w.columns);
        const groups = [Math.ceil(w.columns / span), Math.ceil(m / tile)] as const;
        const u32 = [m, count, w.columns / BLOCK, w.rows, first, row, more ? 1 : 0];
        rec.dispatch(kernel, [slab.codes, slab.scales, dy, dx], groups, u32, [alpha]);
      } else {
        const unpacked = this.unpack(rec, w, piece, false);
        const range = [dy, first * 4, (m * w.rows - first) * 4] as const;
        this.matmul.nn(rec, range, unpacked, dx, m, count, w.columns, more, alpha, { aRow: w.rows });
      }
    }
  }

  /** y[t, columns] = W[tokens[t]]: an embedding. `tokens` u32, all below `rows`. */
  gather(rec: Recorder, w: QuantisedMatrix, tokens: GpuBuffer, y: GpuBuffer, t: number): void {
    const { gather } = this.kernelsFor(w.form, w.scales);
    for (const { first, count, codes, scales } of w.slabs) {
      const groups = [Math.ceil(w.columns / 4 / LANES), t] as const;
      rec.dispatch(gather, [codes, scales, y, tokens], groups, [first, count, w.columns / BLOCK]);
    }
  }

  /** A piece as f32 in the scratch buffer, [count, columns] or transposed; valid until the next call. */
  private unpack(rec: Recorder, w: QuantisedMatrix, { slab, row, count }: Piece, transposed: boolean): GpuBuffer {
    this.scratch ??= this.gpu.alloc(this.scratchBytes, 'unpacked weights');
    const { unpack, unpackTransposed } = this.kernelsFor(w.form, w.scales);
    const quads = w.columns / 4;
    rec.work(8 * count * w.columns);
    rec.dispatch(
      transposed ? unpackTransposed : unpack,
      [slab.codes, slab.scales, this.scratch],
      transposed ? [Math.ceil(count / 4 / LANES), quads] : [Math.ceil(quads / LANES), count],
      [row, count, w.columns / BLOCK],
    );
    return this.scratch;
  }

  /**
   * Times the kernels on a small matrix of a prepared form, in the shape of decoding (4 rows) and of training (64), keeps
   * the fastest that also give the same numbers. Software adapters keep what is known of them.
   */
  async tune(): Promise<{ variant: MatmulVariant; fusedRows: number; milliseconds: Record<string, number> }> {
    const milliseconds = this.gpu.isSoftware ? {} : await this.choose();
    return { variant: this.variant, fusedRows: this.fusedRows, milliseconds };
  }

  /** The timing behind `tune`; for any device. */
  async choose(): Promise<Record<string, number>> {
    const milliseconds: Record<string, number> = {};
    const [key, kernels] = [...this.kernels][0] ?? [];
    if (!key || !kernels) return milliseconds;
    const { gpu } = this;
    await gpu.ready();
    const [form, scales] = key.split(' ') as [QuantisedForm, ScaleForm];
    const n = 512;
    const w = new QuantisedMatrix(gpu, 'tune w', n, n, form, scales);
    this.prepare(w);
    const codes = Uint32Array.from({ length: (n * n) / (form === 'q4' ? 8 : 4) }, (_, i) => Math.imul(i, 2654435761));
    // Scale 2^-10 and minimum -1/8 in either form.
    const pair = scales === 'half' ? [0xb000_1400] : [0x3a80_0000, 0xbe00_0000];
    w.write(0, {
      form,
      codes,
      scales: Uint32Array.from({ length: ((n * n) / BLOCK) * pair.length }, (_, i) => pair[i % pair.length]),
    });
    const most = 64;
    const x = gpu.upload(
      Float32Array.from({ length: most * n }, (_, i) => ((i * 7) % 13) / 13 - 0.5),
      'tune x',
    );
    const y = gpu.alloc(2 * most * n * 4, 'tune y');
    const dx = gpu.alloc(most * n * 4, 'tune dx');
    const run = async (name: string, m: number, variant: MatmulVariant, fusedRows: number) => {
      this.variant = variant;
      this.fusedRows = fusedRows;
      let best = Number.POSITIVE_INFINITY;
      for (let round = 0; round < 4; round++) {
        const rec = gpu.record('tune');
        this.forward(rec, w, x, y, m);
        if (m > 16) this.backward(rec, w, x, dx, m); // decoding has no backward
        const start = performance.now();
        rec.submit();
        await gpu.finish();
        if (round > 0) best = Math.min(best, performance.now() - start);
      }
      milliseconds[name] = best;
      const result = [await gpu.readF32(y, m * n), m > 16 ? await gpu.readF32(dx, m * n) : new Float32Array()];
      return { best, result: result.flatMap((values) => [...values]) };
    };
    const everything = Number.POSITIVE_INFINITY;
    const plain = await run('4 rows, plain', 4, 'plain', everything);
    let variant: MatmulVariant = 'plain';
    if (kernels.subgroup) {
      const subgroup = await run('4 rows, subgroup', 4, 'subgroup', everything);
      if (subgroup.best < plain.best && close(plain.result, subgroup.result)) variant = 'subgroup';
    }
    const unpacked = await run('64 rows, unpacked', most, variant, 0);
    const fused = await run('64 rows, fused', most, variant, everything);
    this.fusedRows = fused.best < unpacked.best && close(unpacked.result, fused.result) ? everything : 16;
    w.dispose();
    for (const buffer of [x, y, dx]) buffer.release();
    return milliseconds;
  }

  dispose(): void {
    this.scratch?.release();
    this.scratch = null;
  }
}

/** Slabs cut into pieces of about so many weights, at least 64 rows. */
function* pieces(w: QuantisedMatrix, weights: number): Generator<Piece> {
  const step = PIECE_STEP * Math.max(1, Math.floor(weights / w.columns / PIECE_STEP));
  for (const slab of w.slabs) {
    for (let row = 0; row < slab.count; row += step) {
      yield { slab, row, count: Math.min(step, slab.count - row), first: slab.first + row };
    }
  }
}

function close(a: readonly number[], b: readonly number[]): boolean {
  return a.every((value, i) => Math.abs(value - b[i]) <= 1e-4 * (1 + Math.abs(value)));
}
