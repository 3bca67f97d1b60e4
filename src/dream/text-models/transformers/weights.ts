/**
 * @file Which weight file a device can run. The library checks half precision for `fp16` only; a `q4f16` model on a device
 * without `shader-f16` fails in its first run, deep inside the runtime.
 */
import { DreamError } from '../../../data/errors';
import { type TransformersModel, type WeightType, weightSuffixes } from './protocol';

const inFull: Partial<Record<WeightType, WeightType>> = { q4f16: 'q4', fp16: 'fp32' };

export interface DeviceFacts {
  /** The device has `shader-f16`. */
  halfPrecision: boolean;
}

/**
 * The weights to load. Throws DreamError `transformers-needs-f16`, `transformers-file-missing`.
 * @param device null for the CPU, which does everything in full precision.
 */
export function chooseWeights(model: TransformersModel, device: DeviceFacts | null): WeightType {
  const wanted = model.weights;
  const full = inFull[wanted];
  if (!full || device?.halfPrecision) return requireFile(model, wanted);
  // Only a folder tells what it has; elsewhere a wrong guess would be a failed download.
  if (hasWeights(model, full)) return full;
  throw new DreamError(
    'transformers-needs-f16',
    `The ${wanted} weights of ${model.id} need half precision, which this graphics processor does not offer.`,
    `Choose the ${full} weights of the same model.`,
  );
}

function requireFile(model: TransformersModel, weights: WeightType): WeightType {
  if (model.source.kind !== 'folder' || hasWeights(model, weights)) return weights;
  throw new DreamError(
    'transformers-file-missing',
    `The folder of ${model.id} has no ${weightFile(weights)}.`,
    'Pick the whole folder of the model as it is on the hub, or other weights that it does have.',
  );
}

export const weightFile = (weights: WeightType) => `onnx/model${weightSuffixes[weights]}.onnx`;

function hasWeights({ source }: TransformersModel, weights: WeightType): boolean {
  return source.kind === 'folder' && source.files.has(weightFile(weights));
}

/** The parts of a model file that lie beside it: `model_q4.onnx_data`, `model_q4.onnx_data_1`, … in the order of their names. */
export function externalData(files: ReadonlyMap<string, Blob>, weights: WeightType): { path: string; data: Blob }[] {
  const prefix = `${weightFile(weights)}_data`;
  return [...files]
    .filter(([path]) => path === prefix || path.startsWith(`${prefix}_`))
    .sort(([a], [b]) => a.length - b.length || (a < b ? -1 : 1))
    .map(([path, data]) => ({ path: path.slice('onnx/'.length), data }));
}
