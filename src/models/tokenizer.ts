/**
 * @file A closed, word-level vocabulary in which a whole entity (`cup 1`) or fixed phrase (`go to`) is one token.
 *
 * The text of a small world is a few hundred words, so byte pairs would only make sequences longer: one token per
 * entity makes a step of the experience model ~35 tokens and lets a tiny model name an object in one decision.
 * Text is words parted by single spaces; a line feed is a word of its own. Encoding takes the longest phrase that
 * starts at the current word (greedy), so `cup 1` never becomes `cup`, `1`.
 *
 * The file format is Hugging Face's tokenizer.json (model `WordLevel`): the greedy longest match is written there as a
 * `Split` pre-tokeniser whose alternatives are sorted longest first, which gives the same ids in their library.
 */
import { DreamError } from '../data/errors';

/** Which special tokens exist; their ids follow this order, so `<pad>` is 0. */
export const specialTokens = [
  '<pad>',
  '<unk>',
  '<em>',
  '<pol>',
  '<gen>',
  '<t>',
  '</t>',
  '<ret>',
  '<r0>',
  '<r1>',
  '<seed>',
  '<to>',
  '>',
  '\n',
] as const;
export type SpecialToken = (typeof specialTokens)[number];

/** Tokens that may stand in plain text although they are special: the line feed and the prompt sign. */
const textual = new Set<string>(['>', '\n']);
const wordPattern = /\n|[^\s]+/g;
const memoLimit = 50_000;

interface Node {
  id: number;
  next: Map<string, Node>;
}

export class Tokenizer {
  /** Token text by id. Phrases contain single spaces. */
  readonly tokens: readonly string[];
  readonly vocabSize: number;
  /** Ids of the special tokens by name. */
  readonly special: Readonly<Record<SpecialToken, number>>;
  private readonly ids = new Map<string, number>();
  private readonly root: Node = { id: -1, next: new Map() };
  private readonly memo = new Map<string, readonly number[]>();

  /** @param tokens The full list in id order, beginning with `specialTokens`. Throws `tokenizer-vocabulary`. */
  constructor(tokens: readonly string[]) {
    this.tokens = [...tokens];
    this.vocabSize = tokens.length;
    for (const [id, token] of tokens.entries()) {
      if (this.ids.has(token)) throw invalidVocabulary(`the token ${JSON.stringify(token)} stands in it twice`);
      if (token !== '\n' && token !== (token.match(wordPattern) ?? []).join(' '))
        throw invalidVocabulary(`${JSON.stringify(token)} is not made of words parted by single spaces`);
      this.ids.set(token, id);
      if (!isControl(token) || textual.has(token)) this.insert(token, id);
    }
    for (const [id, token] of specialTokens.entries())
      if (this.ids.get(token) !== id) throw invalidVocabulary(`${JSON.stringify(token)} must have the id ${id}`);
    this.special = Object.fromEntries(specialTokens.map((token, id) => [token, id])) as Record<SpecialToken, number>;
  }

  /** Builds the list: specials, the words given (duplicates dropped), then reserved tokens up to a multiple of 16. */
  static fromWords(words: Iterable<string>, multiple = 16): Tokenizer {
    const list = [...new Set<string>([...specialTokens, ...words])];
    for (let i = 0; list.length % multiple !== 0; i++) list.push(`<reserved-${i}>`);
    return new Tokenizer(list);
  }

  /** The id of one token, or -1. */
  id(token: string): number {
    return this.ids.get(token) ?? -1;
  }

  /** True for ids that structure a transcript (specials, `>`, line feed, reserved): never part of what a role says. */
  isControl(id: number): boolean {
    return id < specialTokens.length || id >= this.vocabSize || isControl(this.tokens[id]);
  }

  /**
   * Token ids of a text. Unknown words become `<unk>`. Special tokens written out in the text (`<r1>`) are unknown
   * words too: text from a model, a file or a world can never forge structure.
   */
  encode(text: string): readonly number[] {
    const known = this.memo.get(text);
    if (known) return known;
    const words = text.match(wordPattern) ?? [];
    const ids: number[] = [];
    for (let i = 0; i < words.length; ) {
      let node: Node | undefined = this.root;
      let best = this.special['<unk>'];
      let length = 1;
      for (let j = i; j < words.length; j++) {
        node = node.next.get(words[j]);
        if (!node) break;
        if (node.id >= 0) {
          best = node.id;
          length = j - i + 1;
        }
      }
      ids.push(best);
      i += length;
    }
    // Worlds say the same few thousand sentences again and again.
    if (this.memo.size >= memoLimit) this.memo.clear();
    this.memo.set(text, ids);
    return ids;
  }

