/** @file Byte-level tokenizers with the chat templates that models really bring, made here instead of downloaded. */
import { TextTokenizer } from '../../../src/models/text-tokenizer';
import type { TokenizerSource } from '../../../src/models/weights';
import { byteLevelTokenizer } from '../../models/byte-level-tokenizer';

interface Family {
  specials: readonly string[];
  bos: string;
  eos: string;
  template: string;
}

const llama3: Family = {
  specials: ['<|begin_of_text|>', '<|end_of_text|>', '<|start_header_id|>', '<|end_header_id|>', '<|eot_id|>'],
  bos: '<|begin_of_text|>',
  eos: '<|eot_id|>',
  template:
    "{% set loop_messages = messages %}{% for message in loop_messages %}{% set content = '<|start_header_id|>' + message['role'] + '<|end_header_id|>\n\n'+ message['content'] | trim + '<|eot_id|>' %}{% if loop.index0 == 0 %}{% set content = bos_token + content %}{% endif %}{{ content }}{% endfor %}{% if add_generation_prompt %}{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' }}{% endif %}",
};

/** Knows no system role, and calls the assistant something else. */
const gemma: Family = {
  specials: ['<bos>', '<eos>', '<start_of_turn>', '<end_of_turn>'],
  bos: '<bos>',
  eos: '<end_of_turn>',
  template:
    "{{ bos_token }}{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}{% for message in messages %}{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('Roles must alternate') }}{% endif %}{% if message['role'] == 'assistant' %}{% set role = 'model' %}{% else %}{% set role = message['role'] %}{% endif %}{{ '<start_of_turn>' + role + '\n' + message['content'] | trim + '<end_of_turn>\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<start_of_turn>model\n' }}{% endif %}",
};

/** Qwen3's way: an empty thought in the generation prompt, none in the history. */
const thinking: Family = {
  specials: [],
  bos: '<|im_start|>',
  eos: '<|im_end|>',
  template:
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% if enable_thinking is defined and enable_thinking is false %}{{ '<think>\n\n</think>\n\n' }}{% endif %}{% endif %}",
};

/** Nothing but words: an answer has no end of its own. */
const plain: Family = {
  specials: [],
  bos: '<|im_start|>',
  eos: '<|im_end|>',
  template:
    "{% for message in messages %}{{ message['role'] + ': ' + message['content'] + '\n' }}{% endfor %}{% if add_generation_prompt %}{{ 'assistant: ' }}{% endif %}",
};

const families = { llama3, gemma, thinking, plain };

/** What a folder's tokenizer.json and tokenizer_config.json hold. */
export function tokenizerSource(name: 'chatml' | keyof typeof families): TokenizerSource {
  const source = byteLevelTokenizer();
  if (name === 'chatml') return source;
  const { specials, bos, eos, template } = families[name];
  const { added_tokens: added, model } = source.tokenizer as {
    added_tokens: { id: number; content: string; special: boolean }[];
    model: { vocab: Record<string, number> };
  };
  for (const content of specials) {
    const id = Math.max(...added.map((token) => token.id)) + 1;
    model.vocab[content] = id;
    added.push({ ...added[0], id, content });
  }
  return {
    tokenizer: source.tokenizer,
    tokenizerConfig: { bos_token: bos, eos_token: eos, chat_template: template },
  };
}

export function chatTokenizer(name: Parameters<typeof tokenizerSource>[0]): TextTokenizer {
  return new TextTokenizer(tokenizerSource(name));
}
