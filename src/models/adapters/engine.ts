/**
 * @file Between an adapter and the engine's weights. The engine stacks the adapters of q, k, v (and gate, up) as it stacks
 * the projections: A [parts * rank, inputs], B [outputs, parts * rank] with a block per part (nn/lora.ts).
 *
 * Ranks on the GPU are multiples of 4. Another one is padded with zeros and alpha grown with it: the same product, and
 * the padding's gradient is zero, so training does not touch it.
 */
import { DreamError } from '../../data/errors';
import type { DecoderConfig } from '../../nn/config';
import type { LoraSettings } from '../../nn/lora';
import { checkAdapterFits, type LoraAdapter, moduleName, type ProjectionName, projectionShape } from './adapter';

const STACKS: readonly [engine: string, parts: readonly ProjectionName[]][] = [
  ['qkv', ['self_attn.q_proj', 'self_attn.k_proj', 'self_attn.v_proj']],
  ['out', ['self_attn.o_proj']],
  ['gate_up', ['mlp.gate_proj', 'mlp.up_proj']],
  ['down', ['mlp.down_proj']],
];

/** The settings of a model that is to hold this adapter. */
export function loraSettings({ rank, alpha }: Pick<LoraAdapter, 'rank' | 'alpha'>): LoraSettings {
  const padded = Math.ceil(rank / 4) * 4;
  return { rank: padded, alpha: (alpha * padded) / rank };
}

/**
 * Named weights for a model with `loraSettings(adapter)`. Modules the adapter lacks become zero: they add nothing, and
 * training leaves them so. Throws `adapter-mismatch`, `bad-adapter`.
 */
export function adapterToEngine(
  adapter: LoraAdapter,
  config: DecoderConfig,
  baseHash?: string,
): Map<string, Float32Array> {
  checkAdapterFits(adapter, config, baseHash);
  const { rank, modules } = adapter;
  const padded = loraSettings(adapter).rank;
  const weights = new Map<string, Float32Array>();
  for (let layer = 0; layer < config.layers; layer++) {
    for (const [engine, parts] of STACKS) {
      const shapes = parts.map((part) => projectionShape(config, part));
      const columns = parts.length * padded;
      const { inputs } = shapes[0];
      const a = new Float32Array(columns * inputs);
      const b = new Float32Array(shapes.reduce((sum, shape) => sum + shape.outputs, 0) * columns);
      let row = 0;
      parts.forEach((part, p) => {
        const module = modules.get(moduleName(layer, part));
        if (module) {
          a.set(module.a, p * padded * inputs);
          for (let o = 0; o < shapes[p].outputs; o++)
            b.set(module.b.subarray(o * rank, (o + 1) * rank), (row + o) * columns + p * padded);
        }
        row += shapes[p].outputs;
      });
      weights.set(`layer.${layer}.${engine}.lora_A`, a);
      weights.set(`layer.${layer}.${engine}.lora_B`, b);
    }
  }
  return weights;
}

/** The engine's adapter weights (or their gradients), taken apart. `settings` are the model's. Throws `missing-tensor`. */
export function adapterFromEngine(
  weights: ReadonlyMap<string, Float32Array>,
  config: DecoderConfig,
  settings: LoraSettings,
  { baseModel, baseHash }: Pick<LoraAdapter, 'baseModel' | 'baseHash'>,
): LoraAdapter {
  const { rank, alpha } = settings;
  const adapter: LoraAdapter = { rank, alpha, modules: new Map(), baseModel, ...(baseHash ? { baseHash } : {}) };
  for (let layer = 0; layer < config.layers; layer++) {
    for (const [engine, parts] of STACKS) {
      const [a, b] = ['A', 'B'].map((half) => weight(weights, `layer.${layer}.${engine}.lora_${half}`));
      const columns = parts.length * rank;
      let row = 0;
      parts.forEach((part, p) => {
        const { outputs, inputs } = projectionShape(config, part);
        const own = new Float32Array(outputs * rank);
        for (let o = 0; o < outputs; o++) {
          const first = (row + o) * columns + p * rank;
          own.set(b.subarray(first, first + rank), o * rank);
        }
        row += outputs;
        adapter.modules.set(moduleName(layer, part), {
          a: a.slice(p * rank * inputs, (p + 1) * rank * inputs),
          b: own,
        });
      });
    }
  }
  return adapter;
}

function weight(weights: ReadonlyMap<string, Float32Array>, name: string): Float32Array {
  const data = weights.get(name);
  if (data) return data;
  throw new DreamError(
    'missing-tensor',
    `The state lacks "${name}".`,
    'Train the model with a LoRA before exporting one.',
  );
}
