/**
 * @file What a model will need on the GPU before anything is downloaded: the same sums that the engine's own allocations
 * make, buffer by buffer, so that plan and count agree.
 *
 * WebGPU does not say how much memory a device has (gpuweb#5505), only the largest buffer and binding it allows. "Fits" is
 * therefore a statement about those limits and about a budget the person can set.
 */
import { pooledBytes } from '../gpu/buffers';
import { activationBytes } from '../nn/activations';
import type { DecoderConfig } from '../nn/config';
import { trainingKeep } from '../nn/decoder';
import type { MatrixForm } from '../nn/decoder-weights';
import { cacheBytes, type Precision } from '../nn/precision';
import { QuantisedMatrix } from '../nn/quantised-matrix';
import { engineLayout } from './llama-names';

export interface PlanSettings {
  /** LoRA rank; 0 = no training. */
  rank: number;
  /** Longest sequence, tokens. */
  contextLength: number;
  /** Episodes that generate together. */
  streams: number;
  /** Tokens of a forward and backward pass. */
  passTokens: number;
  /** Tokens read at once while a prompt is computed. */
  promptTokens: number;
  /** Of the KV cache; default f32. */
  precision?: Precision;
}

export interface PlanLimits {
  maxBufferSize: number;
  maxStorageBufferBindingSize: number;
  /** Bytes the person is ready to give; default 4 GiB, what most laptops' GPUs can. */
  budgetBytes?: number;
}

export interface MemoryPlan {
  /** Bytes by what they are for. */
  weights: number;
  /** Adapters with their transposed copies, gradients and Adam moments. */
  adapter: number;
  /** Rotation table and room to unpack weights. */
  tables: number;
  keyValueCache: number;
  generation: number;
  training: number;
  /** Most at any time: weights, adapter and tables, and the larger of the two phases. */
  plannedGpuBytes: number;
  largestBuffer: { name: string; bytes: number };
  verdict: 'fits' | 'tight' | 'no';
  /** What to change, or why it fits. */
  advice: string;
}

const DEFAULT_BUDGET = 4 * 2 ** 30;
const LOGITS_BYTES = 16 * 2 ** 20;
const UNPACK_BYTES = 4 * 2 ** 20;

/** @param forms quantised matrices by engine name (`planLoad`); all others are f32. */
export function planMemory(
  config: DecoderConfig,
  forms: ReadonlyMap<string, MatrixForm>,
  settings: PlanSettings,
  limits: PlanLimits,
): MemoryPlan {
  const c = { ...config, contextLength: Math.min(config.contextLength, settings.contextLength) };
  const { rank, streams, passTokens, promptTokens } = settings;
  let largest = { name: '', bytes: 0 };
  const buffer = (name: string, bytes: number): number => {
    if (bytes > largest.bytes) largest = { name, bytes };
    return pooledBytes(bytes, limits.maxBufferSize);
  };

  let weights = 0;
  let adapter = 0;
  let widest = 0;
  for (const { name, pieces } of engineLayout(c)) {
    const vector = pieces[0].shape.length === 1;
    const columns = vector ? pieces[0].shape[0] : pieces[0].shape[1];
    const rows = vector ? pieces.length : pieces.reduce((sum, { shape }) => sum + shape[0], 0);
    const form = forms.get(name);
    if (form) {
      weights += pooledMatrix(rows, columns, form, limits);
      widest = Math.max(widest, columns);
    } else {
      // Matrices keep a transposed copy for the forward product.
      weights += buffer(name, rows * columns * 4) * (vector ? 1 : 2);
    }
    if (rank > 0 && !vector && /\.(qkv|out|gate_up|down)$/.test(name)) {
      const r = rank * pieces.length;
      adapter += 5 * (pooledBytes(r * columns * 4) + pooledBytes(rows * r * 4));
    }
  }

  const half = c.headDim / 2;
  const tables = buffer('rotations', c.contextLength * half * 8) + Math.max(UNPACK_BYTES, 64 * widest * 4);
  const kvRow = 2 * c.kvHeads * c.headDim * cacheBytes[settings.precision ?? 'f32'];
  const keyValueCache = streams === 0 ? 0 : c.layers * buffer('kv cache', streams * c.contextLength * kvRow);
  const read = Math.min(promptTokens, streams * c.contextLength);
  const generation =
    streams === 0
      ? 0
      : keyValueCache +
        activationBytes(c, read, 'none') +
        activationBytes(c, streams, 'none') +
        buffer('sample logits', streams * c.vocabSize * 4) +
        3 * pooledBytes(read * rank * 4);
  const training = rank === 0 ? 0 : trainingBytes(c, passTokens, rank, buffer);
  const plannedGpuBytes = weights + adapter + tables + Math.max(generation, training);
  return {
    weights,
    adapter,
    tables,
    keyValueCache,
    generation,
    training,
    plannedGpuBytes,
    largestBuffer: largest,
    ...judge(plannedGpuBytes, largest, { generation, training }, limits),
  };
}

