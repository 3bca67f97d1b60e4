/**
 * @file ONNX files of one operation each, written by hand: a table of logits that is a language model (the next token
 * depends on the last), and a table of vectors that is a sentence encoder. Enough to run the real library without a
 * download. Field numbers: onnx.proto.
 */

const utf8 = new TextEncoder();

function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  while (rest > 127) {
    bytes.push((rest % 128) | 128);
    rest = Math.floor(rest / 128);
  }
  return [...bytes, rest];
}

const number = (field: number, value: number): number[] => [...varint(field * 8), ...varint(value)];
const bytes = (field: number, content: Iterable<number>): number[] => {
  const list = [...content];
  return [...varint(field * 8 + 2), ...varint(list.length), ...list];
};
const string = (field: number, text: string): number[] => bytes(field, utf8.encode(text));

const float32 = 1;
const int64 = 7;

function valueInfo(name: string, type: number, dims: readonly (string | number)[]): number[] {
  const shape = dims.flatMap((dim) => bytes(1, typeof dim === 'number' ? number(1, dim) : string(2, dim)));
  return [...string(1, name), ...bytes(2, bytes(1, [...number(1, type), ...bytes(2, shape)]))];
}

/** `output` [batch, length, width] = rows of `table` [rows, width] picked by `input_ids`. */
export function gatherModel(output: string, table: readonly (readonly number[])[]): Uint8Array<ArrayBuffer> {
  const width = table[0].length;
  const raw = new Uint8Array(Float32Array.from(table.flat()).buffer);
  const initializer = [
    ...number(1, table.length),
    ...number(1, width),
    ...number(2, float32),
    ...string(8, 'table'),
    ...bytes(9, raw),
  ];
  const node = [...string(1, 'table'), ...string(1, 'input_ids'), ...string(2, output), ...string(4, 'Gather')];
  const graph = [
    ...bytes(1, node),
    ...string(2, 'tiny'),
    ...bytes(5, initializer),
    ...bytes(11, valueInfo('input_ids', int64, ['batch', 'length'])),
    ...bytes(12, valueInfo(output, float32, ['batch', 'length', width])),
  ];
  return Uint8Array.from([...number(1, 8), ...bytes(7, graph), ...bytes(8, number(2, 14))]);
}

/** A tokenizer of whole words; words[0] is the padding, words[1] ends a sequence, words[2] is the unknown word. */
export function wordTokenizer(words: readonly string[]): { tokenizer: object; config: object } {
  const special = (id: number) => ({ id, content: words[id], special: true });
  return {
    tokenizer: {
      version: '1.0',
      truncation: null,
      padding: null,
      added_tokens: [0, 1, 2].map((id) => ({
        ...special(id),
        single_word: false,
        lstrip: false,
        rstrip: false,
        normalized: false,
      })),
      normalizer: null,
      pre_tokenizer: { type: 'WhitespaceSplit' },
      post_processor: null,
      decoder: null,
      model: { type: 'WordLevel', vocab: Object.fromEntries(words.map((word, id) => [word, id])), unk_token: words[2] },
    },
    config: {
      tokenizer_class: 'PreTrainedTokenizerFast',
      model_max_length: 32,
      pad_token: words[0],
      eos_token: words[1],
      unk_token: words[2],
      chat_template:
        '{% for message in messages %}{{ message.content }} {% endfor %}{% if add_generation_prompt %}so{% endif %}',
    },
  };
}

const json = (value: object) => new Blob([JSON.stringify(value)]);

/** A folder as one would pick it: a model that says one of `after(word)` after each word, by a wide margin. */
export function tinyDecoder(words: readonly string[], after: (word: string) => readonly string[]): Map<string, Blob> {
  const { tokenizer, config } = wordTokenizer(words);
  const logits = words.map((word) => words.map((next) => (after(word).includes(next) ? 12 : 0)));
  return new Map([
    [
      'config.json',
      json({
        model_type: 'llama',
        architectures: ['LlamaForCausalLM'],
        vocab_size: words.length,
        hidden_size: 8,
        num_hidden_layers: 0,
        num_attention_heads: 1,
        num_key_value_heads: 1,
        max_position_embeddings: 32,
        eos_token_id: 1,
      }),
    ],
    ['generation_config.json', json({ eos_token_id: 1, pad_token_id: 0 })],
    ['tokenizer.json', json(tokenizer)],
    ['tokenizer_config.json', json(config)],
    ['onnx/model.onnx', new Blob([gatherModel('logits', logits)])],
  ]);
}

export function tinyEncoder(words: readonly string[], vectors: readonly (readonly number[])[]): Map<string, Blob> {
  const { tokenizer, config } = wordTokenizer(words);
  return new Map([
    [
      'config.json',
      json({
        model_type: 'bert',
        architectures: ['BertModel'],
        vocab_size: words.length,
        hidden_size: vectors[0].length,
      }),
    ],
    ['tokenizer.json', json(tokenizer)],
    ['tokenizer_config.json', json(config)],
    ['onnx/model_quantized.onnx', new Blob([gatherModel('last_hidden_state', vectors)])],
  ]);
}
