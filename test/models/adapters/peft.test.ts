/** @file PEFT folder and zip: what is written comes back, what is damaged or foreign is refused by a typed error. */
import fc from 'fast-check';
import { zipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import { DreamError } from '../../../src/data/errors';
import { type LoraAdapter, PROJECTIONS } from '../../../src/models/adapters/adapter';
import { CARD_FILE, CONFIG_FILE, readPeft, WEIGHTS_FILE, writePeft } from '../../../src/models/adapters/peft';
import { readPeftZip, zipPeft } from '../../../src/models/adapters/peft-zip';
import { floatToHalf } from '../../../src/models/half';
import { readSafetensors, writeSafetensors } from '../../../src/models/safetensors';
import { config, madeAdapter } from './made';

const text = (bytes: Uint8Array | undefined): string => new TextDecoder().decode(bytes);
const bytes = (content: string): Uint8Array => new TextEncoder().encode(content);

function code(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    return error instanceof DreamError ? error.code : `untyped: ${error}`;
  }
  return 'no error';
}

/** The folder with its config changed. */
function withSettings(change: Record<string, unknown>): Map<string, Uint8Array> {
  const files = writePeft(madeAdapter());
  const settings = JSON.parse(text(files.get(CONFIG_FILE)));
  return files.set(CONFIG_FILE, bytes(JSON.stringify({ ...settings, ...change })));
}

/** The folder with its tensors changed. */
function withTensors(
  change: (tensors: Map<string, { shape: number[]; data: Float32Array }>) => void,
  adapter = madeAdapter(),
): Map<string, Uint8Array> {
  const files = writePeft(adapter);
  const { tensors } = readSafetensors(files.get(WEIGHTS_FILE)!);
  change(tensors);
  return files.set(WEIGHTS_FILE, writeSafetensors(tensors));
}

const Q0 = 'base_model.model.model.layers.0.self_attn.q_proj';

describe('the PEFT folder', () => {
  it('has the names, shapes and settings that peft expects', () => {
    const files = writePeft(madeAdapter());
    expect([...files.keys()]).toEqual([CONFIG_FILE, WEIGHTS_FILE, CARD_FILE]);
    expect(JSON.parse(text(files.get(CONFIG_FILE)))).toMatchObject({
      peft_type: 'LORA',
      task_type: 'CAUSAL_LM',
      r: 4,
      lora_alpha: 8,
      base_model_name_or_path: 'someone/some-model',
      target_modules: ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'gate_proj', 'up_proj', 'down_proj'],
    });
    const { tensors, metadata } = readSafetensors(files.get(WEIGHTS_FILE)!);
    expect(tensors.size).toBe(2 * 7 * 2);
    expect(tensors.get(`${Q0}.lora_A.weight`)?.shape).toEqual([4, 24]);
    expect(tensors.get(`${Q0}.lora_B.weight`)?.shape).toEqual([32, 4]);
    expect(metadata).toEqual({ format: 'pt', base_hash: 'abc123' });
  });

  it('names modules in full when not every layer has the same', () => {
    const files = writePeft(madeAdapter({ layers: [1], projections: ['mlp.up_proj'] }));
    expect(JSON.parse(text(files.get(CONFIG_FILE))).target_modules).toEqual(['model.layers.1.mlp.up_proj']);
  });

  it('comes back as it was, whatever was adapted', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 9 }),
        fc.double({ min: 0.001, max: 1e4, noNaN: true }),
        fc.subarray([...PROJECTIONS], { minLength: 1 }),
        fc.subarray([0, 1], { minLength: 1 }),
        (rank, alpha, projections, layers) => {
          const adapter = madeAdapter({ rank, alpha, projections, layers });
          expect(readPeft(writePeft(adapter), config, 'abc123')).toEqual(adapter);
        },
      ),
      { numRuns: 30 },
    );
  });

  it('comes back from its zip, also when the folder itself was zipped', () => {
    const adapter = madeAdapter();
    expect(readPeftZip(zipPeft(adapter), config)).toEqual(adapter);
    const nested = zipSync(Object.fromEntries([...writePeft(adapter)].map(([name, data]) => [`my/run/${name}`, data])));
    expect(readPeftZip(nested, config)).toEqual(adapter);
  });

  it('reads halves, bfloats and the keys older peft wrote', () => {
    const adapter = madeAdapter({ projections: ['self_attn.q_proj'], layers: [0] });
    const header: Record<string, unknown> = {};
    const words: number[] = [];
    const module = adapter.modules.get('model.layers.0.self_attn.q_proj')!;
    const single = new Uint32Array(1);
    const add = (name: string, dtype: string, shape: number[], values: Float32Array): void => {
      const first = words.length * 2;
      for (const value of values) {
        new Float32Array(single.buffer)[0] = value;
        words.push(dtype === 'F16' ? floatToHalf(value) : single[0] >>> 16);
      }
      header[name] = { dtype, shape, data_offsets: [first, words.length * 2] };
    };
    add(`${Q0}.lora_A.default.weight`, 'F16', [4, 24], module.a);
    add(`${Q0}.lora_B.weight`, 'BF16', [32, 4], module.b);
    const json = bytes(JSON.stringify(header));
    const file = new Uint8Array(8 + json.length + words.length * 2);
    new DataView(file.buffer).setBigUint64(0, BigInt(json.length), true);
    file.set(json, 8);
    file.set(new Uint8Array(Uint16Array.from(words).buffer), 8 + json.length);
    const read = readPeft(writePeft(adapter).set(WEIGHTS_FILE, file), config).modules.get(
      'model.layers.0.self_attn.q_proj',
    )!;
    for (let i = 0; i < read.a.length; i++)
      expect(Math.abs(read.a[i] - module.a[i])).toBeLessThanOrEqual(Math.abs(module.a[i]) / 1024 + 1e-6);
    for (let i = 0; i < read.b.length; i++)
      expect(Math.abs(read.b[i] - module.b[i])).toBeLessThanOrEqual(Math.abs(module.b[i]) / 128);
  });

  it('reads rank-stabilised LoRA as the same product', () => {
    expect(readPeft(withSettings({ use_rslora: true })).alpha).toBe(8 * Math.sqrt(4));
  });

  it('describes itself without trusting a name', () => {
    const adapter: LoraAdapter = { ...madeAdapter(), baseModel: 'x`\n---\n<script>|' };
    const card = text(writePeft(adapter, { facts: [['seed', 7]] }).get(CARD_FILE));
    expect(card).toContain('| seed | 7 |');
    expect(card).not.toContain('<script>');
    expect(card.split('\n').filter((line) => line === '---')).toHaveLength(2);
    expect(card).not.toContain('base_model:');
    expect(text(writePeft(madeAdapter()).get(CARD_FILE))).toContain('base_model: someone/some-model\n');
  });
});

