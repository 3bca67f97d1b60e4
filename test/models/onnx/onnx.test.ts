import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DreamError } from '../../../src/data/errors';
import type { Json } from '../../../src/models/families';
import { openOnnx } from '../../../src/models/onnx';
import { dequantiseRows } from '../../../src/models/quantise';
import type { Rows, WeightSource } from '../../../src/models/weights';
import { memoryFile } from '../memory-file';
import { decoderGraph, type GraphOptions, type TestModel } from './decoder-graph';
import { type GraphSpec, writeOnnx } from './writer';

function open(test: TestModel, config: Json = test.config): Promise<WeightSource> {
  const external = new Map(test.spec.external ? [[test.spec.external, memoryFile(test.spec.external, test.data)]] : []);
  return openOnnx({ config, model: memoryFile('model_q4.onnx', test.model), external });
}

async function failure(test: TestModel, config?: Json): Promise<string> {
  try {
    await open(test, config);
  } catch (error) {
    if (!(error instanceof DreamError)) throw error;
    return `${error.code}: ${error.message}`;
  }
  return 'opened';
}

const rowsOf = (values: Float32Array, first: number, count: number, columns: number): Float32Array =>
  values.subarray(first * columns, (first + count) * columns);
const isSame = (a: Float32Array, b: Float32Array): boolean => a.length === b.length && a.every((v, i) => v === b[i]);
const valuesOf = (rows: Rows, columns: number): Float32Array => dequantiseRows(rows, columns);

/** Every tensor in every form that keeps it: the same values. */
async function checkAll(options: GraphOptions): Promise<WeightSource> {
  const test = decoderGraph(options);
  const source = await open(test);
  expect([...source.tensors.keys()].sort()).toEqual([...test.expected.keys()].sort());
  for (const [name, values] of test.expected) {
    const info = source.tensors.get(name)!;
    expect(info.rows * info.columns, name).toBe(values.length);
    const whole = await source.read(name, 0, info.rows, 'f32', 'single');
    expect(whole.form === 'f32' && isSame(whole.values, values), name).toBe(true);
    if (info.rows > 1) {
      // Few rows, which a transposed matrix gathers one by one.
      const few = await source.read(name, 3, 2, 'f32', 'single');
      expect(few.form === 'f32' && isSame(few.values, rowsOf(values, 3, 2, info.columns)), name).toBe(true);
    }
    if (info.form === 'f32') continue;
    for (const form of info.form === 'q4' ? (['q4', 'q8'] as const) : (['q8'] as const)) {
      for (const scales of info.scales === 'half' ? (['half', 'single'] as const) : (['single'] as const)) {
        const rows = await source.read(name, 5, 9, form, scales);
        const part = rowsOf(values, 5, 9, info.columns);
        expect(rows.form, name).toBe(form);
        expect(isSame(valuesOf(rows, info.columns), part), `${name} ${form} ${scales}`).toBe(true);
      }
    }
  }
  return source;
}

const Q = 'model.layers.1.self_attn.q_proj.weight';
const DOWN = 'model.layers.1.mlp.down_proj.weight';

