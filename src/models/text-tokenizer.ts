/**
 * @file Text <-> tokens of a real model, from Hugging Face's tokenizer.json, by @huggingface/tokenizers (plain JavaScript,
 * the same in a worker and in Node).
 *
 * Three things the library leaves to us. Text from a model, a file or a world is hostile: `<|im_end|>` written out in an
 * observation must stay text, so `encode` reads it letter by letter unless told otherwise. The engine's vocabulary is
 * often padded beyond the tokenizer's, so an id without a text is dropped when decoding. And a decoded text must join up
 * with what was encoded, so no spaces are "cleaned up".
 */
import { Tokenizer } from '@huggingface/tokenizers';
import { DreamError } from '../data/errors';
import { isJsonObject } from '../data/json-object';
import { type ChatMessage, type ChatOptions, ChatTemplate } from './chat-template';
import type { TokenizerSource } from './weights';

export interface EncodeOptions {
  /** Add what the model wants around a text (`<s>`, `<|begin_of_text|>`); a chat template writes those itself. */
  addSpecial?: boolean;
  /** Read special tokens written out in the text as tokens. Only for text of our own, never for a model's or a world's. */
  parseSpecial?: boolean;
}

export interface DecodeOptions {
  skipSpecial?: boolean;
}

/** Tokens that end a turn, by family: ChatML and Qwen, Llama 3, Llama 2, Phi, Gemma. */
const turnEnds = ['<|im_end|>', '<|eot_id|>', '<|eom_id|>', '<|end_of_text|>', '<|endoftext|>', '</s>', '<|end|>'];

function badTokenizer(message: string, cause?: unknown): DreamError {
  return new DreamError(
    'bad-tokenizer',
    message,
    'Get tokenizer.json and tokenizer_config.json again, from the same model as the weights.',
    { cause },
  );
}

/** A special token stands in tokenizer_config.json as a text, or as an object with `content`. */
function tokenText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return isJsonObject(value) && typeof value.content === 'string' ? value.content : undefined;
}

/**
 * The library's `Digits` knows 0 to 9 only; the original splits off every number sign (`²`, `½`, `٣`), as this pattern does.
 * SmolLM2's tokenizer has one.
 */
function everyDigit(step: unknown): unknown {
  if (!isJsonObject(step)) return step;
  if (Array.isArray(step.pretokenizers)) return { ...step, pretokenizers: step.pretokenizers.map(everyDigit) };
  if (step.type !== 'Digits') return step;
  const pattern = { Regex: step.individual_digits ? '\\p{N}' : '\\p{N}+' };
  return { type: 'Split', pattern, behavior: 'Isolated', invert: false };
}

export class TextTokenizer {
  /** One more than the highest id that has a text; the model's own vocabulary may be larger. */
  readonly vocabSize: number;
  readonly bosId: number | null;
  readonly eosId: number | null;
  readonly padId: number | null;
  /** Every id that ends an answer: the eos first, then the other ends of a turn that this vocabulary has. */
  readonly stopIds: readonly number[];
  private readonly parsing: Tokenizer;
  /** The same model, with special tokens that are never found in a text. */
  private readonly plain: Tokenizer;
  private readonly special: ReadonlyMap<number, string>;
  private readonly template: ChatTemplate;

  /** Throws `bad-tokenizer`. */
  constructor(source: TokenizerSource) {
    const { tokenizer: json, tokenizerConfig: config } = source;
    if (!isJsonObject(json) || !isJsonObject(json.model)) throw badTokenizer('The tokenizer has no model.');
    const added = (Array.isArray(json.added_tokens) ? json.added_tokens : []).filter(isJsonObject);
    const whole = {
      ...{ decoder: null, post_processor: null, normalizer: null },
      ...json,
      pre_tokenizer: everyDigit(json.pre_tokenizer ?? null),
    };
    try {
      this.parsing = new Tokenizer({ ...whole, added_tokens: added }, config);
      // The vocabulary and its merges are large: both share one. The post-processor still finds its special tokens in it.
      const emptyModel = { type: 'BPE', vocab: {}, merges: [] };
      const ordinary = added.filter((token) => token.special !== true);
      this.plain = new Tokenizer({ ...whole, model: emptyModel, added_tokens: ordinary }, config);
      this.plain.model = this.parsing.model;
    } catch (cause) {
      throw badTokenizer(`The tokenizer cannot be read: ${cause instanceof Error ? cause.message : cause}.`, cause);
    }
    this.vocabSize = this.parsing.model?.vocab.length ?? 0;
    const special = new Map<number, string>();
    for (const [id, token] of this.parsing.get_added_tokens_decoder())
      if (token.special) special.set(id, token.content);
    this.special = special;
    const id = (key: string): number | null => this.tokenId(tokenText(config[key]) ?? '');
    this.bosId = id('bos_token');
    this.eosId = id('eos_token');
    this.padId = id('pad_token');
    const named = Array.isArray(config.eos_token_id) ? config.eos_token_id : [config.eos_token_id];
    const known = turnEnds.map((text) => this.tokenId(text)).filter((end) => end !== null && special.has(end));
    const stops = [this.eosId, ...named, ...known].filter(
      (end): end is number => Number.isInteger(end) && this.textOf(end as number) !== undefined,
    );
    this.stopIds = [...new Set(stops)];
    this.template = new ChatTemplate(config, {
      bos_token: tokenText(config.bos_token) ?? '',
      eos_token: tokenText(config.eos_token) ?? '',
      pad_token: tokenText(config.pad_token) ?? '',
      unk_token: tokenText(config.unk_token) ?? '',
    });
    // A first encoding shows what the constructor of the library does not look at.
    this.encode('a b', { addSpecial: true });
  }

