/** @file Rotary position embedding, plain or stretched (Llama 3): launcher of shaders/rope.wgsl. */
import source from '../../shaders/rope.wgsl?raw';
import type { GpuBuffer } from '../gpu/buffers';
import type { Gpu } from '../gpu/device';
import type { Recorder } from '../gpu/recorder';
import type { DecoderConfig } from './config';

/** Longer contexts read cosines and sines from a table: a device's own are only good near zero. */
const LONGEST_COMPUTED = 1024;

type RopeConfig = Pick<DecoderConfig, 'ropeTheta' | 'headDim' | 'contextLength' | 'ropeScaling'>;

export class Rope {
  private readonly kernel;
  private readonly table: GpuBuffer | null;

  constructor(
    gpu: Gpu,
    private readonly config: RopeConfig,
  ) {
    const tabled = config.contextLength > LONGEST_COMPUTED || config.ropeScaling !== undefined;
    this.kernel = gpu.kernel(source, tabled ? 'rope_table' : 'rope');
    this.table = tabled ? gpu.upload(rotations(config), 'rotations') : null;
  }

  /**
   * Rotates the first `heads` heads (queries, then keys) of qkv[t, width] in place.
   * @param direction +1 forward, -1 for gradients
   */
  record(
    rec: Recorder,
    rows: GpuBuffer,
    qkv: GpuBuffer,
    t: number,
    heads: number,
    headDim: number,
    width: number,
    direction: 1 | -1,
  ): void {
    const half = headDim / 2;
    const bindings = this.table ? [rows, qkv, this.table] : [rows, qkv];
    const u32 = [t, heads, half, width];
    rec.dispatch(this.kernel, bindings, [Math.ceil((heads * half) / 64), t], u32, [this.config.ropeTheta, direction]);
  }

  dispose(): void {
    this.table?.release();
  }
}

/** Radians a position turns each pair of a head by, [headDim / 2]; Llama 3's rule where the config stretches them. */
export function rotaryFrequencies({ ropeTheta, headDim, ropeScaling }: RopeConfig): Float64Array {
  return Float64Array.from({ length: headDim / 2 }, (_, i) => {
    const frequency = ropeTheta ** ((-2 * i) / headDim);
    if (!ropeScaling) return frequency;
    const { factor, lowFreqFactor, highFreqFactor, originalContextLength } = ropeScaling;
    const turns = (originalContextLength * frequency) / (2 * Math.PI); // within the original context
    if (turns > highFreqFactor) return frequency;
    if (turns < lowFreqFactor) return frequency / factor;
    const kept = (turns - lowFreqFactor) / (highFreqFactor - lowFreqFactor);
    return kept * frequency + ((1 - kept) * frequency) / factor;
  });
}

/** [contextLength, headDim / 2] (cos, sin). */
function rotations(config: RopeConfig): Float32Array {
  const frequencies = rotaryFrequencies(config);
  const half = frequencies.length;
  const table = new Float32Array(config.contextLength * half * 2);
  for (let position = 0; position < config.contextLength; position++) {
    for (let i = 0; i < half; i++) {
      const angle = position * frequencies[i];
      table[(position * half + i) * 2] = Math.cos(angle);
      table[(position * half + i) * 2 + 1] = Math.sin(angle);
    }
  }
  return table;
}
