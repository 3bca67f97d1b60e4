/**
 * @file What llama.cpp's converter calls an architecture and a projection, and the row order it gives queries and keys.
 *
 * Hugging Face rotates the two halves of a head against each other, llama.cpp (for these architectures) neighbouring
 * rows: its converter moves row j of the first half to 2j and row j of the second to 2j + 1, within each head. A LoRA's
 * B has the rows of the weight and moves with them; A stays.
 */
import type { ProjectionName } from './adapter';

const ARCHITECTURES: Readonly<Record<string, string>> = {
  LlamaForCausalLM: 'llama',
  SmolLM3ForCausalLM: 'smollm3',
  Qwen2ForCausalLM: 'qwen2',
  Qwen3ForCausalLM: 'qwen3',
};

/** Of both Hugging Face's and GGUF's own names; null for architectures the engine does not know. */
export function ggufArchitecture(architecture: string): string | null {
  if (Object.hasOwn(ARCHITECTURES, architecture)) return ARCHITECTURES[architecture];
  return Object.values(ARCHITECTURES).find((known) => known === architecture) ?? null;
}

/** Whether the rows of this projection lie in another order in a GGUF file. */
export function isPermuted(architecture: string, projection: ProjectionName): boolean {
  const permutes = architecture === 'llama' || architecture === 'smollm3';
  return permutes && (projection === 'self_attn.q_proj' || projection === 'self_attn.k_proj');
}

export const ggufProjection: Readonly<Record<ProjectionName, string>> = {
  'self_attn.q_proj': 'attn_q',
  'self_attn.k_proj': 'attn_k',
  'self_attn.v_proj': 'attn_v',
  'self_attn.o_proj': 'attn_output',
  'mlp.gate_proj': 'ffn_gate',
  'mlp.up_proj': 'ffn_up',
  'mlp.down_proj': 'ffn_down',
};

/** [rows, columns] in Hugging Face's order to llama.cpp's, or back; rows are whole heads. */
export function permuteRows(
  values: Float32Array,
  columns: number,
  headDim: number,
  direction: 'to-gguf' | 'from-gguf',
): Float32Array {
  const result = new Float32Array(values.length);
  const half = headDim / 2;
  for (let row = 0; row < values.length / columns; row++) {
    const within = row % headDim;
    const gguf = row - within + (within % half) * 2 + (within < half ? 0 : 1);
    const [from, to] = direction === 'to-gguf' ? [row, gguf] : [gguf, row];
    result.set(values.subarray(from * columns, (from + 1) * columns), to * columns);
  }
  return result;
}
