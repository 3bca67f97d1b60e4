import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DreamError } from '../../src/data/errors';
import { configFromHuggingFace, expectedTensors, type Json } from '../../src/models/families';
import { floatToHalf } from '../../src/models/half';
import { dequantiseRows, quantiseRows } from '../../src/models/quantise';
import { writeSafetensors } from '../../src/models/safetensors';
import { openSafetensors, type SafetensorsFiles } from '../../src/models/safetensors-source';
import type { Rows } from '../../src/models/weights';
import { memoryFile } from './memory-file';

const CONFIG: Json = {
  architectures: ['Qwen2ForCausalLM'],
  hidden_act: 'silu',
  hidden_size: 32,
  intermediate_size: 64,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  vocab_size: 64,
  max_position_embeddings: 128,
  rms_norm_eps: 1e-6,
  tie_word_embeddings: true,
};

type Tensors = Map<string, { shape: number[]; data: Float32Array }>;

/** Values that f32, f16 and bf16 all hold exactly: three significant bits. */
function weights(config: Json = CONFIG): Tensors {
  let state = 1;
  const next = (): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return ((state >>> 28) - 8) * 2 ** -((state >>> 20) & 7);
  };
  return new Map(
    expectedTensors(configFromHuggingFace(config, 'test'))
      .filter(({ required }) => required)
      .map(({ name, rows, columns }) => {
        const shape = /norm|bias/.test(name) ? [columns] : [rows, columns];
        return [name, { shape, data: Float32Array.from({ length: rows * columns }, next) }];
      }),
  );
}

/** The same file with every value in 16 bits. */
function narrow(tensors: Tensors, dtype: 'F16' | 'BF16'): Uint8Array {
  const header: Record<string, unknown> = { __metadata__: { format: 'pt' } };
  const parts: Uint8Array[] = [];
  let offset = 0;
  for (const [name, { shape, data }] of tensors) {
    const bits = Uint16Array.from(data, (v) =>
      dtype === 'F16' ? floatToHalf(v) : new Uint32Array(Float32Array.of(v).buffer)[0] >>> 16,
    );
    header[name] = { dtype, shape, data_offsets: [offset, offset + bits.byteLength] };
    parts.push(new Uint8Array(bits.buffer));
    offset += bits.byteLength;
  }
  return assemble(header, Buffer.concat(parts));
}

function assemble(header: unknown, data: Uint8Array): Uint8Array {
  const head = new TextEncoder().encode(typeof header === 'string' ? header : JSON.stringify(header));
  const length = new Uint8Array(8);
  new DataView(length.buffer).setBigUint64(0, BigInt(head.length), true);
  return new Uint8Array(Buffer.concat([length, head, data]));
}

const one = (bytes: Uint8Array, more: Partial<SafetensorsFiles> = {}): SafetensorsFiles => ({
  config: CONFIG,
  weights: new Map([['model.safetensors', memoryFile('model.safetensors', bytes)]]),
  ...more,
});

async function failure(files: SafetensorsFiles): Promise<string> {
  try {
    await openSafetensors(files);
  } catch (error) {
    expect(error).toBeInstanceOf(DreamError);
    return `${(error as DreamError).code}: ${(error as DreamError).message}`;
  }
  return 'opened';
}

/** Bit for bit; comparing element by element inside `expect` takes seconds. */
const isSame = (rows: Rows, data: Float32Array): boolean =>
  rows.form === 'f32' &&
  Buffer.from(rows.values.buffer, rows.values.byteOffset, rows.values.byteLength).equals(new Uint8Array(data.buffer));

const Q = 'model.layers.1.self_attn.q_proj.weight';

