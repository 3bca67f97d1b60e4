/**
 * @file A model file onto the GPU, piece by piece: what the engine stacks is read row by row from the tensors it is made of.
 *
 * Everything that can be checked is checked before a byte of weights is read (names, shapes), and whatever goes wrong
 * later, nothing half-loaded stays on the GPU.
 */
import { DreamError } from '../data/errors';
import type { Gpu } from '../gpu/device';
import type { DecoderConfig } from '../nn/config';
import { DecoderModel } from '../nn/decoder-model';
import type { MatrixForm } from '../nn/decoder-weights';
import type { LoraSettings } from '../nn/lora';
import type { PrecisionChoice } from '../nn/precision';
import { PolicyLoss } from '../rl/kernels/policy-loss';
import { engineLayout, type Piece } from './llama-names';
import type { TensorInfo, WeightForm, WeightSource } from './weights';

export interface LoadOptions {
  /** Train adapters over the base; without them the model only scores and generates. */
  lora?: LoraSettings | null;
  /** Longest sequence, in tokens: bounds caches and tables. Default: the model's own, at most 4096. */
  contextLength?: number;
  /** What becomes of float matrices: `keep` f32, or quantised while loading. Default: `keep` below 64 million weights, else q8. */
  floats?: WeightForm;
  tokensPerPass?: number;
  /** Of the KV cache and of scoring. Default f32. */
  precision?: PrecisionChoice;
  signal?: AbortSignal;
  /** Called after every piece. */
  onProgress?: (loaded: { bytes: number; total: number; tensor: string }) => void;
}

export interface LoadPlan {
  config: DecoderConfig;
  /** Quantised matrices by engine name; all others are f32. */
  forms: Map<string, MatrixForm>;
}

/** Bytes of a tensor read at once: bounds what the CPU ever holds. */
const PIECE_BYTES = 8 * 2 ** 20;
const FLUSH_BYTES = 64 * 2 ** 20;
const DEFAULT_CONTEXT = 4096;
const KEEP_FLOATS_BELOW = 64e6;

/** Which form each matrix gets. Throws `missing-tensor`, `wrong-shape`, naming the tensor. */
export function planLoad(
  source: Pick<WeightSource, 'label' | 'config' | 'tensors'>,
  options: LoadOptions = {},
): LoadPlan {
  const longest = Math.min(source.config.contextLength, options.contextLength ?? DEFAULT_CONTEXT);
  const config = { ...source.config, contextLength: longest };
  const layout = engineLayout(config);
  let weights = 0;
  for (const { pieces } of layout) {
    for (const piece of pieces) {
      const { rows, columns } = found(source, piece);
      weights += rows * columns;
    }
  }
  const floats = options.floats ?? (weights < KEEP_FLOATS_BELOW ? 'f32' : 'q8');
  const forms = new Map<string, MatrixForm>();
  for (const { name, pieces } of layout) {
    if (pieces[0].shape.length < 2 || name.endsWith('norm')) continue;
    const form = formOf(
      pieces.map((piece) => found(source, piece)),
      floats,
    );
    if (form) forms.set(name, form);
  }
  return { config, forms };
}

/** One form for all stacked tensors: the widest that keeps each as it is. Null = f32. */
function formOf(tensors: readonly TensorInfo[], floats: WeightForm): MatrixForm | null {
  const whole = tensors[0].columns % 32 === 0 && tensors.every(({ rows }) => rows % 4 === 0);
  if (!whole) return null;
  const forms = tensors.map(({ form }) => (form === 'f32' ? floats : form));
  if (forms.includes('f32')) return null;
  const single = tensors.some(({ form, scales }) => form !== 'f32' && scales === 'single');
  return { form: forms.includes('q8') ? 'q8' : 'q4', scales: single ? 'single' : 'half' };
}

function found({ label, tensors }: Pick<WeightSource, 'label' | 'tensors'>, { hf, shape }: Piece): TensorInfo {
  const tensor = tensors.get(hf);
  if (!tensor) {
    throw new DreamError('missing-tensor', `${label} lacks "${hf}".`, 'Use the files of one and the same model.');
  }
  const [rows, columns] = shape.length === 1 ? [1, shape[0]] : shape;
  if (tensor.rows !== rows || tensor.columns !== columns) {
    throw new DreamError(
      'wrong-shape',
      `${label}: "${hf}" is [${tensor.rows}, ${tensor.columns}]; the model's settings say [${rows}, ${columns}].`,
      'Use the settings that belong to the weights.',
    );
  }
  return tensor;
}

/**
 * Opens a model. Dispose it; the source may be closed afterwards.
 * Throws what the source throws, `gpu-out-of-memory`, or an AbortError; everything allocated is freed then.
 */
export async function loadModel(gpu: Gpu, source: WeightSource, options: LoadOptions = {}): Promise<DecoderModel> {
  const { config, forms } = planLoad(source, options);
  const model = new DecoderModel(gpu, config, new PolicyLoss(gpu), {
    lora: options.lora ?? null,
    frozen: !options.lora,
    forms,
    tokensPerPass: options.tokensPerPass,
    precision: options.precision,
  });
  try {
    await gpu.memory.settle();
    await model.prepare();
    await fill(gpu, model, source, config, options);
    return model;
  } catch (error) {
    model.dispose();
    gpu.memory.trim();
    throw error;
  }
}

async function fill(
  gpu: Gpu,
  model: DecoderModel,
  source: WeightSource,
  config: DecoderConfig,
  { signal, onProgress }: LoadOptions,
): Promise<void> {
  const { weights } = model.decoder;
  const parameters = new Map(weights.parameters.map((p) => [p.name, p]));
  const layout = engineLayout(config);
  const total = layout.flatMap(({ pieces }) => pieces).reduce((sum, { hf }) => sum + source.tensors.get(hf)!.bytes, 0);
  let bytes = 0;
  let flushed = 0;
  for (const { name, pieces } of layout) {
    const matrix = weights.matrices.get(name);
    const parameter = parameters.get(name);
    let at = 0; // rows of the stacked matrix written so far; values for vectors
    for (const { hf } of pieces) {
      const tensor = source.tensors.get(hf)!;
      const step = Math.max(1, Math.floor(PIECE_BYTES / 4 / tensor.columns));
      for (let first = 0; first < tensor.rows; first += step) {
        signal?.throwIfAborted();
        const count = Math.min(step, tensor.rows - first);
        const rows = await source.read(hf, first, count, matrix?.form ?? 'f32', matrix?.scales ?? 'half');
        if (matrix) matrix.write(at + first, rows);
        else if (rows.form === 'f32') gpu.write(parameter!.weight, rows.values, (at + first) * tensor.columns * 4);
        bytes += (tensor.bytes * count) / tensor.rows;
        onProgress?.({ bytes, total, tensor: hf });
        // What is written waits in staging memory until the queue moves.
        if (bytes - flushed < FLUSH_BYTES) continue;
        flushed = bytes;
        gpu.device.queue.submit([]);
        await gpu.device.queue.onSubmittedWorkDone();
      }
      at += tensor.rows;
    }
  }
  const rec = gpu.record('weights');
  model.decoder.refreshTransposed(rec, weights.parameters);
  rec.submit();
  await gpu.finish();
  await gpu.memory.settle();
}
