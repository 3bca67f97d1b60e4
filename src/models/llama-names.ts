/**
 * @file Between the engine's weights and Hugging Face's Llama names.
 *
 * The engine keeps q, k, v (and gate, up) stacked as one matrix, because one product over both is faster; model files
 * keep them apart. Rows are simply cut and joined: no permutation (half-split RoPE on both sides).
 */
import { DreamError } from '../data/errors';
import type { DecoderConfig } from '../nn/config';

type Tensors = ReadonlyMap<string, { shape: readonly number[]; data: Float32Array }>;

export interface Piece {
  hf: string;
  shape: number[];
}

/** Each engine weight and the file tensors it is stacked from, in order. */
export function engineLayout(c: DecoderConfig): { name: string; pieces: Piece[] }[] {
  const kv = c.kvHeads * c.headDim;
  const q = c.heads * c.headDim;
  const result: { name: string; pieces: Piece[] }[] = [
    { name: 'embed', pieces: [{ hf: 'model.embed_tokens.weight', shape: [c.vocabSize, c.width] }] },
  ];
  for (let l = 0; l < c.layers; l++) {
    const piece = (part: string, ...shape: number[]): Piece => ({ hf: `model.layers.${l}.${part}.weight`, shape });
    const bias = (part: string, rows: number): Piece => ({
      hf: `model.layers.${l}.self_attn.${part}.bias`,
      shape: [rows],
    });
    result.push(
      { name: `layer.${l}.norm1`, pieces: [piece('input_layernorm', c.width)] },
      {
        name: `layer.${l}.qkv`,
        pieces: [
          piece('self_attn.q_proj', q, c.width),
          piece('self_attn.k_proj', kv, c.width),
          piece('self_attn.v_proj', kv, c.width),
        ],
      },
      ...(c.attentionBias
        ? [{ name: `layer.${l}.qkv.bias`, pieces: [bias('q_proj', q), bias('k_proj', kv), bias('v_proj', kv)] }]
        : []),
      ...(c.qkNorm
        ? [
            {
              name: `layer.${l}.qk_norm`,
              pieces: [piece('self_attn.q_norm', c.headDim), piece('self_attn.k_norm', c.headDim)],
            },
          ]
        : []),
      { name: `layer.${l}.out`, pieces: [piece('self_attn.o_proj', c.width, q)] },
      { name: `layer.${l}.norm2`, pieces: [piece('post_attention_layernorm', c.width)] },
      {
        name: `layer.${l}.gate_up`,
        pieces: [piece('mlp.gate_proj', c.ffn, c.width), piece('mlp.up_proj', c.ffn, c.width)],
      },
      { name: `layer.${l}.down`, pieces: [piece('mlp.down_proj', c.width, c.ffn)] },
    );
  }
  result.push({ name: 'norm', pieces: [{ hf: 'model.norm.weight', shape: [c.width] }] });
  if (c.untiedHead) result.push({ name: 'head', pieces: [{ hf: 'lm_head.weight', shape: [c.vocabSize, c.width] }] });
  return result;
}

const countOf = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1);

/** Engine weights from a model file. Throws `missing-tensor` or `wrong-shape`, naming the tensor. */
export function fromLlama(config: DecoderConfig, tensors: Tensors): Map<string, Float32Array> {
  const weights = new Map<string, Float32Array>();
  for (const { name, pieces } of engineLayout(config)) {
    const whole = new Float32Array(pieces.reduce((sum, p) => sum + countOf(p.shape), 0));
    let at = 0;
    for (const { hf, shape } of pieces) {
      const tensor = tensors.get(hf);
      if (!tensor)
        throw new DreamError('missing-tensor', `The weights lack "${hf}".`, 'Use the files of one and the same model.');
      if (tensor.shape.join() !== shape.join()) {
        throw new DreamError(
          'wrong-shape',
          `"${hf}" is [${tensor.shape}], config.json says [${shape}].`,
          'Use the config.json that belongs to the weights.',
        );
      }
      if (!tensor.data.every(Number.isFinite)) {
        throw new DreamError(
          'nan-weights',
          `"${hf}" holds values that are not finite.`,
          'The file is damaged; get it again.',
        );
      }
      whole.set(tensor.data, at);
      at += tensor.data.length;
    }
    weights.set(name, whole);
  }
  return weights;
}

/** A model file's tensors from engine weights. */
export function toLlama(
  config: DecoderConfig,
  weights: ReadonlyMap<string, Float32Array>,
): Map<string, { shape: number[]; data: Float32Array }> {
  const tensors = new Map<string, { shape: number[]; data: Float32Array }>();
  for (const { name, pieces } of engineLayout(config)) {
    const whole = weights.get(name);
    if (!whole) throw new DreamError('missing-tensor', `The state lacks "${name}".`, 'Please report this defect.');
    let at = 0;
    for (const { hf, shape } of pieces) {
      tensors.set(hf, { shape, data: whole.slice(at, at + countOf(shape)) });
      at += countOf(shape);
    }
  }
  return tensors;
}