function pooledMatrix(rows: number, columns: number, form: MatrixForm, limits: PlanLimits): number {
  const bytes = QuantisedMatrix.bytesFor(rows, columns, form.form, form.scales);
  const slabs = Math.ceil(bytes / Math.min(limits.maxBufferSize, limits.maxStorageBufferBindingSize));
  const scaleShare =
    (form.scales === 'half' ? 4 : 8) / ((form.form === 'q4' ? 16 : 32) + (form.scales === 'half' ? 4 : 8));
  return slabs * (pooledBytes((bytes * scaleShare) / slabs) + pooledBytes((bytes * (1 - scaleShare)) / slabs));
}

/** As `DecoderModel.pass` and `Decoder.backward` allocate. */
function trainingBytes(
  c: DecoderConfig,
  t: number,
  rank: number,
  buffer: (name: string, bytes: number) => number,
): number {
  const row = (name: string, width: number) => buffer(name, t * width * 4);
  const qkv = (c.heads + 2 * c.kvHeads) * c.headDim;
  const scratch =
    2 * row('residual', c.width) +
    row('d o', c.heads * c.headDim) +
    row('d qkv', qkv) +
    row('delta', c.heads) +
    row('d act', c.ffn) +
    row('d gate up', 2 * c.ffn);
  const perBlock = Math.max(16, Math.floor(LOGITS_BYTES / 4 / c.vocabSize / 64) * 64);
  const head = buffer('logits', Math.min(perBlock, t) * c.vocabSize * 4) + 3 * row('loss hidden', c.width);
  const small = 14 * pooledBytes(t * 4) + 6 * pooledBytes(t * rank * 3 * 4);
  return activationBytes(c, t, trainingKeep(c, t)) + scratch + head + small;
}

function judge(
  bytes: number,
  largest: { name: string; bytes: number },
  phases: { generation: number; training: number },
  limits: PlanLimits,
): Pick<MemoryPlan, 'verdict' | 'advice'> {
  const budget = limits.budgetBytes ?? DEFAULT_BUDGET;
  const gib = (n: number) => `${(n / 2 ** 30).toFixed(2)} GiB`;
  const most = Math.min(limits.maxBufferSize, limits.maxStorageBufferBindingSize);
  if (largest.bytes > most) {
    return {
      verdict: 'no',
      advice: `"${largest.name}" needs ${gib(largest.bytes)} in one buffer; this device allows ${gib(most)}. Choose a shorter context, fewer parallel episodes or smaller passes.`,
    };
  }
  const heavier =
    phases.training > phases.generation ? 'smaller passes' : 'a shorter context or fewer parallel episodes';
  if (bytes > budget)
    return { verdict: 'no', advice: `${gib(bytes)} of ${gib(budget)}: choose ${heavier}, or a smaller model.` };
  if (bytes > 0.8 * budget)
    return { verdict: 'tight', advice: `${gib(bytes)} of ${gib(budget)}: close other tabs, or choose ${heavier}.` };
  return { verdict: 'fits', advice: `${gib(bytes)} of ${gib(budget)}.` };
}
