/**
 * @file The GGUF's weights as the ONNX model that onnxruntime-web runs best: the graph that onnxruntime-genai's builder
 * writes and onnx-community publishes (q4), so that onnxruntime's own fusions apply.
 *
 * Q4_1 has a minimum in each block of 32, MatMulNBits a whole zero point: the weights are rounded again, symmetrically, as the
 * published files are. The head, 8 bits in the GGUF, has 8 bits here too (published files keep it in floats, which is
 * slower); the embedding, of which one row is read per token, is f32.
 */
import { openModelFiles } from '../../../src/models/open-model-files';
import { BlobSource } from '../../../src/models/sources/blob-source';
import type { WeightSource } from '../../../src/models/weights';
import { configToJson } from '../../../src/nn/config';
import { type Node, type Tensor, writeOnnx } from './onnx-writer.mjs';

const BLOCK = 32;
const F32 = 1;
const U8 = 2;
const I32 = 6;
const I64 = 7;
const microsoft = 'com.microsoft';
/** Positions that the rotation's tables hold. */
const POSITIONS = 2048;

const DATA = 'model.onnx_data';

/** Bytes of a file from an offset on. */
export type Put = (file: string, offset: number, bytes: Uint8Array) => Promise<void>;

/**
 * Writes config.json, model.onnx_data and one graph for each accuracy level. Level 4 lets onnxruntime multiply in 8-bit
 * integers; absent, as published, it multiplies in floats.
 */
export async function writeModel(gguf: Blob, name: string, put: Put): Promise<void> {
  const source = await openModelFiles([new BlobSource(gguf, name)]);
  const config = { ...configToJson(source.config), head_dim: source.config.headDim };
  await put('config.json', 0, new TextEncoder().encode(JSON.stringify(config)));
  const weights = new Weights(source, put);
  const nodes = await graphOf(source, weights);
  source.close();
  const { layers, kvHeads, headDim, vocabSize } = source.config;
  const cache = (prefix: string, length: string) =>
    Array.from({ length: layers }, (_, l) =>
      ['key', 'value'].map((part) => ({
        name: `${prefix}.${l}.${part}`,
        type: F32,
        dims: ['batch', kvHeads, length, headDim],
      })),
    ).flat();
  const graph = {
    tensors: weights.tensors,
    inputs: [
      { name: 'input_ids', type: I64, dims: ['batch', 'length'] },
      { name: 'attention_mask', type: I64, dims: ['batch', 'total'] },
      ...cache('past_key_values', 'past'),
    ],
    outputs: [{ name: 'logits', type: F32, dims: ['batch', 'length', vocabSize] }, ...cache('present', 'total')],
  };
  await put('model_q4.onnx', 0, writeOnnx({ ...graph, nodes }, DATA));
  const levelled = nodes.map((node) =>
    node.op === 'MatMulNBits' ? { ...node, attributes: { ...node.attributes, accuracy_level: 4 } } : node,
  );
  await put('model_q4_level4.onnx', 0, writeOnnx({ ...graph, nodes: levelled }, DATA));
}

/** Tensors, the large ones appended to the file beside the graph. */
class Weights {
  readonly tensors: Tensor[] = [];
  private end = 0;

  constructor(
    private readonly source: WeightSource,
    private readonly put: Put,
  ) {}

  small(name: string, type: number, dims: number[], values: BigInt64Array | Float32Array): string {
    this.tensors.push({ name, type, dims, bytes: new Uint8Array(values.buffer) });
    return name;
  }

  async large(name: string, type: number, dims: number[], bytes: Uint8Array): Promise<string> {
    await this.put(DATA, this.end, bytes);
    this.tensors.push({ name, type, dims, offset: this.end, length: bytes.length });
    this.end = Math.ceil((this.end + bytes.length) / 4096) * 4096;
    return name;
  }

  /** A norm's vector, or the embedding. */
  async floats(hf: string): Promise<string> {
    const { rows, columns } = this.source.tensors.get(hf)!;
    const values = await this.read(hf, rows);
    return this.large(hf, F32, rows === 1 ? [columns] : [rows, columns], new Uint8Array(values.buffer));
  }

  /** y = x W^T with W in blocks; the node. `name`: of the initialisers. */
  async product(x: string, hf: string, bits: 4 | 8, y: string, name = hf): Promise<Node> {
    const { rows, columns } = this.source.tensors.get(hf)!;
    const { codes, scales } = symmetricBlocks(await this.read(hf, rows), bits);
    const perRow = columns / BLOCK;
    return {
      op: 'MatMulNBits',
      domain: microsoft,
      inputs: [
        x,
        await this.large(`${name}_Q${bits}`, U8, [rows, perRow, (BLOCK * bits) / 8], codes),
        await this.large(`${name}_scales`, F32, [rows * perRow], new Uint8Array(scales.buffer)),
      ],
      outputs: [y],
      attributes: { K: columns, N: rows, bits, block_size: BLOCK },
    };
  }

  private async read(hf: string, rows: number): Promise<Float32Array<ArrayBuffer>> {
    const read = await this.source.read(hf, 0, rows, 'f32', 'single');
    if (read.form !== 'f32') throw new Error(`${hf} could not be read as floats.`);
    return read.values;
  }
}

