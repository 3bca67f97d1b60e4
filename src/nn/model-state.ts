/** @file Weights and optimiser moments between the GPU and a `ModelState`, by name. */
import { DreamError } from '../data/errors';
import type { Gpu } from '../gpu/device';
import type { ModelState } from './language-model';
import type { Parameter } from './parameter';

/** Missing names keep their values; wrong sizes throw `bad-weights`. */
export function writeWeights(
  gpu: Gpu,
  parameters: readonly Parameter[],
  weights: ReadonlyMap<string, Float32Array>,
): void {
  for (const p of parameters) {
    const data = weights.get(p.name);
    if (!data) continue;
    if (data.length !== p.count) {
      throw new DreamError(
        'bad-weights',
        `Weight "${p.name}" has ${data.length} values; this model needs ${p.count}.`,
        'Use weights that belong to this model.',
      );
    }
    gpu.write(p.weight, data);
  }
}

export async function readWeights(gpu: Gpu, parameters: readonly Parameter[]): Promise<ModelState['weights']> {
  const weights: ModelState['weights'] = new Map();
  for (const p of parameters) weights.set(p.name, await gpu.readF32(p.weight, p.count));
  return weights;
}

/** Of those parameters that have been trained. */
export async function readMoments(
  gpu: Gpu,
  parameters: readonly Parameter[],
): Promise<Required<Pick<ModelState, 'moments1' | 'moments2'>>> {
  const moments1 = new Map<string, Float32Array>();
  const moments2 = new Map<string, Float32Array>();
  for (const p of parameters) {
    if (!p.moment1 || !p.moment2) continue;
    moments1.set(p.name, await gpu.readF32(p.moment1, p.count));
    moments2.set(p.name, await gpu.readF32(p.moment2, p.count));
  }
  return { moments1, moments2 };
}

/** Moments that the state does not have begin at 0. */
export function writeMoments(gpu: Gpu, parameters: readonly Parameter[], state: ModelState): void {
  const rec = gpu.record('prepare');
  for (const p of parameters) p.prepareTraining(rec);
  for (const p of parameters) {
    rec.clear(p.moment1!);
    rec.clear(p.moment2!);
  }
  rec.submit();
  for (const p of parameters) {
    const m1 = state.moments1?.get(p.name);
    const m2 = state.moments2?.get(p.name);
    if (m1) gpu.write(p.moment1!, m1);
    if (m2) gpu.write(p.moment2!, m2);
  }
}