describe('what a PEFT folder may not be', () => {
  it('lacks a file, or is none', () => {
    for (const name of [CONFIG_FILE, WEIGHTS_FILE]) {
      const files = writePeft(madeAdapter());
      files.delete(name);
      expect(code(() => readPeft(files))).toBe('bad-adapter');
    }
    expect(code(() => readPeftZip(bytes('not a zip')))).toBe('bad-adapter');
    expect(code(() => readPeft(withSettings({ peft_type: 'IA3' })))).toBe('bad-adapter');
  });

  it('asks for what the engine does not compute', () => {
    for (const change of [
      { use_dora: true },
      { bias: 'all' },
      { modules_to_save: ['lm_head'] },
      { rank_pattern: { q_proj: 8 } },
      { alpha_pattern: { q_proj: 8 } },
      { fan_in_fan_out: true },
      { lora_bias: true },
      { r: 0 },
      { r: 1e9 },
      { lora_alpha: 0 },
      { lora_alpha: 'x' },
    ])
      expect(code(() => readPeft(withSettings(change)))).toBe('bad-adapter');
  });

  it('holds half a module, or values that are not finite', () => {
    expect(code(() => readPeft(withTensors((t) => t.delete(`${Q0}.lora_B.weight`))))).toBe('bad-adapter');
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY]) {
      const files = withTensors((t) => {
        t.get(`${Q0}.lora_A.weight`)!.data[5] = value;
      });
      expect(code(() => readPeft(files))).toBe('bad-adapter');
    }
    const diverged = madeAdapter();
    diverged.modules.get('model.layers.0.self_attn.q_proj')!.b[0] = Number.NaN;
    expect(code(() => writePeft(diverged))).toBe('bad-adapter');
  });

  it('is of another rank than it says, or changes other layers', () => {
    expect(code(() => readPeft(withSettings({ r: 8 })))).toBe('adapter-mismatch');
    const foreign = withTensors((t) => t.set('base_model.model.lm_head.lora_embedding_A', t.values().next().value!));
    expect(code(() => readPeft(foreign))).toBe('adapter-mismatch');
    const unknown = madeAdapter();
    unknown.modules.set('model.layers.0.self_attn.qkv_proj', unknown.modules.values().next().value!);
    expect(code(() => readPeft(writePeft(unknown), config))).toBe('adapter-mismatch');
  });

  it('was made for another base', () => {
    const files = writePeft(madeAdapter());
    expect(code(() => readPeft(files, { ...config, layers: 1 }))).toBe('adapter-mismatch');
    expect(code(() => readPeft(files, { ...config, width: 32 }))).toBe('adapter-mismatch');
    expect(code(() => readPeft(files, { ...config, kvHeads: 4 }))).toBe('adapter-mismatch');
    expect(code(() => readPeft(files, config, 'other weights'))).toBe('adapter-mismatch');
  });

  it('is damaged anywhere: only typed errors', () => {
    const files = [...writePeft(madeAdapter({ layers: [0], projections: ['self_attn.k_proj', 'mlp.down_proj'] }))];
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 1 }),
        fc.array(fc.tuple(fc.nat(600), fc.nat(255)), { maxLength: 6 }),
        fc.option(fc.nat(2000)),
        (which, flips, cut) => {
          const changed = new Map(files);
          const [name, original] = files[which];
          const copy = original.slice(0, cut ?? original.length);
          for (const [at, value] of flips) if (at < copy.length) copy[at] = value;
          changed.set(name, copy);
          expect(['no error', 'bad-adapter', 'adapter-mismatch']).toContain(code(() => readPeft(changed, config)));
        },
      ),
      { numRuns: 400 },
    );
    const zip = zipPeft(madeAdapter({ layers: [0], projections: ['self_attn.v_proj'] }));
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(zip.length - 1), fc.nat(255)), { maxLength: 5 }), (flips) => {
        const copy = zip.slice();
        for (const [at, value] of flips) copy[at] = value;
        expect(['no error', 'bad-adapter', 'adapter-mismatch']).toContain(code(() => readPeftZip(copy, config)));
      }),
      { numRuns: 200 },
    );
  });
});