describe('weights of an ONNX graph', () => {
  it('finds every MatMulNBits by what flows into and out of attention (q4f16)', async () => {
    const source = await checkAll({});
    expect(source.tensors.get(Q)).toMatchObject({
      rows: 64,
      columns: 64,
      stored: 'MatMulNBits 4/32',
      form: 'q4',
      scales: 'half',
      bytes: 64 * 32 + 64 * 2 * 2,
    });
    expect(source.tensors.get('model.embed_tokens.weight')).toMatchObject({ stored: 'F16', form: 'f32' });
    expect(source.config.untiedHead).toBeUndefined();
    expect(await source.tokenizer()).toBeNull();
  });

  it.each([
    ['f32 scales', { floats: 1 }, 'q4', 'single'],
    ['bf16 scales', { floats: 16 }, 'q4', 'single'],
    ['packed zero points', { zeros: 'packed' }, 'q4', 'single'],
    ['zero points as floats', { zeros: 'floats', floats: 1 }, 'q4', 'single'],
    ['8 bits', { bits: 8 }, 'q8', 'half'],
    ['8 bits with zero points', { bits: 8, zeros: 'packed' }, 'q8', 'single'],
    ['blocks of 64, the last one half padding', { blockSize: 64 }, 'q4', 'half'],
    ['blocks of 64 with zero points', { blockSize: 64, zeros: 'packed' }, 'q4', 'single'],
    ['blocks of 16, which only floats hold', { blockSize: 16, zeros: 'packed' }, 'f32', 'single'],
    ['stacked q, k, v', { qkv: 'packed', zeros: 'packed' }, 'q4', 'single'],
    ['stacked q, k, v, split in the graph', { qkv: 'split' }, 'q4', 'half'],
    ['stacked gate and up', { gateUp: 'packed' }, 'q4', 'half'],
    ['biases added (Qwen2)', { bias: 'add' }, 'q4', 'half'],
    ['biases in the operator', { bias: 'input' }, 'q4', 'half'],
    ['a stacked bias', { bias: 'add', qkv: 'packed' }, 'q4', 'half'],
    ['q and k norms (Qwen3)', { qkNorm: 'node' }, 'q4', 'half'],
    ['q and k norms inside the operator', { qkNorm: 'input', qkv: 'split' }, 'q4', 'half'],
    ['plain MatMul, transposed', { weights: 'dense', floats: 1 }, 'f32', 'single'],
    ['plain MatMul of f16', { weights: 'dense', qkv: 'packed', gateUp: 'packed' }, 'f32', 'single'],
    ['Gemm', { weights: 'gemm' }, 'f32', 'single'],
    ['a head of its own, in blocks', { head: 'blocks' }, 'q4', 'half'],
    ['a head of its own, in floats', { head: 'dense' }, 'q4', 'half'],
    ['an embedding in blocks, shared with the head', { embedding: 'bytes', zeros: 'packed' }, 'q4', 'single'],
    ["the head's blocks as embedding", { embedding: 'shared' }, 'q4', 'half'],
    ['an int4 embedding', { embedding: 'int4', head: 'dense' }, 'q4', 'half'],
    ['an int4 embedding with zero points', { embedding: 'int4', head: 'dense', zeros: 'packed' }, 'q4', 'single'],
    ['a uint4 embedding', { embedding: 'uint4', head: 'blocks' }, 'q4', 'half'],
    ['attention in small operators, by node names', { attention: 'spelt' }, 'q4', 'half'],
    ['files beside it', { external: 'model_q4.onnx_data', qkv: 'packed' }, 'q4', 'half'],
  ] as [string, GraphOptions, string, string][])('reads %s', async (_what, options, form, scales) => {
    const source = await checkAll(options);
    expect(source.tensors.get(Q)).toMatchObject({ form, scales });
    const untied = options.head === 'dense' || options.head === 'blocks';
    expect(source.config.untiedHead).toBe(untied ? true : undefined);
  });

  it('believes the file, not its config, about the head', async () => {
    const own = decoderGraph({ head: 'blocks' });
    expect((await open(own, { ...own.config, tie_word_embeddings: true })).config.untiedHead).toBe(true);
    const tied = decoderGraph({});
    expect((await open(tied, { ...tied.config, tie_word_embeddings: false })).config.untiedHead).toBeUndefined();
  });

  it('rounds to another form where it must, within half a step', async () => {
    const test = decoderGraph({ zeros: 'packed', weights: 'blocks' });
    const source = await open(test);
    const half = await source.read(DOWN, 0, 64, 'q4', 'half');
    const single = await source.read(DOWN, 0, 64, 'q4', 'single');
    if (half.form === 'f32' || single.form === 'f32') throw new Error('not quantised');
    expect(half.codes).toEqual(single.codes); // codes stay: only scales and minima are rounded
    const dense = decoderGraph({ weights: 'dense' });
    const rows = valuesOf(await (await open(dense)).read(DOWN, 3, 4, 'q8', 'half'), 96);
    const exact = dense.expected.get(DOWN)!.subarray(3 * 96, 7 * 96);
    expect(Math.max(...rows.map((v, i) => Math.abs(v - exact[i])))).toBeLessThan((0.5 / 255) * 0.51);
    await expect(source.read('model.norm.weight', 0, 1, 'q4', 'half')).rejects.toMatchObject({ code: 'wrong-shape' });
  });

  it('reads the graph to open, the rows asked for later, and nothing twice as large', async () => {
    const test = decoderGraph({ external: 'data' });
    const data = memoryFile('data', test.data);
    const model = memoryFile('model.onnx', test.model);
    const source = await openOnnx({ config: test.config, model, external: new Map([['data', data]]) });
    expect(data.reads).toEqual([]);
    expect(model.reads.length).toBe(1);
    await source.read(Q, 8, 4, 'q4', 'half');
    expect(data.reads.map(({ length }) => length)).toEqual([4 * 32, 4 * 2 * 2]);
    source.close();
    await expect(source.read(Q, 0, 1, 'q4', 'half')).rejects.toMatchObject({ code: 'file-read' });
  });
});

