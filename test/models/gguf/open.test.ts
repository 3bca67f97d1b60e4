import { describe, expect, it } from 'vitest';
import { openGguf } from '../../../src/models/gguf';
import { dequantiseRows } from '../../../src/models/quantise';
import { dequantise, randomWeights } from './reference';
import { f32, type GgufParts, MemorySource, modelParts, text, tiny, u32, type Value, writeGguf } from './writer';

const open = (parts: GgufParts) => openGguf(new MemorySource(writeGguf(parts)));
const problem = (code: string, ...words: string[]) =>
  expect.objectContaining({
    code,
    message: expect.stringMatching(words.map((word) => `(?=.*${word})`).join('') || '.'),
  });

const floats = async (parts: GgufParts, name: string, first: number, count: number) => {
  const source = await open(parts);
  const rows = await source.read(name, first, count, 'f32', 'single');
  if (rows.form !== 'f32') throw new Error('not f32');
  return rows.values;
};

/** `toEqual` takes seconds over a large array. -0 counts as 0: ggml has -0 where the two-term form gives 0. */
function expectSame(actual: Float32Array, expected: Float32Array): void {
  expect(actual.length).toBe(expected.length);
  expect(actual.findIndex((value, i) => value !== expected[i])).toBe(-1);
}

/** Rows as llama.cpp's converter orders them: reshape(heads, 2, half, columns).swapaxes(1, 2). */
function interleaved(rows: Uint8Array[], headDim: number): Uint8Array[] {
  const half = headDim / 2;
  return rows.map((_, i) => {
    const within = i % headDim;
    return rows[i - within + (within % 2) * half + Math.floor(within / 2)];
  });
}

describe('config', () => {
  it('reads a llama', async () => {
    const source = await open(modelParts());
    expect(source.architecture).toBe('llama');
    expect(source.label).toBe('tiny.gguf');
    expect(source.config).toEqual({
      vocabSize: tiny.vocab,
      width: tiny.width,
      layers: tiny.layers,
      heads: tiny.heads,
      kvHeads: tiny.kvHeads,
      headDim: tiny.headDim,
      ffn: tiny.ffn,
      ropeTheta: 10000,
      normEps: Math.fround(1e-5),
      contextLength: 128,
    });
    expect(source.tensors.size).toBe(2 + 9 * tiny.layers);
    expect(source.tensors.get('model.layers.1.mlp.down_proj.weight')).toEqual({
      name: 'model.layers.1.mlp.down_proj.weight',
      rows: tiny.width,
      columns: tiny.ffn,
      stored: 'Q4_0',
      bytes: (tiny.width * tiny.ffn * 18) / 32,
      form: 'q4',
      scales: 'half',
    });
    expect(source.tensors.get('model.norm.weight')).toMatchObject({ rows: 1, columns: tiny.width, form: 'f32' });
    expect(await source.tokenizer()).toBeNull();
  });

  it('reads version 2', async () => {
    expect((await open({ ...modelParts(), version: 2 })).config.layers).toBe(tiny.layers);
  });

  it('knows what each family adds', async () => {
    const qwen2 = await open(modelParts({ architecture: 'qwen2', bias: true, untied: true }));
    expect(qwen2.config).toMatchObject({ attentionBias: true, untiedHead: true });
    expect(qwen2.tensors.has('model.layers.0.self_attn.q_proj.bias')).toBe(true);
    expect(qwen2.tensors.has('lm_head.weight')).toBe(true);
    const qwen3 = await open(
      modelParts({ architecture: 'qwen3', qkNorm: true, metadata: { 'qwen3.attention.key_length': u32(64) } }),
    );
    expect(qwen3.config.qkNorm).toBe(true);
    expect(qwen3.tensors.get('model.layers.1.self_attn.k_norm.weight')?.columns).toBe(tiny.headDim);
    const smollm3 = await open(modelParts({ architecture: 'smollm3', layers: 9 }));
    expect(smollm3.config.noRopeLayers).toEqual([3, 7]);
  });

  it("finds Llama 3's scaling in its divisors, and refuses any other", async () => {
    const metadata = { 'llama.rope.freq_base': f32(500000) };
    const scaling = { factor: 32, lowFreqFactor: 1, highFreqFactor: 4, originalContextLength: 8192 };
    // As convert_hf_to_gguf.py computes them.
    const divisors = Float32Array.from({ length: tiny.headDim / 2 }, (_, i) => {
      const frequency = 1 / 500000 ** ((2 * i) / tiny.headDim);
      const wavelength = (2 * Math.PI) / frequency;
      if (wavelength < 8192 / 4) return 1;
      if (wavelength > 8192) return 32;
      const smooth = (8192 / wavelength - 1) / (4 - 1);
      return 1 / ((1 - smooth) / 32 + smooth);
    });
    const withDivisors = (values: Float32Array) => {
      const parts = modelParts({ metadata });
      const bytes = new Uint8Array(values.slice().buffer);
      parts.tensors['rope_freqs.weight'] = { dimensions: [values.length], type: 'F32', bytes };
      return open(parts);
    };
    expect(divisors.some((d) => d > 1 && d < 32)).toBe(true);
    expect((await withDivisors(divisors)).config.ropeScaling).toEqual(scaling);
    expect((await withDivisors(divisors.map(() => 1))).config.ropeScaling).toBeUndefined();
    await expect(withDivisors(divisors.map((d, i) => (i === 9 ? 7 : d)))).rejects.toEqual(
      problem('unsupported-architecture'),
    );
    await expect(withDivisors(divisors.map((d) => d * Number.NaN))).rejects.toEqual(
      problem('bad-weights', 'rope_freqs'),
    );
    await expect(withDivisors(divisors.subarray(2))).rejects.toEqual(problem('wrong-shape', 'rope_freqs'));
  });
});

