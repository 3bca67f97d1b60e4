/** @file The compiled kernels of shaders/quantised-*.wgsl, one set for each form of weights. */
import backwardSource from '../../shaders/quantised-backward.wgsl?raw';
import backwardSubgroupSource from '../../shaders/quantised-backward-subgroup.wgsl?raw';
import blockSource from '../../shaders/quantised-block.wgsl?raw';
import forwardSource from '../../shaders/quantised-forward.wgsl?raw';
import forwardSubgroupSource from '../../shaders/quantised-forward-subgroup.wgsl?raw';
import unpackSource from '../../shaders/quantised-unpack.wgsl?raw';
import type { Gpu } from '../gpu/device';
import type { Kernel } from '../gpu/kernels';
import type { ScaleForm } from '../models/weights';
import type { QuantisedForm } from './quantised-matrix';

/** Lanes of a workgroup of the plain kernels. */
export const LANES = 32;

/** A product's kernel for up to `tile` rows of x a thread. */
export interface Tiled {
  kernel: Kernel;
  tile: number;
  /** Rows (forward) or columns (backward) of weights that a workgroup owns. */
  span: number;
}

export interface Products {
  /** By rising tile. */
  forward: Tiled[];
  backward: Tiled[];
}

export interface QuantisedKernels {
  plain: Products;
  /** Null where the device has no subgroups of 8 lanes. */
  subgroup: Products | null;
  unpack: Kernel;
  unpackTransposed: Kernel;
  gather: Kernel;
}

export function quantisedKernels(gpu: Gpu, form: QuantisedForm, scales: ScaleForm): QuantisedKernels {
  const block = `const BITS = ${form === 'q4' ? 4 : 8}u;\nconst SINGLE = ${scales === 'single'};\n${blockSource}`;
  const plain = (source: string, entry: string, tiles: number[], span: number): Tiled[] =>
    tiles.map((tile) => ({ kernel: gpu.kernel(`const TILE = ${tile}u;\n${block}${source}`, entry), tile, span }));
  const subgroup = (source: string, entry: string, tiles: number[], span: (rows4: number) => number): Tiled[] =>
    tiles.map((tile) => {
      // Few rows of x leave registers for twice the rows of weights.
      const rows4 = tile < 8 ? 2 : 1;
      const text = `enable subgroups;\nconst TILE = ${tile}u;\nconst ROWS4 = ${rows4}u;\n${block}${source}`;
      return { kernel: gpu.kernel(text, entry), tile, span: span(rows4) };
    });
  const possible = gpu.features.includes('subgroups') && gpu.subgroupMinSize >= 8;
  return {
    plain: {
      forward: plain(forwardSource, 'quantised_forward', [1, 4, 16], LANES),
      backward: plain(backwardSource, 'quantised_backward', [4, 16], 4 * LANES),
    },
    subgroup: possible
      ? {
          forward: subgroup(forwardSubgroupSource, 'quantised_forward', [1, 4, 8, 16], (rows4) => 32 * rows4),
          backward: subgroup(backwardSubgroupSource, 'quantised_backward', [8, 16], () => 64),
        }
      : null,
    unpack: gpu.kernel(block + unpackSource, 'quantised_unpack'),
    unpackTransposed: gpu.kernel(block + unpackSource, 'quantised_unpack_transposed'),
    gather: gpu.kernel(block + unpackSource, 'quantised_gather'),
  };
}