  get hasChatTemplate(): boolean {
    return this.template.exists;
  }

  /** The id of one token written as in the vocabulary, or null. */
  tokenId(token: string): number | null {
    return this.parsing.token_to_id(token) ?? null;
  }

  /** True for ids that structure a conversation and are no text. */
  isSpecial(id: number): boolean {
    return this.special.has(id);
  }

  /** Neither option is on unless asked for. Throws `bad-tokenizer` when the vocabulary lacks a token it needs. */
  encode(text: string, options: EncodeOptions = {}): number[] {
    if (text === '' && !options.addSpecial) return [];
    const tokenizer = options.parseSpecial ? this.parsing : this.plain;
    let ids: (number | undefined)[];
    try {
      ids = tokenizer.encode(text, { add_special_tokens: options.addSpecial ?? false }).ids;
    } catch (cause) {
      throw badTokenizer(`The tokenizer fails on a text: ${cause instanceof Error ? cause.message : cause}.`, cause);
    }
    if (!ids.every((id) => Number.isInteger(id)))
      throw badTokenizer('The vocabulary lacks a token that the tokenizer produces.');
    return ids as number[];
  }

  /** The text of ids. Special tokens are written out unless `skipSpecial`; ids without a text are dropped. */
  decode(ids: Iterable<number>, options: DecodeOptions = {}): string {
    const known = this.decodable(ids, options);
    if (known.length === 0) return '';
    return this.parsing.decode(known, { skip_special_tokens: false, clean_up_tokenization_spaces: false });
  }

  /** The ids that `decode` turns into text. */
  decodable(ids: Iterable<number>, options: DecodeOptions = {}): number[] {
    return [...ids].filter((id) => this.textOf(id) !== undefined && !(options.skipSpecial && this.special.has(id)));
  }

  /** A conversation as the model's template writes it. Throws `no-chat-template`, `chat-template-failed`. */
  chat(messages: readonly ChatMessage[], options: ChatOptions = {}): string {
    return this.template.render(messages, options);
  }

  /**
   * The conversation in tokens. Special tokens of the template become tokens, those written inside a message stay text:
   * an observation cannot end its own turn. Throws as `chat` does.
   */
  chatTokens(messages: readonly ChatMessage[], options: ChatOptions = {}): number[] {
    const forged = new Set([...this.special.values()].filter((text) => messages.some((m) => m.content.includes(text))));
    if (forged.size === 0) return this.encode(this.chat(messages, options), { parseSpecial: true });
    // Each is replaced by a private-use character that nothing else uses, and put back as plain text.
    const all = messages.map((message) => message.content).join('');
    const marks = new Map<string, string>();
    let code = 0xe000;
    // Longest first: one may begin with another.
    for (const text of [...forged].sort((a, b) => b.length - a.length)) {
      while (all.includes(String.fromCharCode(code))) code++;
      marks.set(String.fromCharCode(code++), text);
    }
    const marked = messages.map((message) => {
      let content = message.content;
      for (const [mark, text] of marks) content = content.replaceAll(text, mark);
      return { ...message, content };
    });
    const pieces = this.chat(marked, options).split(new RegExp(`([${[...marks.keys()].join('')}])`));
    return pieces.flatMap((piece) => {
      const text = marks.get(piece);
      return text === undefined ? this.encode(piece, { parseSpecial: true }) : this.encode(text);
    });
  }

  private textOf(id: number): string | undefined {
    return this.parsing.id_to_token(id);
  }
}