describe('rows', () => {
  it.each(['llama', 'smollm3'])("puts %s's query and key rows in the order of halves", async (architecture) => {
    for (const type of ['F16', 'Q4_1', 'Q6_K']) {
      const parts = modelParts({ architecture, type });
      const { heads, kvHeads, headDim, width } = tiny;
      for (const [letter, count] of [
        ['q', heads * headDim],
        ['k', kvHeads * headDim],
      ] as const) {
        const name = `blk.1.attn_${letter}.weight`;
        const rowBytes = parts.tensors[name].bytes.length / count;
        const ours = randomWeights(type, count * width, 99);
        const rows = Array.from({ length: count }, (_, i) => ours.slice(i * rowBytes, (i + 1) * rowBytes));
        for (const [i, row] of interleaved(rows, headDim).entries()) parts.tensors[name].bytes.set(row, i * rowBytes);
        const hf = `model.layers.1.self_attn.${letter}_proj.weight`;
        const whole = dequantise(type, ours);
        expectSame(await floats(parts, hf, 0, count), whole);
        // Rows that begin and end inside a head.
        const part = await floats(parts, hf, 37, 70);
        expectSame(part, whole.subarray(37 * width, 107 * width));
      }
    }
  });

  it("leaves qwen's rows and all other tensors as they are", async () => {
    for (const [architecture, name, gguf] of [
      ['qwen2', 'self_attn.q_proj.weight', 'attn_q.weight'],
      ['llama', 'self_attn.v_proj.weight', 'attn_v.weight'],
      ['llama', 'self_attn.o_proj.weight', 'attn_output.weight'],
    ]) {
      const parts = modelParts({ architecture, type: 'F16', bias: architecture === 'qwen2' });
      const all = dequantise('F16', parts.tensors[`blk.0.${gguf}`].bytes);
      expect(await floats(parts, `model.layers.0.${name}`, 5, 20)).toEqual(
        all.subarray(5 * tiny.width, 25 * tiny.width),
      );
    }
  });

  it("orders llama's biases as their rows", async () => {
    const parts = modelParts({ bias: true });
    const stored = dequantise('F32', parts.tensors['blk.0.attn_k.bias'].bytes);
    const ours = await floats(parts, 'model.layers.0.self_attn.k_proj.bias', 0, 1);
    for (const [row, at] of [
      [0, 0],
      [1, 2],
      [31, 62],
      [32, 1],
      [63, 63],
      [64, 64],
      [96, 65],
    ])
      expect(ours[row]).toBe(stored[at]);
    const qwen = modelParts({ architecture: 'qwen2', bias: true });
    const bias = dequantise('F32', qwen.tensors['blk.0.attn_k.bias'].bytes);
    expect(await floats(qwen, 'model.layers.0.self_attn.k_proj.bias', 0, 1)).toEqual(bias);
  });

  it('serves the quantised form with its values', async () => {
    const parts = modelParts({ type: 'Q5_K' });
    const source = await open(parts);
    const rows = await source.read('model.embed_tokens.weight', 2, 3, 'q8', 'single');
    const all = dequantise('Q5_K', parts.tensors['token_embd.weight'].bytes);
    expect(dequantiseRows(rows, tiny.width)).toEqual(all.subarray(2 * tiny.width, 5 * tiny.width));
  });

  it('refuses rows and tensors that are not there, and a closed file', async () => {
    const source = await open(modelParts());
    const name = 'model.embed_tokens.weight';
    await expect(source.read('model.nothing', 0, 1, 'f32', 'single')).rejects.toEqual(
      problem('missing-tensor', 'nothing'),
    );
    for (const [first, count] of [
      [0, 9],
      [-1, 2],
      [0.5, 1],
      [0, 0],
      [8, 1],
    ])
      await expect(source.read(name, first, count, 'f32', 'single')).rejects.toEqual(problem('wrong-shape', 'embed'));
    await expect(source.read('model.norm.weight', 0, 1, 'q4', 'half')).resolves.toMatchObject({ form: 'q4' });
    source.close();
    await expect(source.read(name, 0, 1, 'f32', 'single')).rejects.toEqual(problem('file-read'));
  });

  it('names the tensor with damaged weights', async () => {
    const parts = modelParts();
    parts.tensors['blk.1.ffn_up.weight'].bytes.set([0, 0x7c], 18 * 8 * 3);
    const source = await open(parts);
    const name = 'model.layers.1.mlp.up_proj.weight';
    await expect(source.read(name, 0, 8, 'q4', 'half')).rejects.toEqual(
      problem('bad-weights', 'tiny.gguf', 'blk.1.ffn_up'),
    );
    await expect(source.read(name, 0, 3, 'q4', 'half')).resolves.toMatchObject({ form: 'q4' });
  });
});

