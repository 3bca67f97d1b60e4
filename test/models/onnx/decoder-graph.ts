/**
 * A two-layer decoder as ONNX exporters write it, with random weights, and what those weights are: each value follows
 * from the codes by the operators' definitions, one at a time. Initialisers get meaningless names, as after optimisation.
 */
import type { Json } from '../../../src/models/families';
import { floatToHalf } from '../../../src/models/half';
import { type GraphSpec, type NodeSpec, type TensorSpec, writeOnnx } from './writer';

export interface GraphOptions {
  weights?: 'blocks' | 'dense' | 'gemm';
  bits?: 4 | 8;
  blockSize?: 16 | 32 | 64;
  /** TensorProto.DataType of scales, norms, biases and dense weights. */
  floats?: 1 | 10 | 16;
  zeros?: 'none' | 'packed' | 'floats';
  qkv?: 'separate' | 'packed' | 'split';
  gateUp?: 'separate' | 'packed';
  /** As an Add, or as MatMulNBits' own input (Qwen2). */
  bias?: 'none' | 'add' | 'input';
  /** Norms over each head: before the rotation, or left to GroupQueryAttention (Qwen3). */
  qkNorm?: 'node' | 'input';
  head?: 'tied' | 'blocks' | 'dense';
  /** `shared`: the head's own blocks [rows, blocks, bytes], reshaped. */
  embedding?: 'floats' | 'bytes' | 'shared' | 'int4' | 'uint4';
  /** The fused operator, or small ones with the weights' node names kept. */
  attention?: 'fused' | 'spelt';
  external?: string;
}

const WIDTH = 64;
const FFN = 96;
const HEADS = 4;
const KV_HEADS = 2;
const HEAD_DIM = 16;
const VOCAB = 64;
const LAYERS = 2;

export interface TestModel {
  spec: GraphSpec;
  model: Uint8Array;
  data: Uint8Array;
  config: Json;
  /** By Hugging Face's name. */
  expected: Map<string, Float32Array>;
}

