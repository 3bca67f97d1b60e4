/**
 * @file The kernels of attention as compiled for one model: plain ones for every device, and with subgroups one set for runs
 * of tokens and one for single tokens; each that reads the cache once for a cache in f32 and once in f16.
 */
import source from '../../shaders/attention.wgsl?raw';
import decodeSource from '../../shaders/attention-decode-subgroup.wgsl?raw';
import subgroupSource from '../../shaders/attention-subgroup.wgsl?raw';
import keyValue from '../../shaders/key-value.wgsl?raw';
import keyValueHalf from '../../shaders/key-value-half.wgsl?raw';
import kvSource from '../../shaders/kv-cache.wgsl?raw';
import kvHalfSource from '../../shaders/kv-cache-half.wgsl?raw';
import { DreamError } from '../data/errors';
import type { Gpu } from '../gpu/device';
import type { Kernel } from '../gpu/kernels';
import { TILE_TOKENS } from './attention-tiles';
import type { DecoderConfig } from './config';
import type { Precision } from './precision';

/** What reads keys and values through the cache's form. */
export type Readers = Record<Precision, Kernel | null>;

export interface PlainKernels {
  forward: Readers;
  dq: Kernel;
  dkv: Kernel;
}

export interface SubgroupKernels extends PlainKernels {
  /** Single tokens; `forward` is for tiles. */
  decode: Readers;
}

export class AttentionKernels {
  readonly plain: PlainKernels;
  /** Null until `compileSubgroup`, and where the device has no subgroups of 8 or more. */
  subgroup: SubgroupKernels | null = null;
  readonly store: Record<Precision, Kernel | null>;
  private readonly constants: string;

  constructor(
    private readonly gpu: Gpu,
    config: DecoderConfig,
  ) {
    this.constants = `const HEAD4 = ${config.headDim / 4}u;\nconst GROUP = ${config.heads / config.kvHeads}u;\n`;
    const text = this.constants + keyValue + source;
    this.plain = {
      forward: { f32: gpu.kernel(text, 'attention_forward'), f16: null },
      dq: gpu.kernel(text, 'attention_backward_dq'),
      dkv: gpu.kernel(text, 'attention_backward_dkv'),
    };
    this.store = { f32: gpu.kernel(kvSource, 'kv_store'), f16: null };
  }

  /** Asks for what a cache in f16 needs: before `gpu.ready()`, after `compileSubgroup`. */
  askHalf(): void {
    const { gpu, plain, subgroup, store } = this;
    store.f16 = gpu.kernel(kvHalfSource, 'kv_store_half');
    plain.forward.f16 = gpu.kernel(this.constants + keyValueHalf + source, 'attention_forward');
    if (!subgroup) return;
    subgroup.forward.f16 = gpu.kernel(this.withSubgroups(subgroupSource, keyValueHalf), 'attention_forward');
    subgroup.decode.f16 = gpu.kernel(this.withSubgroups(decodeSource, keyValueHalf), 'attention_decode');
  }

  /** False where the device or its compiler cannot. Never fails for want of the fast path. */
  async compileSubgroup(): Promise<boolean> {
    const { gpu } = this;
    if (!gpu.features.includes('subgroups') || gpu.subgroupMinSize < TILE_TOKENS) return false;
    try {
      const text = this.withSubgroups(subgroupSource, keyValue);
      const subgroup: SubgroupKernels = {
        forward: { f32: gpu.kernel(text, 'attention_forward'), f16: null },
        decode: { f32: gpu.kernel(this.withSubgroups(decodeSource, keyValue), 'attention_decode'), f16: null },
        dq: gpu.kernel(text, 'attention_backward_dq'),
        dkv: gpu.kernel(text, 'attention_backward_dkv'),
      };
      await gpu.ready();
      this.subgroup = subgroup;
      return true;
    } catch (error) {
      // A driver that cannot compile the fast path still trains on the plain one.
      if (error instanceof DreamError && error.code === 'kernel-compile') return false;
      throw error;
    }
  }

  private withSubgroups(text: string, reading: string): string {
    return text.replace('enable subgroups;\n', `enable subgroups;\n${this.constants}${reading}`);
  }
}
