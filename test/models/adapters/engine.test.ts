/** @file Adapters to the engine's stacked weights and back: the same products, padded ranks included. */
import { describe, expect, it } from 'vitest';
import { adapterFromEngine, adapterToEngine, loraSettings } from '../../../src/models/adapters/engine';
import { config, madeAdapter, product } from './made';

describe('an adapter in the engine', () => {
  it('comes back as it was', () => {
    const adapter = madeAdapter({ rank: 8, alpha: 16 });
    const settings = loraSettings(adapter);
    expect(settings).toEqual({ rank: 8, alpha: 16 });
    expect(adapterFromEngine(adapterToEngine(adapter, config), config, settings, adapter)).toEqual(adapter);
  });

  it('stacks A and makes B block-diagonal', () => {
    const weights = adapterToEngine(madeAdapter({ rank: 4 }), config);
    const a = weights.get('layer.1.qkv.lora_A')!;
    const b = weights.get('layer.1.qkv.lora_B')!;
    const { modules } = madeAdapter({ rank: 4 });
    expect(a).toHaveLength(3 * 4 * 24);
    expect(b).toHaveLength((32 + 16 + 16) * 12);
    const k = modules.get('model.layers.1.self_attn.k_proj')!;
    expect(a.slice(4 * 24, 8 * 24)).toEqual(k.a);
    const firstRowOfK = b.slice(32 * 12, 33 * 12);
    expect([...firstRowOfK]).toEqual([0, 0, 0, 0, ...k.b.slice(0, 4), 0, 0, 0, 0]);
  });

  it('pads other ranks without changing the product, and leaves what it lacks at zero', () => {
    const adapter = madeAdapter({ rank: 6, alpha: 3, projections: ['self_attn.k_proj', 'mlp.up_proj'], layers: [1] });
    const settings = loraSettings(adapter);
    expect(settings).toEqual({ rank: 8, alpha: 4 });
    const read = adapterFromEngine(adapterToEngine(adapter, config), config, settings, adapter);
    expect(read.modules.size).toBe(14);
    for (const name of read.modules.keys()) {
      const own = product(read, name);
      if (adapter.modules.has(name)) {
        const expected = product(adapter, name);
        own.forEach((value, i) => {
          expect(value).toBeCloseTo(expected[i], 12);
        });
      } else expect(own.every((value) => value === 0)).toBe(true);
    }
  });

  it('names a weight that is missing', () => {
    const weights = adapterToEngine(madeAdapter(), config);
    weights.delete('layer.0.down.lora_B');
    expect(() => adapterFromEngine(weights, config, { rank: 4, alpha: 8 }, { baseModel: '' })).toThrow(
      /layer\.0\.down\.lora_B/,
    );
  });
});