export function decoderGraph(options: GraphOptions = {}): TestModel {
  const { weights = 'blocks', bits = 4, blockSize = 32, floats = 10, zeros = 'none', attention = 'fused' } = options;
  const { qkv = 'separate', gateUp = 'separate', bias = 'none', head = 'tied', embedding = 'floats' } = options;
  const nodes: NodeSpec[] = [];
  const tensors: TensorSpec[] = [];
  const expected = new Map<string, Float32Array>();
  let state = 7;
  const random = (n: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
  /** Exact in f16 and bf16, of either sign, never zero. */
  const value = (): number => (random(2) ? 1 : -1) * (1 + random(15)) * 2 ** -6;
  let counter = 0;
  const fresh = (): string => `v${counter++}`;

  const store = (type: number, dims: number[], bytes: Uint8Array): string => {
    const name = `onnx::T_${counter++}`;
    tensors.push({ name, type, dims, bytes });
    return name;
  };
  const storeFloats = (dims: number[], values: ArrayLike<number>): string => {
    const encode = (v: number): number =>
      floats === 10 ? floatToHalf(v) : new Uint32Array(Float32Array.of(v).buffer)[0] >>> 16;
    const array = floats === 1 ? Float32Array.from(values) : Uint16Array.from(values, encode);
    return store(floats, dims, new Uint8Array(array.buffer));
  };
  const storeIntegers = (...values: number[]): string =>
    store(7, [values.length], new Uint8Array(BigInt64Array.from(values, BigInt).buffer));
  const add = (op: string, inputs: string[], more: Partial<NodeSpec> = {}, outputs = [fresh()]): string => {
    nodes.push({ op, name: `n${counter++}`, inputs, outputs, ...more });
    return outputs[0];
  };

  /** Random blocks; their parts as stored, and the weights they mean. `layout`: how codes and zeros are packed. */
  function randomBlocks(rows: number, columns: number, layout: 'bytes' | 'int4' | 'uint4', size = blockSize, b = bits) {
    const perRow = Math.ceil(columns / size);
    const scales = Array.from({ length: rows * perRow }, value);
    const middle = 2 ** (b - 1);
    // Signed codes are kept as their own two's complement.
    const meaning = (code: number): number => (layout === 'int4' && code >= 8 ? code - 16 : code);
    const zero = Array.from({ length: rows * perRow }, () =>
      zeros === 'none' ? (layout === 'bytes' ? middle : 0) : random(2 ** b),
    );
    const codes = Array.from({ length: rows * perRow * size }, () => random(2 ** b));
    const w = new Float32Array(rows * columns);
    for (let n = 0; n < rows; n++) {
      for (let k = 0; k < columns; k++) {
        const block = n * perRow + Math.floor(k / size);
        w[n * columns + k] = (meaning(codes[n * perRow * size + k]) - meaning(zero[block])) * scales[block];
      }
    }
    const nibbles = (list: number[]): Uint8Array =>
      Uint8Array.from({ length: Math.ceil(list.length / 2) }, (_, i) => list[2 * i] | ((list[2 * i + 1] ?? 0) << 4));
    const zeroRows = Array.from({ length: rows }, (_, n) => zero.slice(n * perRow, (n + 1) * perRow));
    const type = layout === 'bytes' ? 2 : layout === 'int4' ? 22 : 21;
    const zeroBytes =
      b === 8
        ? Uint8Array.from(zero)
        : layout === 'bytes'
          ? new Uint8Array(Buffer.concat(zeroRows.map(nibbles)))
          : nibbles(zero);
    const zeroDims = layout !== 'bytes' ? [rows, perRow] : [zeroBytes.length];
    return {
      perRow,
      type,
      w,
      scales,
      zero,
      zeroBytes,
      zeroDims,
      codeBytes: b === 8 ? Uint8Array.from(codes) : nibbles(codes),
    };
  }

  /** x times a random matrix; the value that comes out, and the weights. */
  function product(
    x: string,
    rows: number,
    columns: number,
    name: string,
    biased = false,
  ): { out: string; w: Float32Array } {
    const biasValues = biased ? Array.from({ length: rows }, value) : null;
    const biasName = biasValues ? storeFloats([rows], biasValues) : '';
    if (biasValues) expected.set(`bias ${name}`, Float32Array.from(biasValues));
    const more = { name: attention === 'spelt' ? name : `n${counter++}` };
    let out: string;
    let w: Float32Array;
    if (weights === 'blocks') {
      const part = randomBlocks(rows, columns, 'bytes');
      w = part.w;
      const inputs = [
        x,
        store(2, [rows, part.perRow, (blockSize * bits) / 8], part.codeBytes),
        storeFloats([rows * part.perRow], part.scales),
      ];
      if (zeros === 'packed') inputs.push(store(2, part.zeroDims, part.zeroBytes));
      if (zeros === 'floats') inputs.push(storeFloats([rows * part.perRow], part.zero));
      if (biased && bias === 'input') {
        while (inputs.length < 5) inputs.push('');
        inputs.push(biasName);
      }
      const attributes = { K: columns, N: rows, bits, block_size: blockSize, accuracy_level: 4 };
      out = add('MatMulNBits', inputs, { ...more, attributes });
    } else {
      w = Float32Array.from({ length: rows * columns }, value);
      if (weights === 'gemm') {
        out = add('Gemm', [x, storeFloats([rows, columns], w)], { ...more, attributes: { transB: 1 } });
      } else {
        const turned = Float32Array.from(w, (_, i) => w[(i % rows) * columns + Math.floor(i / rows)]);
        out = add('MatMul', [x, storeFloats([columns, rows], turned)], more);
      }
    }
    if (biased && bias !== 'input') out = add('Add', [biasName, out]);
    return { out, w };
  }

  function normWeight(name: string, length = WIDTH): string {
    const values = Float32Array.from({ length }, value);
    expected.set(name, values);
    return storeFloats([length], values);
  }

  // The embedding: a table of floats, or of blocks.
  let table = '';
  let x: string;
  if (embedding === 'floats') {
    const w = Float32Array.from({ length: VOCAB * WIDTH }, value);
    expected.set('model.embed_tokens.weight', w);
    table = storeFloats([VOCAB, WIDTH], w);
    x = add('Gather', [table, 'input_ids']);
  } else {
    const asBytes = embedding === 'bytes' || embedding === 'shared';
    const size = asBytes ? 32 : 64;
    const part = randomBlocks(VOCAB, WIDTH, asBytes ? 'bytes' : embedding, size, 4);
    expected.set('model.embed_tokens.weight', part.w);
    const dims = embedding === 'shared' ? [VOCAB, part.perRow, size / 2] : [VOCAB, asBytes ? WIDTH / 2 : WIDTH];
    table = store(part.type, dims, part.codeBytes);
    const flat = embedding === 'shared' ? add('Reshape', [table, storeIntegers(VOCAB, WIDTH / 2)]) : table;
    const inputs = [flat, 'input_ids', storeFloats([VOCAB, part.perRow], part.scales)];
    if (zeros !== 'none') {
      const dims = asBytes ? [VOCAB, Math.ceil(part.perRow / 2)] : [VOCAB, part.perRow];
      inputs.push(store(part.type, dims, part.zeroBytes));
    }
    x = add('GatherBlockQuantized', inputs, { attributes: { block_size: size, gather_axis: 0, quantize_axis: 1 } });
  }

  const q = HEADS * HEAD_DIM;
  const kv = KV_HEADS * HEAD_DIM;
  let normed = add('SimplifiedLayerNormalization', [x, normWeight('model.layers.0.input_layernorm.weight')]);
  let sum = x;
  for (let layer = 0; layer < LAYERS; layer++) {
    const at = `model.layers.${layer}`;
    const path = `/model/layers.${layer}`;
    const keep = (name: string, w: Float32Array): void => void expected.set(`${at}.${name}.weight`, w);
    const keepBias = (name: string, b: Float32Array | undefined): void => {
      if (b) expected.set(`${at}.${name}.bias`, b);
    };
    const takeBias = (name: string): Float32Array | undefined => {
      const found = expected.get(`bias ${name}`);
      expected.delete(`bias ${name}`);
      return found;
    };
    let inputs: string[];
    if (qkv === 'separate') {
      inputs = [];
      for (const [part, rows] of [
        ['q', q],
        ['k', kv],
        ['v', kv],
      ] as const) {
        const name = `${path}/self_attn/${part}_proj/MatMul_Q4`;
        let { out, w } = product(normed, rows, WIDTH, name, bias !== 'none');
        keep(`self_attn.${part}_proj`, w);
        keepBias(`self_attn.${part}_proj`, takeBias(name));
        if (options.qkNorm === 'node' && part !== 'v') {
          const weight = normWeight(`${at}.self_attn.${part}_norm.weight`, HEAD_DIM);
          out = add('Reshape', [out, 'shape1']);
          out = add('SimplifiedLayerNormalization', [out, weight]);
          out = add('Reshape', [out, 'shape2']);
        }
        if (part !== 'v') out = add('RotaryEmbedding', [out, 'position_ids', 'cos', 'sin']);
        inputs.push(out);
      }
    } else {
      const name = `${path}/attn/qkv_proj/MatMul`;
      const { out, w } = product(normed, q + 2 * kv, WIDTH, name, bias !== 'none');
      const b = takeBias(name);
      for (const [part, first, rows] of [
        ['q', 0, q],
        ['k', q, kv],
        ['v', q + kv, kv],
      ] as const) {
        keep(`self_attn.${part}_proj`, w.slice(first * WIDTH, (first + rows) * WIDTH));
        keepBias(`self_attn.${part}_proj`, b?.slice(first, first + rows));
      }
      inputs = [out, '', ''];
      if (qkv === 'split') {
        inputs = [fresh(), fresh(), fresh()];
        add('Split', [out, storeIntegers(q, kv, kv)], { attributes: { axis: -1 } }, inputs);
      }
    }
    let mixed: string;
    if (attention === 'fused') {
      const cache = [`past_key_values.${layer}.key`, `past_key_values.${layer}.value`];
      const norms = ['q', 'k'].map((part) =>
        options.qkNorm === 'input' ? normWeight(`${at}.self_attn.${part}_norm.weight`, HEAD_DIM) : '',
      );
      const attributes = { num_heads: HEADS, kv_num_heads: KV_HEADS, do_rotary: 0, scale: { float: HEAD_DIM ** -0.5 } };
      mixed = add(
        'GroupQueryAttention',
        [...inputs, ...cache, 'seqlens_k', 'total', ...new Array(7).fill(''), ...norms],
        { attributes },
      );
    } else {
      const scores = add('Softmax', [add('MatMul', [inputs[0], add('Transpose', [inputs[1]])])]);
      mixed = add('MatMul', [scores, inputs[2]]);
    }
    const out = product(mixed, WIDTH, q, `${path}/self_attn/o_proj/MatMul_Q4`);
    keep('self_attn.o_proj', out.w);
    [normed, sum] = residual(sum, out.out, normWeight(`${at}.post_attention_layernorm.weight`));
    let gate: string;
    let up: string;
    if (gateUp === 'separate') {
      const second = product(normed, FFN, WIDTH, `${path}/mlp/up_proj/MatMul_Q4`);
      const first = product(normed, FFN, WIDTH, `${path}/mlp/gate_proj/MatMul_Q4`);
      keep('mlp.gate_proj', first.w);
      keep('mlp.up_proj', second.w);
      [gate, up] = [first.out, second.out];
    } else {
      const both = product(normed, 2 * FFN, WIDTH, `${path}/mlp/gate_up_proj/MatMul`);
      keep('mlp.gate_proj', both.w.slice(0, FFN * WIDTH));
      keep('mlp.up_proj', both.w.slice(FFN * WIDTH));
      gate = add('Slice', [both.out, storeIntegers(0), storeIntegers(FFN), storeIntegers(-1)]);
      up = add('Slice', [both.out, storeIntegers(FFN), storeIntegers(2 ** 40), storeIntegers(-1)]);
    }
    const silu = add('Mul', [gate, add('Sigmoid', [gate])]);
    const down = product(add('Mul', [silu, up]), WIDTH, FFN, `${path}/mlp/down_proj/MatMul_Q4`);
    keep('mlp.down_proj', down.w);
    const last = layer + 1 === LAYERS;
    const next = last ? 'model.norm.weight' : `model.layers.${layer + 1}.input_layernorm.weight`;
    [normed, sum] = residual(sum, down.out, normWeight(next));
  }

  /** Fused, or an Add and a norm spelt out in small operators. [normed, sum] */
  function residual(before: string, more: string, weight: string): [string, string] {
    if (attention === 'fused') {
      const outputs = [fresh(), '', '', fresh()];
      add('SkipSimplifiedLayerNormalization', [before, more, weight], {}, outputs);
      return [outputs[0], outputs[3]];
    }
    const total = add('Add', [before, more]);
    const variance = add('ReduceMean', [add('Pow', [total, 'two'])]);
    return [add('Mul', [weight, add('Div', [total, add('Sqrt', [variance])])]), total];
  }

  let logits: string;
  if (head === 'tied' && embedding === 'floats') {
    logits = add('MatMul', [normed, add('Transpose', [table], { attributes: { perm: [1, 0] } })]);
  } else if (head === 'tied') {
    const [, , scales, zero] = nodes.find(({ op }) => op === 'GatherBlockQuantized')!.inputs;
    const inputs = [normed, table, add('Reshape', [scales, 'flat'])];
    if (zero) inputs.push(zero);
    logits = add('MatMulNBits', inputs, { attributes: { K: WIDTH, N: VOCAB, bits: 4, block_size: 32 } });
  } else if (head === 'dense') {
    const w = Float32Array.from({ length: VOCAB * WIDTH }, value);
    const turned = Float32Array.from(w, (_, i) => w[(i % VOCAB) * WIDTH + Math.floor(i / VOCAB)]);
    expected.set('lm_head.weight', w);
    logits = add('MatMul', [normed, storeFloats([WIDTH, VOCAB], turned)]);
  } else {
    const { out, w } = product(normed, VOCAB, WIDTH, '/lm_head/MatMul_Q4');
    expected.set('lm_head.weight', w);
    logits = out;
  }
  add('Cast', [logits], { attributes: { to: 1 } }, ['logits']);

  const spec: GraphSpec = {
    nodes,
    tensors,
    inputs: ['input_ids', 'attention_mask'],
    outputs: ['present.0.key', 'logits'],
    external: options.external,
  };
  return { spec, ...writeOnnx(spec), config: configOf(options), expected };
}

function configOf({ bias = 'none', qkNorm, head = 'tied' }: GraphOptions): Json {
  const name = qkNorm ? 'Qwen3' : bias === 'none' ? 'Llama' : 'Qwen2';
  return {
    architectures: [`${name}ForCausalLM`],
    hidden_act: 'silu',
    hidden_size: WIDTH,
    intermediate_size: FFN,
    num_hidden_layers: LAYERS,
    num_attention_heads: HEADS,
    num_key_value_heads: KV_HEADS,
    head_dim: HEAD_DIM,
    vocab_size: VOCAB,
    max_position_embeddings: 128,
    rms_norm_eps: 1e-6,
    rope_theta: 10000,
    tie_word_embeddings: head === 'tied',
  };
}