describe('refusals', () => {
  const withMetadata = (metadata: Record<string, Value>) => open(modelParts({ metadata }));

  it('names an architecture it does not compute, before looking at tensors', async () => {
    const parts = modelParts({ architecture: 'gemma3', type: 'Q4_0' });
    parts.typeIds = { 'token_embd.weight': 77 };
    await expect(open(parts)).rejects.toEqual(problem('unsupported-architecture', 'gemma3', 'tiny.gguf'));
    await expect(withMetadata({ 'llama.expert_count': u32(8) })).rejects.toEqual(
      problem('unsupported-architecture', 'experts'),
    );
    await expect(
      withMetadata({ 'llama.rope.scaling.type': text('yarn'), 'llama.rope.scaling.factor': f32(4) }),
    ).rejects.toEqual(problem('unsupported-architecture', 'yarn'));
    await expect(withMetadata({ 'llama.feed_forward_length': { type: 'i32s', value: [1, 2] } })).rejects.toEqual(
      problem('unsupported-architecture', 'feed_forward_length'),
    );
    await expect(withMetadata({ 'llama.rope.dimension_count': u32(32) })).rejects.toEqual(
      problem('unsupported-architecture', 'rope.dimension_count'),
    );
    const extra = modelParts();
    extra.tensors['blk.0.attn_output.bias'] = extra.tensors['output_norm.weight'];
    await expect(open(extra)).rejects.toEqual(problem('unsupported-architecture', 'attn_output.bias'));
  });

  it('names an unknown quantisation and its tensor', async () => {
    for (const [id, name] of [
      [10, 'Q2_K'],
      [20, 'IQ4_NL'],
      [999, '999'],
    ] as const) {
      const parts = { ...modelParts(), typeIds: { 'blk.1.ffn_up.weight': id } };
      await expect(open(parts)).rejects.toEqual(problem('unsupported-quantisation', name, 'blk.1.ffn_up', 'tiny.gguf'));
    }
  });

  it('names missing tensors, wrong shapes and absurd dimensions', async () => {
    const lacking = modelParts();
    delete lacking.tensors['blk.1.ffn_gate.weight'];
    await expect(open(lacking)).rejects.toEqual(problem('missing-tensor', 'blk.1.ffn_gate'));
    await expect(withMetadata({ 'llama.feed_forward_length': u32(512) })).rejects.toEqual(
      problem('wrong-shape', 'ffn_gate'),
    );
    await expect(withMetadata({ 'llama.block_count': u32(2 ** 31) })).rejects.toEqual(problem('missing-tensor'));
    for (const value of [{ type: 'i32', value: -1 }, f32(1.5), f32(Number.NaN), u32(0)] as Value[])
      await expect(withMetadata({ 'llama.block_count': value })).rejects.toEqual(
        problem('bad-model-config', 'tiny.gguf'),
      );
    await expect(withMetadata({ 'llama.attention.head_count': u32(3) })).rejects.toEqual(problem('bad-model-config'));
    await expect(withMetadata({ 'llama.rope.freq_base': f32(-1) })).rejects.toEqual(problem('bad-gguf', 'absurd'));
    await expect(withMetadata({ 'llama.context_length': text('long') })).rejects.toEqual(
      problem('bad-gguf', 'context_length'),
    );
  });

  it('names tensors that overlap, are not aligned, or leave the file', async () => {
    const at = (offsets: Record<string, number>) => open({ ...modelParts(), offsets });
    await expect(at({ 'blk.0.attn_k.weight': 0 })).rejects.toEqual(
      problem('bad-gguf', 'overlap', 'token_embd', 'attn_k'),
    );
    await expect(at({ 'blk.0.attn_k.weight': 4 })).rejects.toEqual(problem('bad-gguf', 'aligned', 'attn_k'));
    await expect(at({ 'output_norm.weight': 2 ** 40 })).rejects.toEqual(problem('bad-gguf', 'output_norm', 'end'));
    await expect(withMetadata({ 'general.alignment': u32(48) })).rejects.toEqual(problem('bad-gguf', 'alignment'));
    const odd = modelParts();
    odd.tensors['blk.0.ffn_up.weight'] = { dimensions: [100, 100], type: 'Q4_0', bytes: new Uint8Array(100) };
    await expect(open(odd)).rejects.toEqual(problem('bad-gguf', 'ffn_up', 'blocks'));
    for (const dimensions of [[0, 4], [], [2 ** 40, 2 ** 40], [1, 1, 1, 1, 1]]) {
      odd.tensors['blk.0.ffn_up.weight'] = { dimensions, type: 'F32', bytes: new Uint8Array(100) };
      await expect(open(odd)).rejects.toEqual(problem('bad-gguf', 'ffn_up'));
    }
  });

  it('tells other files from this format', async () => {
    const bytes = writeGguf(modelParts());
    const openBytes = (b: Uint8Array) => openGguf(new MemorySource(b));
    await expect(openBytes(new Uint8Array(0))).rejects.toEqual(problem('bad-gguf', 'short'));
    await expect(openBytes(new TextEncoder().encode('{"a": 1}'))).rejects.toEqual(problem('bad-gguf', 'GGUF'));
    await expect(open({ ...modelParts(), version: 1 })).rejects.toEqual(problem('bad-gguf', 'version'));
    await expect(open({ ...modelParts(), version: 0x03000000 })).rejects.toEqual(problem('bad-gguf', 'endian'));
    await expect(openBytes(bytes.slice(0, -40))).rejects.toEqual(problem('bad-gguf', 'output_norm'));
  });
});
