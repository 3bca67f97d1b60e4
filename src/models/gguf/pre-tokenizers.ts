/**
 * @file How text is cut before byte pairs are merged, by llama.cpp's names (`tokenizer.ggml.pre`). The patterns are those
 * of the models' own tokenizer.json files; `(?i:…)` is written out, because JavaScript's regular expressions lack it.
 */

export interface PreTokenizer {
  normalizer: unknown;
  preTokenizer: unknown;
  /** A piece that is a token as a whole is taken whole (Llama 3). */
  ignoreMerges: boolean;
}

const byteLevel = (useRegex: boolean) => ({
  type: 'ByteLevel',
  add_prefix_space: false,
  trim_offsets: true,
  use_regex: useRegex,
});
const sequence = (...pretokenizers: unknown[]) => ({ type: 'Sequence', pretokenizers });

const contractions = "(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])";
/** GPT-4's pattern; the models differ in how many digits stay together. */
const gpt4 = (digits: string) => ({
  type: 'Split',
  pattern: {
    Regex: `${contractions}|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|${digits}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+`,
  },
  behavior: 'Isolated',
  invert: false,
});

const gpt2: PreTokenizer = { normalizer: null, preTokenizer: byteLevel(true), ignoreMerges: false };
const smollm: PreTokenizer = {
  normalizer: null,
  preTokenizer: sequence({ type: 'Digits', individual_digits: true }, byteLevel(true)),
  ignoreMerges: false,
};
const llama3: PreTokenizer = {
  normalizer: null,
  preTokenizer: sequence(gpt4('\\p{N}{1,3}'), byteLevel(false)),
  ignoreMerges: true,
};
const qwen2: PreTokenizer = {
  normalizer: { type: 'NFC' },
  preTokenizer: sequence(gpt4('\\p{N}'), byteLevel(false)),
  ignoreMerges: false,
};

const byName: ReadonlyMap<string, PreTokenizer> = new Map([
  ['gpt-2', gpt2],
  ['default', gpt2],
  ['smollm', smollm],
  ['llama-bpe', llama3],
  ['llama3', llama3],
  ['llama-v3', llama3],
  ['qwen2', qwen2],
  ['deepseek-r1-qwen', qwen2],
]);

export function preTokenizerOf(name: string): PreTokenizer | undefined {
  return byName.get(name);
}
