/** @file The `AdvantageKernels` of this device: upload, one recording, read back. A batch is a few hundred kilobytes. */
import type { GpuBuffer } from '../../gpu/buffers';
import type { Gpu } from '../../gpu/device';
import type { Recorder } from '../../gpu/recorder';
import type { AdvantageKernels } from '../advantage-kernels';
import { Gae } from './gae';
import { type AdvantageSettings, Advantages, defaultAdvantageSettings, sortByGroup } from './group-advantages';
import { ImportanceCorrection } from './importance-correction';
import { Kl } from './kl';
import { Returns } from './returns';

type Numbers = Float32Array | Uint32Array;

/** Episodes may come in any order; results keep it. */
export function gpuAdvantages(gpu: Gpu, options: Partial<Omit<AdvantageSettings, 'mode'>> = {}): AdvantageKernels {
  const settings = { ...defaultAdvantageSettings, ...options };
  const group = new Advantages(gpu);
  const returns = new Returns(gpu);
  const gae = new Gae(gpu);
  const kl = new Kl(gpu);
  const correction = new ImportanceCorrection(gpu);

  /** One recording over uploaded inputs and fresh outputs of n numbers each; the outputs `read` names come back. */
  async function compute<Name extends string, Read extends Name>(
    n: number,
    inputs: Partial<Record<Name, Numbers>>,
    scratch: Partial<Record<Name, number>>,
    read: readonly Read[],
    record: (rec: Recorder, buffers: Record<Name, GpuBuffer>) => void,
  ): Promise<Record<Read, Float32Array>> {
    const results = {} as Record<Read, Float32Array>;
    if (n === 0) {
      for (const name of read) results[name] = new Float32Array(0);
      return results;
    }
    const buffers = {} as Record<Name, GpuBuffer>;
    try {
      for (const [name, data] of Object.entries(inputs) as [Name, Numbers][]) buffers[name] = gpu.upload(data, name);
      for (const [name, length] of Object.entries(scratch) as [Name, number][])
        buffers[name] = gpu.alloc(length * 4, name);
      await gpu.ready();
      const rec = gpu.record('advantages');
      record(rec, buffers);
      rec.submit();
      for (const name of read) results[name] = await gpu.readF32(buffers[name], n);
      return results;
    } finally {
      for (const buffer of Object.values<GpuBuffer>(buffers)) buffer.release();
    }
  }

  return {
    async group(values, groupIds, mode) {
      const n = values.length;
      const { order, starts } = sortByGroup(groupIds);
      const groups = starts.length - 1;
      const sorted = await compute(
        n,
        { returns: Float32Array.from(order, (episode) => values[episode]), starts },
        { batchStd: 1, advantages: n, groupStd: groups, zeroVariance: groups },
        ['advantages'],
        (rec, b: Record<'returns' | 'starts' | 'batchStd' | 'advantages' | 'groupStd' | 'zeroVariance', GpuBuffer>) =>
          group.record(rec, { n, groups, ...b }, { ...settings, mode }),
      );
      const advantages = new Float32Array(n);
      order.forEach((episode, i) => {
        advantages[episode] = sorted.advantages[i];
      });
      return advantages;
    },

    async returns({ starts, mask, rewards }, gamma) {
      const n = rewards.length;
      const sequences = starts.length - 1;
      const result = await compute(
        n,
        { starts, mask, rewards },
        { returns: n },
        ['returns'],
        (rec, b: Record<'starts' | 'mask' | 'rewards' | 'returns', GpuBuffer>) =>
          returns.record(rec, { sequences, ...b }, gamma),
      );
      return result.returns;
    },

    gae({ starts, mask, rewards, values }, gamma, lambda) {
      const n = rewards.length;
      const sequences = starts.length - 1;
      return compute(
        n,
        { starts, mask, rewards, values },
        { advantages: n, returns: n },
        ['advantages', 'returns'],
        (rec, b: Record<'starts' | 'mask' | 'rewards' | 'values' | 'advantages' | 'returns', GpuBuffer>) =>
          gae.record(rec, { sequences, ...b }, { gamma, lambda }),
      );
    },

    async whiten(values, mask) {
      const n = values.length;
      const result = await compute(
        n,
        { advantages: values, mask },
        { moments: 2 },
        ['advantages'],
        (rec, b: Record<'advantages' | 'mask' | 'moments', GpuBuffer>) => gae.recordWhiten(rec, { n, ...b }),
      );
      return result.advantages;
    },

    async kl(logProbs, refLogProbs, mask, estimator) {
      const n = logProbs.length;
      const result = await compute(
        n,
        { logProbs, refLogProbs, weights: Float32Array.from(mask, (m) => (m === 0 ? 0 : 1)) },
        { kl: n, gradLogProb: n },
        ['kl'],
        (rec, b: Record<'logProbs' | 'refLogProbs' | 'weights' | 'kl' | 'gradLogProb', GpuBuffer>) =>
          kl.record(rec, { n, ...b }, estimator),
      );
      return result.kl;
    },

    async correction({ starts, mask, trainer, sampler }, mode, cap) {
      const n = trainer.length;
      const sequences = starts.length - 1;
      const result = await compute(
        n,
        { starts, mask, trainer, sampler },
        { factor: n },
        ['factor'],
        (rec, b: Record<'starts' | 'mask' | 'trainer' | 'sampler' | 'factor', GpuBuffer>) =>
          correction.record(rec, { sequences, ...b }, { mode, cap }),
      );
      return result.factor;
    },
  };
}
