/** @file GGUF LoRA: names, dimensions and row order as llama.cpp's converter makes them; damage is refused. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DreamError } from '../../../src/data/errors';
import { PROJECTIONS } from '../../../src/models/adapters/adapter';
import { readGgufLora, writeGgufLora } from '../../../src/models/adapters/gguf-lora';
import { permuteRows } from '../../../src/models/adapters/gguf-names';
import { writeGguf } from '../../../src/models/adapters/gguf-writer';
import { readHead, readTensorList } from '../../../src/models/gguf/header';
import { HeaderReader } from '../../../src/models/gguf/header-reader';
import { config, type Made, madeAdapter } from './made';

async function code(action: () => unknown): Promise<string> {
  try {
    await action();
  } catch (error) {
    return error instanceof DreamError ? error.code : `untyped: ${error}`;
  }
  return 'no error';
}

describe('the GGUF LoRA', () => {
  it('has the metadata, names and dimensions that llama.cpp looks for', async () => {
    const bytes = writeGgufLora(madeAdapter({ alpha: 16 }), 'LlamaForCausalLM', config);
    const reader = new HeaderReader({
      name: 'test',
      size: bytes.length,
      read: async (offset, length) => bytes.slice(offset, offset + length),
    });
    const { metadata, tensorCount } = await readHead(reader);
    expect(metadata.string('general.type')).toBe('adapter');
    expect(metadata.string('general.architecture')).toBe('llama');
    expect(metadata.string('adapter.type')).toBe('lora');
    expect(metadata.number('adapter.lora.alpha')).toBe(16);
    expect(metadata.string('general.base_model.0.name')).toBe('someone/some-model');
    const tensors = await readTensorList(reader, metadata, tensorCount);
    expect(tensors.size).toBe(2 * 7 * 2);
    expect(tensors.get('blk.0.attn_q.weight.lora_a')).toMatchObject({ rows: 4, columns: 24 });
    expect(tensors.get('blk.0.attn_q.weight.lora_b')).toMatchObject({ rows: 32, columns: 4 });
    expect(tensors.get('blk.1.ffn_down.weight.lora_a')).toMatchObject({ rows: 4, columns: 40 });
    const at = tensors.get('blk.1.ffn_down.weight.lora_b')!.offset;
    expect(at % 32).toBe(0);
    const values = new Float32Array(bytes.slice(at, at + 24 * 4 * 4).buffer);
    expect(values).toEqual(madeAdapter().modules.get('model.layers.1.mlp.down_proj')!.b);
  });

  it('orders rows as reshape(heads, 2, headDim / 2).swapaxes(1, 2) does', () => {
    // Two heads of 8, one column, row r holds r.
    const rows = Float32Array.from({ length: 16 }, (_, r) => r);
    const expected = [0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15];
    expect([...permuteRows(rows, 1, 8, 'to-gguf')]).toEqual(expected);
    expect(permuteRows(Float32Array.from(expected), 1, 8, 'from-gguf')).toEqual(rows);
  });

  it('comes back as it was, for every architecture', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('llama', 'LlamaForCausalLM', 'smollm3', 'qwen2', 'Qwen3ForCausalLM'),
        fc.integer({ min: 1, max: 9 }),
        fc.subarray([...PROJECTIONS], { minLength: 1 }),
        async (architecture, rank, projections) => {
          const adapter = madeAdapter({ rank, projections });
          const read = await readGgufLora(writeGgufLora(adapter, architecture, config), config, 'abc123');
          expect(read.adapter).toEqual(adapter);
        },
      ),
      { numRuns: 30 },
    );
  });

  it('permutes queries and keys for llama only', () => {
    const tail = (made: Made) => {
      const [l, q] = ['llama', 'qwen2'].map((arch) => writeGgufLora(madeAdapter(made), arch, config).slice(-256));
      return Buffer.compare(l, q) === 0;
    };
    expect(tail({ projections: ['self_attn.q_proj'] })).toBe(false);
    expect(tail({ projections: ['self_attn.k_proj'] })).toBe(false);
    expect(tail({ projections: ['self_attn.v_proj'] })).toBe(true);
    expect(tail({ projections: ['self_attn.o_proj'] })).toBe(true);
  });
});

describe('what a GGUF LoRA may not be', () => {
  const bytes = writeGgufLora(madeAdapter({ layers: [0], projections: ['self_attn.k_proj'] }), 'llama', config);
  const pair = (key: string, string: string) => ({ key, string });
  const lora = [
    pair('general.architecture', 'llama'),
    pair('general.type', 'adapter'),
    pair('adapter.type', 'lora'),
    { key: 'adapter.lora.alpha', f32: 8 },
  ];
  const tensor = (name: string, rows: number, columns: number) => ({
    name,
    rows,
    columns,
    values: new Float32Array(rows * columns).fill(1),
  });

  it('is for an architecture or a base it does not fit', async () => {
    expect(await code(() => writeGgufLora(madeAdapter(), 'GPT2LMHeadModel', config))).toBe('unsupported-architecture');
    expect(await code(() => writeGgufLora(madeAdapter(), 'llama', { ...config, ffn: 44 }))).toBe('adapter-mismatch');
    expect(await code(() => readGgufLora(bytes, { ...config, headDim: 16 }))).toBe('adapter-mismatch');
    expect(await code(() => readGgufLora(bytes, { ...config, kvHeads: 1 }))).toBe('adapter-mismatch');
    expect(await code(() => readGgufLora(bytes, config, 'other weights'))).toBe('adapter-mismatch');
  });

  it('is a model, another adapter, or half of one', async () => {
    const model = writeGguf([pair('general.architecture', 'llama')], [tensor('output_norm.weight', 1, 24)]);
    expect(await code(() => readGgufLora(model, config))).toBe('bad-adapter');
    const empty = writeGguf(lora, []);
    expect(await code(() => readGgufLora(empty, config))).toBe('bad-adapter');
    const half = writeGguf(lora, [tensor('blk.0.attn_v.weight.lora_a', 4, 24)]);
    expect(await code(() => readGgufLora(half, config))).toBe('bad-adapter');
    const noAlpha = writeGguf(lora.slice(0, 3), [
      tensor('blk.0.attn_v.weight.lora_a', 4, 24),
      tensor('blk.0.attn_v.weight.lora_b', 16, 4),
    ]);
    expect(await code(() => readGgufLora(noAlpha, config))).toBe('bad-adapter');
  });

  it('has tensors of other names, ranks, or values that are not finite', async () => {
    const head = writeGguf(lora, [tensor('output.weight.lora_a', 4, 24)]);
    expect(await code(() => readGgufLora(head, config))).toBe('adapter-mismatch');
    const ranks = writeGguf(lora, [
      tensor('blk.0.attn_v.weight.lora_a', 4, 24),
      tensor('blk.0.attn_v.weight.lora_b', 16, 8),
    ]);
    expect(await code(() => readGgufLora(ranks, config))).toBe('adapter-mismatch');
    const infinite = tensor('blk.0.attn_v.weight.lora_b', 16, 4);
    infinite.values[3] = Number.POSITIVE_INFINITY;
    const diverged = writeGguf(lora, [tensor('blk.0.attn_v.weight.lora_a', 4, 24), infinite]);
    expect(await code(() => readGgufLora(diverged, config))).toBe('bad-adapter');
  });

  it('is damaged anywhere: only typed errors', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(600), fc.nat(255)), { maxLength: 6 }),
        fc.option(fc.nat(bytes.length)),
        async (flips, cut) => {
          const copy = bytes.slice(0, cut ?? bytes.length);
          for (const [at, value] of flips) if (at < copy.length) copy[at] = value;
          const outcome = await code(() => readGgufLora(copy, config));
          expect(['no error', 'bad-adapter', 'adapter-mismatch']).toContain(outcome);
        },
      ),
      { numRuns: 400 },
    );
  });
});