  /** The text of ids; lines are parted by a bare line feed. `decode(encode(x)) === x` for all text of known words. */
  decode(ids: ArrayLike<number>): string {
    let text = '';
    let lineStart = true;
    for (let i = 0; i < ids.length; i++) {
      const token = this.tokens[ids[i]] ?? '<unk>';
      text += token === '\n' || lineStart ? token : ` ${token}`;
      lineStart = token === '\n';
    }
    return text;
  }

  /**
   * Shared parts of each token, [V, 2] row-major: the type word and the number word of an entity (`cup 1` -> ids of
   * `cup` and `1`), -1 where there is none. Pre-training sums own + type + number rows, which is what lets a tiny
   * model match the task's `cup` with any instance it sees.
   */
  embeddingParts(): Int32Array {
    const parts = new Int32Array(this.vocabSize * 2).fill(-1);
    for (const [id, token] of this.tokens.entries()) {
      const match = /^(.+) (\d+)$/.exec(token);
      if (!match || this.isControl(id)) continue;
      const type = this.id(match[1]);
      const number = this.id(match[2]);
      if (type >= 0 && number >= 0) parts.set([type, number], id * 2);
    }
    return parts;
  }

  /** A Hugging Face tokenizer.json as a plain object. */
  toJSON(): TokenizerFile {
    return {
      version: '1.0',
      truncation: null,
      padding: null,
      added_tokens: this.tokens
        .map((content, id) => ({ id, content, special: true }))
        .filter(({ content }) => isControl(content) && !textual.has(content))
        .map((token) => ({ ...token, single_word: false, lstrip: false, rstrip: false, normalized: false })),
      normalizer: null,
      pre_tokenizer: {
        type: 'Split',
        pattern: { Regex: splitPattern(this.tokens) },
        behavior: 'Removed',
        invert: true,
      },
      post_processor: null,
      decoder: null,
      model: {
        type: 'WordLevel',
        vocab: Object.fromEntries(this.tokens.map((token, id) => [token, id])),
        unk_token: '<unk>',
      },
    };
  }

  /** Reads what `toJSON` wrote. Throws `tokenizer-format` for anything else. */
  static fromJSON(file: unknown): Tokenizer {
    const model = (file as Partial<TokenizerFile> | null)?.model;
    if (typeof model !== 'object' || model === null || model.type !== 'WordLevel')
      throw invalidFile('its model is not of type WordLevel');
    const vocab: unknown = model.vocab;
    if (typeof vocab !== 'object' || vocab === null || Array.isArray(vocab)) throw invalidFile('it has no vocabulary');
    const list: string[] = [];
    const entries = Object.entries(vocab);
    for (const [token, id] of entries) {
      if (!Number.isInteger(id) || id < 0 || id >= entries.length || list[id] !== undefined)
        throw invalidFile(`the id of ${JSON.stringify(token)} is missing, doubled or out of range`);
      list[id] = token;
    }
    try {
      return new Tokenizer(list);
    } catch (error) {
      throw error instanceof DreamError ? invalidFile(error.message) : error;
    }
  }

  private insert(token: string, id: number): void {
    let node = this.root;
    for (const word of token === '\n' ? [token] : token.split(' ')) {
      let next = node.next.get(word);
      if (!next) {
        next = { id: -1, next: new Map() };
        node.next.set(word, next);
      }
      node = next;
    }
    node.id = id;
  }
}

export interface TokenizerFile {
  version: string;
  truncation: null;
  padding: null;
  added_tokens: {
    id: number;
    content: string;
    special: boolean;
    single_word: boolean;
    lstrip: boolean;
    rstrip: boolean;
    normalized: boolean;
  }[];
  normalizer: null;
  pre_tokenizer: { type: 'Split'; pattern: { Regex: string }; behavior: 'Removed'; invert: true };
  post_processor: null;
  decoder: null;
  model: { type: 'WordLevel'; vocab: Record<string, number>; unk_token: string };
}

function isControl(token: string): boolean {
  return (specialTokens as readonly string[]).includes(token) || token.startsWith('<reserved-');
}

/** One alternative per phrase, longest first, then any other word: leftmost-first matching makes it greedy. */
function splitPattern(tokens: readonly string[]): string {
  const phrases = tokens
    .filter((token) => token.includes(' '))
    .sort((a, b) => b.split(' ').length - a.split(' ').length || (a < b ? -1 : 1))
    .map((token) => token.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&').replaceAll(' ', '[ ]+'));
  return `${phrases.length ? `(?:${phrases.join('|')})(?=\\s|$)|` : ''}\\n|[^\\s]+`;
}

function invalidVocabulary(why: string): DreamError {
  return new DreamError('tokenizer-vocabulary', `The vocabulary is not usable: ${why}.`, 'Build it with fromWords().');
}

function invalidFile(why: string): DreamError {
  return new DreamError(
    'tokenizer-format',
    `This tokenizer.json cannot be used: ${why}.`,
    'Use the tokenizer.json that belongs to the model, or write it again with `dream pretrain`.',
  );
}
