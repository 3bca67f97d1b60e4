/**
 * @file The tokenizer a GGUF carries, rebuilt as Hugging Face's tokenizer.json and tokenizer_config.json.
 *
 * `gpt2` is byte-level BPE with merges; how text is cut before it is only named (`tokenizer.ggml.pre`), see
 * pre-tokenizers.ts. `llama` is SentencePiece, whose merges follow from the pieces' scores, see sentence-piece.ts.
 */
import { DreamError } from '../../data/errors';
import type { TokenizerSource } from '../weights';
import { clip, type Metadata } from './metadata';
import { preTokenizerOf } from './pre-tokenizers';
import { badGguf } from './problem';
import { sentencePieceParts } from './sentence-piece';

/** tokenizer.ggml.token_type */
const UNKNOWN = 2;
const CONTROL = 3;
const USER_DEFINED = 4;

interface Parts {
  normalizer: unknown;
  pre_tokenizer: unknown;
  decoder: unknown;
  model: Record<string, unknown>;
}

/** Null when the file has no vocabulary. Throws `bad-gguf` or `unsupported-tokenizer`. */
export function tokenizerOf(
  file: string,
  architecture: string,
  metadata: Metadata,
  vocabSize: number,
): TokenizerSource | null {
  const get = (key: string): string => `tokenizer.ggml.${key}`;
  const kind = metadata.string(get('model'));
  const tokens = metadata.strings(get('tokens'));
  if (kind === undefined || kind === 'no_vocab' || !tokens) return null;
  if (tokens.length > vocabSize) throw badGguf(file, `it has ${tokens.length} tokens but ${vocabSize} embeddings`);
  const types = metadata.numbers(get('token_type'));
  if (types && types.length !== tokens.length) throw badGguf(file, 'its tokens and their types differ in number');
  // `fromEntries` also keeps a token called `__proto__`.
  const vocab: Record<string, number> = Object.fromEntries(tokens.map((token, id) => [token, id]));
  const twice = tokens.findIndex((token, id) => vocab[token] !== id);
  if (twice >= 0) throw badGguf(file, `its vocabulary has ${JSON.stringify(clip(tokens[twice]))} twice`);

  const special = (name: string): string | null => {
    const id = metadata.number(get(`${name}_token_id`));
    if (id === undefined) return null;
    if (tokens[id] === undefined) throw badGguf(file, `its ${name} token ${id} is not in its vocabulary`);
    return tokens[id];
  };
  const bos = special('bos');
  const eos = special('eos');
  const unknown = special('unknown');

  const pre = metadata.string(get('pre')) ?? (architecture.startsWith('qwen') ? 'qwen2' : 'gpt-2');
  let parts: Parts;
  if (kind === 'gpt2') {
    parts = byteLevelParts(file, vocab, metadata.strings(get('merges')) ?? [], pre);
  } else if (kind === 'llama') {
    const scores = metadata.numbers(get('scores'));
    if (scores?.length !== tokens.length) throw badGguf(file, 'its tokens have no scores');
    parts = sentencePieceParts(tokens, vocab, scores, unknown, metadata.boolean(get('add_space_prefix')) ?? true);
  } else {
    throw unsupportedTokenizer(file, kind);
  }

  // As llama.cpp: SentencePiece and Llama 3 begin with the bos token unless the file says otherwise.
  const addBos = metadata.boolean(get('add_bos_token')) ?? (kind === 'llama' || parts.model.ignore_merges === true);
  const addEos = metadata.boolean(get('add_eos_token')) ?? false;
  return {
    tokenizer: {
      version: '1.0',
      truncation: null,
      padding: null,
      added_tokens: tokens.flatMap((content, id) => {
        const type = types?.[id];
        if (type !== CONTROL && type !== USER_DEFINED && type !== UNKNOWN) return [];
        const flags = { single_word: false, lstrip: false, rstrip: false, normalized: false };
        return [{ id, content, ...flags, special: type !== USER_DEFINED }];
      }),
      ...parts,
      post_processor: postProcessor(vocab, addBos ? bos : null, addEos ? eos : null),
    },
    tokenizerConfig: {
      tokenizer_class: 'PreTrainedTokenizerFast',
      bos_token: bos,
      eos_token: eos,
      unk_token: unknown,
      pad_token: special('padding') ?? eos,
      add_bos_token: addBos,
      add_eos_token: addEos,
      clean_up_tokenization_spaces: false,
      ...(metadata.has('tokenizer.chat_template') && { chat_template: metadata.string('tokenizer.chat_template') }),
    },
  };
}

function byteLevelParts(file: string, vocab: Record<string, number>, merges: readonly string[], pre: string): Parts {
  const known = preTokenizerOf(pre);
  if (!known) throw unsupportedTokenizer(file, `gpt2 with "${clip(pre)}"`);
  return {
    normalizer: known.normalizer,
    pre_tokenizer: known.preTokenizer,
    decoder: { type: 'ByteLevel', add_prefix_space: true, trim_offsets: true, use_regex: true },
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: false,
      byte_fallback: false,
      ignore_merges: known.ignoreMerges,
      vocab,
      merges: merges.map((merge) => {
        const space = merge.indexOf(' ', 1);
        if (space < 0) throw badGguf(file, `its merge ${JSON.stringify(clip(merge))} is not a pair`);
        return [merge.slice(0, space), merge.slice(space + 1)];
      }),
    },
  };
}

/** Puts bos before and eos after a text, as the template of a tokenizer.json. */
function postProcessor(vocab: Record<string, number>, bos: string | null, eos: string | null): unknown {
  if (bos === null && eos === null) return null;
  const token = (id: string | null, type_id: number) => (id === null ? [] : [{ SpecialToken: { id, type_id } }]);
  const text = (id: 'A' | 'B', type_id: number) => [{ Sequence: { id, type_id } }];
  const added = [bos, eos].filter((id) => id !== null);
  return {
    type: 'TemplateProcessing',
    single: [...token(bos, 0), ...text('A', 0), ...token(eos, 0)],
    pair: [...token(bos, 0), ...text('A', 0), ...token(eos, 0), ...token(bos, 1), ...text('B', 1), ...token(eos, 1)],
    special_tokens: Object.fromEntries(added.map((id) => [id, { id, ids: [vocab[id]], tokens: [id] }])),
  };
}

function unsupportedTokenizer(file: string, kind: string): DreamError {
  return new DreamError(
    'unsupported-tokenizer',
    `"${file}" has a tokenizer of the kind ${clip(kind)}, which is not read here.`,
    "Put the model's tokenizer.json and tokenizer_config.json beside the file.",
  );
}
