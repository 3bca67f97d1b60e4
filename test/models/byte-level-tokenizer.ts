/** @file A small byte-level BPE in tokenizer.json's format: 256 bytes, a few merges, ChatML's special tokens. */
import type { TokenizerSource } from '../../src/models/weights';

/** GPT-2's printable letter for each byte. */
export function byteLetters(): string[] {
  const letters: string[] = [];
  let extra = 0;
  for (let byte = 0; byte < 256; byte++) {
    const printable = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
    letters.push(String.fromCharCode(printable ? byte : 256 + extra++));
  }
  return letters;
}

/** ChatML as SmolLM2 and Qwen write it, with a default system message. */
export const chatMl =
  "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}{{ '<|im_start|>system\nBe brief.<|im_end|>\n' }}{% endif %}" +
  "{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}" +
  "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";

const merges = ['h e', 'l l', 'he ll', 'hell o', 'Ġ w', 'o r', 'Ġw or', 'l d', 'Ġwor ld'];
const specials = ['<|endoftext|>', '<|im_start|>', '<|im_end|>'];

/** Ids: special tokens 0 to 2, bytes from 3, merges after them, `<think>` (added, not special) last. */
export function byteLevelTokenizer(config: Record<string, unknown> = {}): TokenizerSource {
  const vocab: Record<string, number> = {};
  for (const text of [...specials, ...byteLetters(), ...merges.map((pair) => pair.replace(' ', ''))])
    vocab[text] = Object.keys(vocab).length;
  const added = [...specials, '<think>'].map((content, at) => ({
    id: at < specials.length ? at : Object.keys(vocab).length,
    content,
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
    special: at < specials.length,
  }));
  return {
    tokenizer: {
      version: '1.0',
      added_tokens: added,
      normalizer: null,
      pre_tokenizer: { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true },
      post_processor: null,
      decoder: { type: 'ByteLevel' },
      model: { type: 'BPE', unk_token: null, vocab, merges },
    },
    tokenizerConfig: {
      bos_token: '<|im_start|>',
      eos_token: { content: '<|im_end|>' },
      chat_template: chatMl,
      ...config,
    },
  };
}
