/** @file Launcher of shaders/advantages.wgsl: group-relative advantages (GRPO, Dr. GRPO, batch-scaled, RLOO). */
import source from '../../../shaders/advantages.wgsl?raw';
import type { GpuBuffer } from '../../gpu/buffers';
import type { Gpu } from '../../gpu/device';
import type { Recorder } from '../../gpu/recorder';
import type { GroupBaseline } from '../advantage-kernels';

/** The codes of `mode` in the shader. */
const modeCodes: Record<GroupBaseline, number> = {
  'group-std': 0,
  'group-mean': 1,
  'batch-std': 2,
  'leave-one-out': 3,
};

export interface AdvantageSettings {
  mode: GroupBaseline;
  /** Added to the standard deviation: 1e-6 in verl, 1e-4 in TRL. */
  eps: number;
  /** A group of one: false = advantage 0 (nothing to compare with), true = its return (verl: mean 0, std 1). */
  rawSingleton: boolean;
}

export const defaultAdvantageSettings: Omit<AdvantageSettings, 'mode'> = { eps: 1e-6, rawSingleton: false };

export interface AdvantageBuffers {
  n: number;
  groups: number;
  /** f32 [n], sorted by group. */
  returns: GpuBuffer;
  /** u32 [groups + 1]: group g is starts[g] .. starts[g + 1]. */
  starts: GpuBuffer;
  /** f32 [1], scratch: standard deviation of the batch. */
  batchStd: GpuBuffer;
  /** f32 [n]. */
  advantages: GpuBuffer;
  /** f32 [groups], unbiased. */
  groupStd: GpuBuffer;
  /** u32 [groups]: 1 where all returns are equal. */
  zeroVariance: GpuBuffer;
}

export class Advantages {
  private readonly group;
  private readonly batch;

  constructor(gpu: Gpu) {
    this.group = gpu.kernel(source, 'group_advantages');
    this.batch = gpu.kernel(source, 'batch_std');
  }

  record(rec: Recorder, b: AdvantageBuffers, settings: AdvantageSettings): void {
    const u32 = [b.n, b.groups, modeCodes[settings.mode], settings.rawSingleton ? 1 : 0];
    if (settings.mode === 'batch-std') rec.dispatch(this.batch, [b.returns, b.batchStd], [1], u32, [settings.eps]);
    rec.dispatch(
      this.group,
      [b.returns, b.starts, b.batchStd, b.advantages, b.groupStd, b.zeroVariance],
      [Math.ceil(b.groups / 64)],
      u32,
      [settings.eps],
    );
  }
}

/** Episode indices sorted by group (stable), and where each group starts: [groups + 1]. Group ids need not be dense. */
export function sortByGroup(groupIds: ArrayLike<number>): { order: Uint32Array; starts: Uint32Array } {
  const order = Uint32Array.from({ length: groupIds.length }, (_, i) => i);
  order.sort((a, b) => groupIds[a] - groupIds[b] || a - b);
  const starts: number[] = [];
  order.forEach((episode, i) => {
    if (i === 0 || groupIds[episode] !== groupIds[order[i - 1]]) starts.push(i);
  });
  return { order, starts: Uint32Array.of(...starts, groupIds.length) };
}