describe('a model in safetensors', () => {
  const tensors = weights();

  it.each(['F32', 'F16', 'BF16'] as const)('gives rows of %s as floats and quantised', async (dtype) => {
    const bytes = dtype === 'F32' ? writeSafetensors(tensors) : narrow(tensors, dtype);
    const source = await openSafetensors(one(bytes));
    expect(source.architecture).toBe('Qwen2ForCausalLM');
    expect(source.config.attentionBias).toBe(true);
    for (const [name, { data }] of tensors) {
      const info = source.tensors.get(name)!;
      expect(info).toMatchObject({ stored: dtype, form: 'f32', bytes: data.length * (dtype === 'F32' ? 4 : 2) });
      const rows = await source.read(name, 0, info.rows, 'f32', 'single');
      expect(isSame(rows, data)).toBe(true);
    }
    const part = tensors.get(Q)!.data.subarray(3 * 32, 8 * 32);
    for (const form of ['q4', 'q8'] as const) {
      const rows = await source.read(Q, 3, 5, form, 'half');
      expect(rows).toEqual(quantiseRows(part, 32, form, 'half'));
      const back = dequantiseRows(rows, 32);
      const worst = Math.max(...back.map((v, i) => Math.abs(v - part[i])));
      expect(worst).toBeLessThan(form === 'q4' ? 0.55 : 0.035); // half a step of a range of 16
    }
    source.close();
  });

  it('reads no more than the header to open, and only the rows asked for', async () => {
    const file = memoryFile('model.safetensors', writeSafetensors(tensors));
    const source = await openSafetensors({ config: CONFIG, weights: new Map([[file.name, file]]) });
    const header = file.reads.reduce((sum, { length }) => sum + length, 0);
    expect(header).toBeLessThan(file.size - source.tensors.get(Q)!.bytes);
    expect(file.reads.length).toBe(2);
    await source.read(Q, 2, 3, 'q8', 'half');
    expect(file.reads.at(-1)!.length).toBe(3 * 32 * 4);
  });

  it('hands on the tokenizer, or says that there is none', async () => {
    const bytes = writeSafetensors(tensors);
    expect(await (await openSafetensors(one(bytes))).tokenizer()).toBeNull();
    const tokenizer = { model: {} };
    expect(await (await openSafetensors(one(bytes, { tokenizer }))).tokenizer()).toEqual({
      tokenizer,
      tokenizerConfig: {},
    });
  });

  it('joins shards by their index', async () => {
    const shards = new Map<string, Tensors>([
      ['model-00001-of-00002.safetensors', new Map([...tensors].slice(0, 9))],
      ['model-00002-of-00002.safetensors', new Map([...tensors].slice(9))],
    ]);
    const index = {
      weight_map: Object.fromEntries([...shards].flatMap(([file, part]) => [...part.keys()].map((n) => [n, file]))),
    };
    const files = new Map([...shards].map(([name, part]) => [name, memoryFile(name, writeSafetensors(part))]));
    const source = await openSafetensors({ config: CONFIG, index, weights: files, label: 'owner/model' });
    expect(source.label).toBe('owner/model');
    for (const [name, { data }] of tensors) {
      const { rows } = source.tensors.get(name)!;
      expect(isSame(await source.read(name, 0, rows, 'f32', 'single'), data)).toBe(true);
    }
    const lacking = new Map([...files].slice(0, 1));
    expect(await failure({ config: CONFIG, index, weights: lacking })).toMatch(/^missing-file.*00002-of-00002/);
    const wrong = { weight_map: { ...index.weight_map, [Q]: 'model-00001-of-00002.safetensors' } };
    expect(await failure({ config: CONFIG, index: wrong, weights: files })).toMatch(/^missing-tensor.*q_proj/);
    expect(await failure({ config: CONFIG, index: {}, weights: files })).toMatch(/^bad-safetensors.*weight_map/);
    const twice = new Map([...files, ['again', files.get('model-00001-of-00002.safetensors')!]]);
    expect(await failure({ config: CONFIG, weights: twice })).toMatch(/^bad-safetensors.*is in both/);
  });

  it('keeps a head of its own, and ignores a copy of a tied one', async () => {
    const config = { ...CONFIG, tie_word_embeddings: false };
    const whole = writeSafetensors(weights(config));
    expect((await openSafetensors(one(whole, { config }))).tensors.get('lm_head.weight')?.rows).toBe(64);
    expect((await openSafetensors(one(whole))).tensors.has('lm_head.weight')).toBe(false);
    expect(await failure(one(writeSafetensors(tensors), { config }))).toMatch(/^missing-tensor.*lm_head/);
  });
});

