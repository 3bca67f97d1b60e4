/** @file A GGUF of a few hundred kilobytes that reads and writes text: random 4-bit weights, a byte-level vocabulary, ChatML. */
import { byteLevelTokenizer } from '../../models/byte-level-tokenizer';
import { randomWeights } from '../../models/gguf/reference';
import { type GgufParts, modelParts, text, tiny, u32, writeGguf } from '../../models/gguf/writer';

const CONTROL = 3;
const ORDINARY = 1;

export function talkingParts(contextLength = 128): GgufParts {
  const { tokenizer, tokenizerConfig } = byteLevelTokenizer();
  const model = tokenizer.model as { vocab: Record<string, number>; merges: string[] };
  const added = tokenizer.added_tokens as { id: number; content: string; special: boolean }[];
  // In the order of their ids: an object lists digits first.
  const tokens = Object.keys(model.vocab).sort((a, b) => model.vocab[a] - model.vocab[b]);
  const special = new Set(added.filter((token) => token.special).map(({ id }) => id));
  const rows = Math.ceil(tokens.length / 4) * 4;
  const parts = modelParts({
    layers: 2,
    metadata: {
      'llama.context_length': u32(contextLength),
      'tokenizer.ggml.model': text('gpt2'),
      'tokenizer.ggml.pre': text('gpt-2'),
      'tokenizer.ggml.tokens': { type: 'strings', value: tokens },
      'tokenizer.ggml.token_type': {
        type: 'i32s',
        value: tokens.map((_, id) => (special.has(id) ? CONTROL : ORDINARY)),
      },
      'tokenizer.ggml.merges': { type: 'strings', value: model.merges },
      'tokenizer.ggml.bos_token_id': u32(1),
      'tokenizer.ggml.eos_token_id': u32(2),
      'tokenizer.chat_template': text(String(tokenizerConfig.chat_template)),
    },
  });
  parts.tensors['token_embd.weight'] = {
    dimensions: [tiny.width, rows],
    type: 'Q4_0',
    bytes: randomWeights('Q4_0', rows * tiny.width, 99),
  };
  return parts;
}

export const talkingGguf = (contextLength?: number): Uint8Array<ArrayBuffer> => writeGguf(talkingParts(contextLength));