/** w = (code - 2^(bits - 1)) scale, the scale taken from the weight furthest from 0, as onnxruntime's own quantiser does. */
function symmetricBlocks(w: Float32Array, bits: 4 | 8): { codes: Uint8Array; scales: Float32Array<ArrayBuffer> } {
  const middle = 2 ** (bits - 1);
  const scales = new Float32Array(w.length / BLOCK);
  const codes = new Uint8Array((w.length * bits) / 8);
  for (let b = 0; b < scales.length; b++) {
    let far = 0;
    for (let k = 0; k < BLOCK; k++) {
      const value = w[b * BLOCK + k];
      if (Math.abs(value) > Math.abs(far)) far = value;
    }
    const scale = Math.fround(-far / middle);
    scales[b] = scale;
    for (let k = 0; k < BLOCK; k++) {
      const i = b * BLOCK + k;
      const code = scale === 0 ? middle : Math.min(2 * middle - 1, Math.round(w[i] / scale) + middle);
      if (bits === 8) codes[i] = code;
      else codes[i >> 1] |= i & 1 ? code << 4 : code;
    }
  }
  return { codes, scales };
}

async function graphOf(source: WeightSource, weights: Weights): Promise<Node[]> {
  const { layers, heads, kvHeads, headDim, ropeTheta, normEps } = source.config;
  const nodes: Node[] = [];
  const half = headDim / 2;
  const angles = Array.from({ length: POSITIONS * half }, (_, i) => {
    return Math.floor(i / half) * ropeTheta ** (-(i % half) / half);
  });
  const cos = weights.small('cos_cache', F32, [POSITIONS, half], Float32Array.from(angles, Math.cos));
  const sin = weights.small('sin_cache', F32, [POSITIONS, half], Float32Array.from(angles, Math.sin));
  weights.small('one', I64, [1], BigInt64Array.of(1n));

  // Keys seen before the newest, and all: from the mask, once for all layers.
  nodes.push(
    { op: 'ReduceSum', inputs: ['attention_mask', 'one'], outputs: ['seen'], attributes: { keepdims: 0 } },
    { op: 'Sub', inputs: ['seen', 'one'], outputs: ['seen_less_one'] },
    { op: 'Cast', inputs: ['seen_less_one'], outputs: ['seqlens_k'], attributes: { to: I32 } },
    { op: 'Shape', inputs: ['attention_mask'], outputs: ['mask_shape'] },
    { op: 'Gather', inputs: ['mask_shape', 'one'], outputs: ['total_long'], attributes: { axis: 0 } },
    { op: 'Cast', inputs: ['total_long'], outputs: ['total'], attributes: { to: I32 } },
  );
  nodes.push({
    op: 'Gather',
    inputs: [await weights.floats('model.embed_tokens.weight'), 'input_ids'],
    outputs: ['embedded'],
  });
  const epsilon = { epsilon: { float: normEps } };
  nodes.push({
    op: 'SimplifiedLayerNormalization',
    inputs: ['embedded', await weights.floats('model.layers.0.input_layernorm.weight')],
    outputs: ['normed'],
    attributes: { axis: -1, stash_type: 1, ...epsilon },
  });
  let [normed, sum] = ['normed', 'embedded'];
  /** Adds to the residual stream and norms it. */
  const residual = async (at: string, more: string, norm: string): Promise<void> => {
    const outputs = [`${at}.normed`, '', '', `${at}.sum`];
    const inputs = [sum, more, await weights.floats(norm)];
    nodes.push({
      ...{ op: 'SkipSimplifiedLayerNormalization', domain: microsoft, inputs, outputs, attributes: epsilon },
    });
    [normed, , , sum] = outputs;
  };
  for (let l = 0; l < layers; l++) {
    const at = `model.layers.${l}`;
    const product = async (x: string, part: string): Promise<string> => {
      nodes.push(await weights.product(x, `${at}.${part}.weight`, 4, `${at}.${part}`));
      return `${at}.${part}`;
    };
    const q = await product(normed, 'self_attn.q_proj');
    const k = await product(normed, 'self_attn.k_proj');
    const v = await product(normed, 'self_attn.v_proj');
    const past = [`past_key_values.${l}.key`, `past_key_values.${l}.value`];
    nodes.push({
      op: 'GroupQueryAttention',
      domain: microsoft,
      inputs: [q, k, v, ...past, 'seqlens_k', 'total', cos, sin],
      outputs: [`${at}.mixed`, `present.${l}.key`, `present.${l}.value`],
      attributes: {
        ...{ num_heads: heads, kv_num_heads: kvHeads, do_rotary: 1, rotary_interleaved: 0 },
        scale: { float: headDim ** -0.5 },
      },
    });
    await residual(
      `${at}.attention`,
      await product(`${at}.mixed`, 'self_attn.o_proj'),
      `${at}.post_attention_layernorm.weight`,
    );
    const gate = await product(normed, 'mlp.gate_proj');
    const up = await product(normed, 'mlp.up_proj');
    nodes.push(
      { op: 'Sigmoid', inputs: [gate], outputs: [`${at}.sigmoid`] },
      { op: 'Mul', inputs: [gate, `${at}.sigmoid`], outputs: [`${at}.silu`] },
      { op: 'Mul', inputs: [`${at}.silu`, up], outputs: [`${at}.gated`] },
    );
    const down = await product(`${at}.gated`, 'mlp.down_proj');
    const next = l + 1 === layers ? 'model.norm.weight' : `model.layers.${l + 1}.input_layernorm.weight`;
    await residual(`${at}.mlp`, down, next);
  }
  const head = source.tensors.has('lm_head.weight') ? 'lm_head.weight' : 'model.embed_tokens.weight';
  nodes.push(await weights.product(normed, head, 8, 'logits', 'lm_head.weight'));
  return nodes;
}
