/**
 * @file Matrix products: plain and subgroup variants, the choice made by a short timing on this very device.
 *
 * All variants add in the same order, so the choice changes the speed and never a bit of the result.
 */
import nnSource from '../../shaders/matmul-nn.wgsl?raw';
import nnSubgroupSource from '../../shaders/matmul-nn-subgroup.wgsl?raw';
import tnSource from '../../shaders/matmul-tn.wgsl?raw';
import tnSubgroupSource from '../../shaders/matmul-tn-subgroup.wgsl?raw';
import transposeSource from '../../shaders/transpose.wgsl?raw';
import type { Gpu } from '../gpu/device';
import type { Kernel } from '../gpu/kernels';
import type { Binding, Recorder } from '../gpu/recorder';

export type MatmulVariant = 'plain' | 'subgroup';

const ROWS = 8; // rows a workgroup owns, and the lanes a subgroup needs
const WIDE_ROWS = 16; // with subgroups, where there are that many: half the loads
const COLUMNS4 = 16; // columns / 4 a workgroup owns

interface Kernels {
  nn: Kernel;
  tn: Kernel;
  /** Rows of the result a workgroup owns. */
  rows: number;
}

/** Products between row-major f32 matrices on the GPU. `k`, `n` of nn and `m`, `n` of tn must be multiples of 4. */
export class Matmul {
  variant: MatmulVariant = 'plain';
  private readonly plain: Kernels;
  private readonly subgroup: { narrow: Kernels; wide: Kernels } | null;
  private readonly transposer: Kernel;

  constructor(private readonly gpu: Gpu) {
    this.plain = { nn: gpu.kernel(nnSource, 'matmul_nn'), tn: gpu.kernel(tnSource, 'matmul_tn'), rows: ROWS };
    const subgroup = (rows: number): Kernels => {
      const text = (source: string): string =>
        source.replace('enable subgroups;', `enable subgroups;\nconst BLOCKS = ${rows / ROWS}u;`);
      return {
        nn: gpu.kernel(text(nnSubgroupSource), 'matmul_nn'),
        tn: gpu.kernel(text(tnSubgroupSource), 'matmul_tn'),
        rows,
      };
    };
    const possible = gpu.features.includes('subgroups') && gpu.subgroupMinSize >= ROWS;
    this.subgroup = possible ? { narrow: subgroup(ROWS), wide: subgroup(WIDE_ROWS) } : null;
    this.transposer = gpu.kernel(transposeSource, 'transpose');
  }

  get hasSubgroupVariant(): boolean {
    return this.subgroup !== null;
  }

  private kernelsFor(m: number): Kernels {
    if (this.variant === 'plain' || !this.subgroup) return this.plain;
    return m > ROWS ? this.subgroup.wide : this.subgroup.narrow;
  }

  /**
   * y[m, n] (+)= alpha a[m, k] b[k, n]. `a` and `y` may be ranges of columns of wider matrices: a binding that starts at
   * the range's first number, and the length of the wider matrix' rows (multiples of 4).
   */
  nn(
    rec: Recorder,
    a: Binding,
    b: Binding,
    y: Binding,
    m: number,
    k: number,
    n: number,
    add = false,
    alpha = 1,
    { aRow = k, yRow = n }: { aRow?: number; yRow?: number } = {},
  ): void {
    const kernels = this.kernelsFor(m);
    const groups = [Math.ceil(n / 4 / COLUMNS4), Math.ceil(m / kernels.rows)] as const;
    rec.work(2 * m * k * n);
    rec.dispatch(kernels.nn, [a, b, y], groups, [m, n / 4, k / 4, aRow / 4, yRow / 4, add ? 1 : 0], [alpha]);
  }

  /** y[m, n] (+)= alpha transpose(a[k, m]) b[k, n]. */
  tn(rec: Recorder, a: Binding, b: Binding, y: Binding, m: number, k: number, n: number, add = false, alpha = 1): void {
    const kernels = this.kernelsFor(m);
    const groups = [Math.ceil(n / 4 / COLUMNS4), Math.ceil(m / kernels.rows)] as const;
    rec.work(2 * m * k * n);
    rec.dispatch(kernels.tn, [a, b, y], groups, [m, n / 4, k, 0, add ? 1 : 0], [alpha]);
  }

  /** y[n, m] = transpose(x[m, n]). */
  transpose(rec: Recorder, x: Binding, y: Binding, m: number, n: number): void {
    rec.dispatch(this.transposer, [x, y], [Math.ceil(m / 64), n], [m, n]);
  }

  /** Times both variants on a small product of each layout, keeps the faster one that also gives the same numbers. */
  async tune(): Promise<{ variant: MatmulVariant; milliseconds: Record<string, number> }> {
    await this.gpu.ready();
    const milliseconds: Record<string, number> = {};
    if (!this.hasSubgroupVariant) return { variant: this.variant, milliseconds };
    const m = 256;
    const k = 128;
    const n = 256;
    const values = Float32Array.from({ length: Math.max(m * k, k * n) }, (_, i) => ((i * 7) % 13) / 13 - 0.5);
    const a = this.gpu.upload(values.subarray(0, m * k), 'tune a');
    const b = this.gpu.upload(values.subarray(0, k * n), 'tune b');
    const y = this.gpu.alloc(2 * m * n * 4, 'tune y'); // one half for each layout
    const results: Record<string, Float32Array> = {};
    for (const variant of ['plain', 'subgroup'] as const) {
      this.variant = variant;
      let best = Number.POSITIVE_INFINITY;
      for (let round = 0; round < 4; round++) {
        const rec = this.gpu.record('tune');
        this.nn(rec, a, b, y, m, k, n);
        this.tn(rec, a, b, [y, m * n * 4, m * n * 4], m, k, n);
        const start = performance.now();
        rec.submit();
        await this.gpu.finish();
        if (round > 0) best = Math.min(best, performance.now() - start);
      }
      milliseconds[variant] = best;
      results[variant] = await this.gpu.readF32(y, 2 * m * n);
    }
    for (const buffer of [a, b, y]) buffer.release();
    // To the bit: timing decides, and it may decide otherwise tomorrow. The run must not depend on it.
    const equal = results.plain.every((value, i) => value === results.subgroup[i]);
    this.variant = equal && milliseconds.subgroup < milliseconds.plain ? 'subgroup' : 'plain';
    return { variant: this.variant, milliseconds };
  }
}
