/**
 * @file llama.cpp's names of a decoder's tensors for Hugging Face's: `model.layers.3.mlp.up_proj.weight` is
 * `blk.3.ffn_up.weight`. Which tensors there must be, and their shapes, families.ts says for all formats.
 */
import type { DecoderConfig } from '../../nn/config';
import { expectedTensors as huggingFaceTensors } from '../families';

export interface ExpectedTensor {
  readonly gguf: string;
  readonly hf: string;
  readonly rows: number;
  readonly columns: number;
  /** Rows belong to heads of queries or keys, whose order may differ between the formats. */
  readonly rotated: boolean;
}

const outside: Readonly<Record<string, string>> = {
  'model.embed_tokens': 'token_embd',
  'model.norm': 'output_norm',
  lm_head: 'output',
};
const inLayer: Readonly<Record<string, string>> = {
  input_layernorm: 'attn_norm',
  'self_attn.q_proj': 'attn_q',
  'self_attn.k_proj': 'attn_k',
  'self_attn.v_proj': 'attn_v',
  'self_attn.o_proj': 'attn_output',
  'self_attn.q_norm': 'attn_q_norm',
  'self_attn.k_norm': 'attn_k_norm',
  post_attention_layernorm: 'ffn_norm',
  'mlp.gate_proj': 'ffn_gate',
  'mlp.up_proj': 'ffn_up',
  'mlp.down_proj': 'ffn_down',
};

/** Written into files by old converters, or read before the weights (`rope_freqs`): no matrix of the network. */
export const isIgnored = (name: string): boolean =>
  /^(rope_freqs\.weight|blk\.\d+\.attn_rot_embd(\.weight)?)$/.test(name);

/** What the file must hold for a network of this shape. */
export function expectedTensors(config: DecoderConfig): ExpectedTensor[] {
  return huggingFaceTensors(config)
    .filter(({ required }) => required)
    .map(({ name: hf, rows, columns }) => {
      const [, layer, part, kind] = /^(?:model\.layers\.(\d+)\.)?(.+)\.(weight|bias)$/.exec(hf) ?? [];
      const gguf = layer === undefined ? `${outside[part]}.${kind}` : `blk.${layer}.${inLayer[part]}.${kind}`;
      return { gguf, hf, rows, columns, rotated: /[qk]_proj$/.test(part) };
    });
}
