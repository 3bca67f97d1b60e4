/**
 * @file Tokens to text while they arrive: a character may be split over tokens, and a decoder may look at the token before.
 *
 * The window decodes the last finished token and all that follow, and hands out what is new. A text that ends in U+FFFD
 * may be half a character, so that last sign waits; an unfinished UTF-8 sequence shows as exactly one.
 * Idea: vLLM's incremental detokenizer.
 */
import type { DecodeOptions, TextTokenizer } from './text-tokenizer';

const HALF = '\uFFFD';

/** The pieces together are `decode` of all tokens together. */
export class TextStream {
  private window: number[] = [];
  /** Tokens at the front of the window that only give context. */
  private context = 0;
  /** Letters of the window's text that were handed out. */
  private said = 0;

  constructor(
    private readonly tokenizer: TextTokenizer,
    private readonly options: DecodeOptions = {},
  ) {}

  /** The text that these tokens finish; may be empty. */
  push(ids: Iterable<number>): string {
    const fresh = this.tokenizer.decodable(ids, this.options);
    if (fresh.length === 0) return '';
    this.window.push(...fresh);
    const text = this.tokenizer.decode(this.window);
    const whole = !text.endsWith(HALF);
    const piece = text.slice(this.said, whole ? text.length : text.length - 1);
    this.said += piece.length;
    if (whole) {
      // What is whole becomes context; what was context is no longer needed.
      this.window = this.window.slice(this.context);
      this.context = this.window.length;
      this.said = this.tokenizer.decode(this.window).length;
    }
    return piece;
  }

  /** The end: what waited for the rest of a character comes out as U+FFFD. */
  flush(): string {
    const piece = this.window.length === 0 ? '' : this.tokenizer.decode(this.window).slice(this.said);
    this.window = [];
    this.context = 0;
    this.said = 0;
    return piece;
  }
}