/** The same graph after a change to its parts. */
function changed(options: GraphOptions, change: (spec: GraphSpec) => void): TestModel {
  const test = decoderGraph(options);
  change(test.spec);
  return { ...test, ...writeOnnx(test.spec) };
}

const nodeOf = (spec: GraphSpec, op: string) => spec.nodes.find((node) => node.op === op)!;
const tensorOf = (spec: GraphSpec, name: string) => spec.tensors.find((tensor) => tensor.name === name)!;

describe('damaged or foreign ONNX files', () => {
  it.each([
    ['no protobuf', (t: TestModel) => ({ ...t, model: new Uint8Array(300).fill(255) }), /^bad-onnx: model_q4.onnx/],
    ['an empty file', (t: TestModel) => ({ ...t, model: new Uint8Array(0) }), /^bad-onnx.*no graph/],
    ['a cut file', (t: TestModel) => ({ ...t, model: t.model.subarray(0, 5000) }), /^bad-onnx.*byte/],
  ] as [string, (t: TestModel) => TestModel, RegExp][])('refuses %s', async (_what, damage, message) => {
    expect(await failure(damage(decoderGraph({})))).toMatch(message);
  });

  it.each([
    [
      'a graph without its attention',
      (spec: GraphSpec) => spec.nodes.splice(spec.nodes.indexOf(nodeOf(spec, 'GroupQueryAttention')), 1),
      /^wrong-shape.*1 attention layers, its config says 2/,
    ],
    [
      'other numbers of heads',
      (spec: GraphSpec) => {
        nodeOf(spec, 'GroupQueryAttention').attributes!.kv_num_heads = 4;
      },
      /^wrong-shape.*kv_num_heads 4, its config says 2/,
    ],
    [
      'an attention window',
      (spec: GraphSpec) => {
        nodeOf(spec, 'GroupQueryAttention').attributes!.local_window_size = 64;
      },
      /^unsupported-setting.*local_window_size.*64/,
    ],
    [
      'interleaved rotation',
      (spec: GraphSpec) => {
        nodeOf(spec, 'GroupQueryAttention').attributes!.rotary_interleaved = 1;
      },
      /^unsupported-setting.*rotary_interleaved/,
    ],
    [
      'another scale of the scores',
      (spec: GraphSpec) => {
        nodeOf(spec, 'GroupQueryAttention').attributes!.scale = { float: 1 };
      },
      /^unsupported-setting.*"scale"/,
    ],
    [
      '2-bit weights',
      (spec: GraphSpec) => {
        nodeOf(spec, 'MatMulNBits').attributes!.bits = 2;
      },
      /^unsupported-quantisation.*2-bit/,
    ],
    [
      'regrouped weights',
      (spec: GraphSpec) => {
        nodeOf(spec, 'MatMulNBits').inputs.push('', 'position_ids');
      },
      /^unsupported-quantisation.*g_idx/,
    ],
    [
      'integer products',
      (spec: GraphSpec) => {
        nodeOf(spec, 'MatMulNBits').op = 'MatMulInteger';
      },
      /^unsupported-quantisation.*MatMulInteger/,
    ],
    [
      'too few scales',
      (spec: GraphSpec) => {
        const scales = tensorOf(spec, nodeOf(spec, 'MatMulNBits').inputs[2]);
        scales.dims = [2];
        scales.bytes = scales.bytes.slice(0, 4);
      },
      /^wrong-shape.*T_.*F16 \[2\].*64 rows of 64/,
    ],
    [
      'a tensor shorter than its shape',
      (spec: GraphSpec) => {
        tensorOf(spec, nodeOf(spec, 'MatMulNBits').inputs[1]).dims[0] = 63;
      },
      /^bad-onnx.*T_.*U8 \[63,2,16\], 2016 bytes, but 2048/,
    ],
    [
      'a missing norm',
      (spec: GraphSpec) => {
        nodeOf(spec, 'SimplifiedLayerNormalization').inputs[1] = 'nowhere';
      },
      /^missing-tensor.*model.layers.0.input_layernorm.weight/,
    ],
    [
      'a bias nobody announced',
      (spec: GraphSpec) => {
        const out = nodeOf(spec, 'MatMulNBits').outputs[0];
        const vector = spec.tensors.find(({ dims, type }) => dims.length === 1 && dims[0] === 64 && type === 10)!;
        const taker = spec.nodes.find(({ inputs }) => inputs.includes(out))!;
        taker.inputs[taker.inputs.indexOf(out)] = 'biased';
        spec.nodes.push({ op: 'Add', inputs: [out, vector.name], outputs: ['biased'] });
      },
      /^unsupported-setting.*q_proj" has a bias/,
    ],
    [
      'circles',
      (spec: GraphSpec) => {
        const attention = nodeOf(spec, 'GroupQueryAttention');
        spec.nodes.push({ op: 'Cast', inputs: ['b'], outputs: ['a'] }, { op: 'Cast', inputs: ['a'], outputs: ['b'] });
        attention.inputs[0] = 'a';
      },
      /^missing-tensor.*layers.0.self_attn.q_proj.weight/,
    ],
  ] as [string, (spec: GraphSpec) => void, RegExp][])('refuses %s', async (_what, change, message) => {
    expect(await failure(changed({}, change))).toMatch(message);
  });

  it('refuses another model by its shape, and an unknown one before any read', async () => {
    const test = decoderGraph({});
    expect(await failure(test, { ...test.config, intermediate_size: 128 })).toMatch(
      /^wrong-shape.*gate_proj.weight" is \[96, 64\], its config says \[128, 64\]/,
    );
    const model = memoryFile('model.onnx', test.model);
    const config = { ...test.config, architectures: ['PhiForCausalLM'] };
    await expect(openOnnx({ config, model, external: new Map() })).rejects.toMatchObject({
      code: 'unsupported-architecture',
    });
    expect(model.reads).toEqual([]);
  });

  it('names the file beside it that is missing, or too short', async () => {
    const test = decoderGraph({ external: 'model_q4.onnx_data' });
    const model = memoryFile('model_q4.onnx', test.model);
    const missing = openOnnx({ config: test.config, model, external: new Map() });
    await expect(missing).rejects.toThrow(/in the file "model_q4.onnx_data", which was not given/);
    expect(await failure({ ...test, data: test.data.subarray(0, 9000) })).toMatch(
      /^bad-onnx: model_q4.onnx_data.*beyond the end/,
    );
  });

  it('names the tensor that holds no number, in every form', async () => {
    let broken = '';
    const test = changed({}, (spec) => {
      broken = nodeOf(spec, 'MatMulNBits').inputs[2];
      tensorOf(spec, broken).bytes.set([0, 0x7e], 4);
    });
    const source = await open(test);
    for (const form of ['f32', 'q4', 'q8'] as const) {
      const read = source.read('model.layers.0.self_attn.q_proj.weight', 0, 8, form, 'half');
      await expect(read).rejects.toMatchObject({ code: 'bad-weights', message: expect.stringContaining(broken) });
    }
  });

  it('throws only typed errors for mutated files, and reads nothing beyond them', async () => {
    const inside = decoderGraph({ qkv: 'split', gateUp: 'packed', zeros: 'packed' });
    const outside = decoderGraph({ external: 'data', bias: 'add', embedding: 'bytes' });
    for (const test of [inside, outside]) {
      // Where the structure is: everything outside, and around the nodes (before the weights) inside.
      const structure = Math.min(test.model.length, 9000);
      const edits = fc.array(fc.tuple(fc.nat(structure - 1), fc.nat(255)), { minLength: 1, maxLength: 4 });
      await fc.assert(
        fc.asyncProperty(edits, fc.nat(test.model.length), fc.boolean(), async (changes, length, cut) => {
          const bytes = test.model.slice(0, cut ? length : test.model.length);
          for (const [at, value] of changes) if (at < bytes.length) bytes[at] = value;
          const files = [memoryFile('model.onnx', bytes), memoryFile('data', test.data)];
          try {
            const external = new Map([['data', files[1]]]);
            const source = await openOnnx({ config: test.config, model: files[0], external });
            for (const { name, rows } of source.tensors.values()) await source.read(name, 0, rows, 'f32', 'single');
          } catch (error) {
            if (!(error instanceof DreamError)) throw error;
            expect(error.code).not.toBe('file-read'); // that would be a read beyond the end
          }
        }),
        { numRuns: 60 },
      );
    }
  });
});