describe('damaged or foreign safetensors', () => {
  const tensors = weights();
  const good = writeSafetensors(tensors);
  const changed = (name: string, change: (t: { shape: number[]; data: Float32Array }) => void): Uint8Array => {
    const copy: Tensors = new Map([...tensors].map(([n, t]) => [n, { shape: [...t.shape], data: t.data.slice() }]));
    change(copy.get(name)!);
    return writeSafetensors(copy);
  };
  const header = (entry: unknown): Uint8Array => assemble({ x: entry }, new Uint8Array(64));

  it.each([
    ['too short', new Uint8Array(5), /^bad-safetensors: model.safetensors: the file is too short/],
    ['cut off in the data', good.subarray(0, good.length - 4), /^bad-safetensors.*does not fit/],
    ['cut off in the header', good.subarray(0, 100), /^bad-safetensors.*longer than the file/],
    ['an absurd header length', new Uint8Array(64).fill(255), /^bad-safetensors.*longer/],
    ['no JSON', assemble('{"x": ', new Uint8Array(8)), /^bad-safetensors.*not JSON/],
    ['a list', assemble('[]', new Uint8Array(8)), /^bad-safetensors.*not an object/],
    ['an unknown type', header({ dtype: 'Q9', shape: [1], data_offsets: [0, 1] }), /^bad-safetensors.*"x".*"Q9"/],
    ['a negative size', header({ dtype: 'F32', shape: [-1], data_offsets: [0, 4] }), /^bad-safetensors.*shape/],
    ['too large a shape', header({ dtype: 'F32', shape: [1e9, 1e9], data_offsets: [0, 4] }), /^bad-saf.*not fit/],
    ['backward offsets', header({ dtype: 'F32', shape: [0], data_offsets: [8, 4] }), /^bad-safetensors.*not fit/],
    [
      'overlap',
      assemble(
        {
          x: { dtype: 'F32', shape: [4], data_offsets: [0, 16] },
          y: { dtype: 'F32', shape: [4], data_offsets: [12, 28] },
        },
        new Uint8Array(64),
      ),
      /^bad-safetensors.*"x" and "y" overlap/,
    ],
    [
      'a missing tensor',
      writeSafetensors(new Map([...tensors].filter(([name]) => name !== Q))),
      /^missing-tensor: model.safetensors lacks the tensor "model.layers.1.self_attn.q_proj.weight"/,
    ],
    [
      'a wrong shape',
      changed(Q, (t) => {
        t.shape.reverse();
        t.shape[0] = 16;
        t.shape[1] = 64;
      }),
      /^wrong-shape.*q_proj.weight" is \[16, 64\]/,
    ],
    [
      'integers',
      assemble(
        { 'model.embed_tokens.weight': { dtype: 'U8', shape: [64, 32], data_offsets: [0, 2048] } },
        new Uint8Array(2048),
      ),
      /^unsupported-quantisation.*embed_tokens.*U8/,
    ],
  ] as [string, Uint8Array, RegExp][])('refuses %s', async (_what, bytes, message) => {
    expect(await failure(one(bytes))).toMatch(message);
  });

  it('refuses quantised checkpoints and unknown architectures before any read', async () => {
    const file = memoryFile('model.safetensors', good);
    const weights = new Map([[file.name, file]]);
    const gptq = { ...CONFIG, quantization_config: { quant_method: 'gptq' } };
    expect(await failure({ config: gptq, weights })).toMatch(/^unsupported-quantisation/);
    const mamba = { ...CONFIG, architectures: ['MambaForCausalLM'] };
    expect(await failure({ config: mamba, weights })).toMatch(/^unsupported-architecture.*Mamba/);
    expect(file.reads).toEqual([]);
  });

  it('names the tensor that holds no number, in every form', async () => {
    const bytes = changed(Q, (t) => {
      t.data[70] = Number.NaN;
    });
    const source = await openSafetensors(one(bytes));
    for (const form of ['f32', 'q4', 'q8'] as const) {
      await expect(source.read(Q, 0, 32, form, 'half')).rejects.toMatchObject({ code: 'bad-weights' });
      await expect(source.read(Q, 0, 32, form, 'half')).rejects.toThrow(/q_proj.weight" in model.safetensors/);
    }
  });

  it('throws only typed errors for mutated files, and reads nothing beyond them', async () => {
    const headerBytes = 8 + Number(new DataView(good.buffer).getBigUint64(0, true));
    const edits = fc.array(fc.tuple(fc.nat(headerBytes - 1), fc.nat(255)), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(edits, fc.nat(good.length), fc.boolean(), async (changes, length, cut) => {
        const bytes = good.slice(0, cut ? length : good.length);
        for (const [at, value] of changes) if (at < bytes.length) bytes[at] = value;
        const file = memoryFile('model.safetensors', bytes);
        await failure({ config: CONFIG, weights: new Map([[file.name, file]]) });
        for (const read of file.reads) expect(read.offset + read.length).toBeLessThanOrEqual(bytes.length);
      }),
      { numRuns: 300 },
    );
  });
});
