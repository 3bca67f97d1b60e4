/** @file Random initial weights, the same for the same seed on every machine. */
import type { DecoderModel } from './decoder-model';

/** splitmix32: small, fast, and defined in 32-bit arithmetic, so it is the same everywhere. */
function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x9e3779b9) >>> 0;
    let z = state;
    z = Math.imul(z ^ (z >>> 16), 0x21f0aaad);
    z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
    return ((z ^ (z >>> 15)) >>> 0) / 4294967296;
  };
}

/**
 * Normal weights of standard deviation 0.02 (GPT-2), the projections that write into the residual stream scaled down by
 * sqrt(2 layers), norms 1, LoRA's B 0. `adapters`: only those, over a base that was loaded.
 */
export function initialise(model: DecoderModel, seed: number, only: 'all' | 'adapters' = 'all'): void {
  const weights = new Map<string, Float32Array>();
  const residual = 0.02 / Math.sqrt(2 * model.config.layers);
  model.named().forEach((p, index) => {
    if (only === 'adapters' && !/lora_[AB]$/.test(p.name)) return;
    const random = generator(seed + index * 7919);
    const data = new Float32Array(p.count);
    if (/norm\d?$/.test(p.name)) data.fill(1);
    else if (!/(bias|lora_B)$/.test(p.name)) {
      const std = /\.(out|down)$/.test(p.name)
        ? residual
        : p.name.startsWith('embed')
          ? 0.04
          : p.name.endsWith('lora_A')
            ? 1 / Math.sqrt(p.columns)
            : 0.05;
      for (let i = 0; i < data.length; i++) {
        data[i] = std * Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
      }
    }
    weights.set(p.name, data);
  });
  model.setWeights(weights);
}
