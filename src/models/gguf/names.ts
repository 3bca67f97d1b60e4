/**
 * @file The tensors a decoder of these families has: GGUF's name, Hugging Face's name, and the shape the config demands.
 */
import type { DecoderConfig } from '../../nn/config';

export interface ExpectedTensor {
  readonly gguf: string;
  readonly hf: string;
  readonly rows: number;
  readonly columns: number;
  /** Rows belong to heads of queries or keys, whose order may differ between the formats. */
  readonly rotated: boolean;
}

/** Written into files by old converters; llama.cpp does not read it either. */
export const isIgnored = (name: string): boolean =>
  /^(rope_freqs\.weight|blk\.\d+\.attn_rot_embd(\.weight)?)$/.test(name);

export function expectedTensors(c: DecoderConfig): ExpectedTensor[] {
  const q = c.heads * c.headDim;
  const kv = c.kvHeads * c.headDim;
  const list: ExpectedTensor[] = [];
  const add = (gguf: string, hf: string, rows: number, columns: number, rotated = false): void => {
    list.push({ gguf, hf, rows, columns, rotated });
  };
  add('token_embd.weight', 'model.embed_tokens.weight', c.vocabSize, c.width);
  for (let layer = 0; layer < c.layers; layer++) {
    const from = `blk.${layer}`;
    const to = `model.layers.${layer}`;
    add(`${from}.attn_norm.weight`, `${to}.input_layernorm.weight`, 1, c.width);
    for (const [letter, rows] of [
      ['q', q],
      ['k', kv],
      ['v', kv],
    ] as const) {
      const rotated = letter !== 'v';
      add(`${from}.attn_${letter}.weight`, `${to}.self_attn.${letter}_proj.weight`, rows, c.width, rotated);
      if (c.attentionBias) add(`${from}.attn_${letter}.bias`, `${to}.self_attn.${letter}_proj.bias`, 1, rows, rotated);
      if (c.qkNorm && rotated)
        add(`${from}.attn_${letter}_norm.weight`, `${to}.self_attn.${letter}_norm.weight`, 1, c.headDim);
    }
    add(`${from}.attn_output.weight`, `${to}.self_attn.o_proj.weight`, c.width, q);
    add(`${from}.ffn_norm.weight`, `${to}.post_attention_layernorm.weight`, 1, c.width);
    add(`${from}.ffn_gate.weight`, `${to}.mlp.gate_proj.weight`, c.ffn, c.width);
    add(`${from}.ffn_up.weight`, `${to}.mlp.up_proj.weight`, c.ffn, c.width);
    add(`${from}.ffn_down.weight`, `${to}.mlp.down_proj.weight`, c.width, c.ffn);
  }
  add('output_norm.weight', 'model.norm.weight', 1, c.width);
  if (c.untiedHead) add('output.weight', 'lm_head.weight', c.vocabSize, c.width);
  return list;
}
