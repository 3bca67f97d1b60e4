/**
 * @file What a model is led through while it speaks: words that are given, choices between given words, and words of its
 * own. A script is a generator; a guide runs it along the tokens that were drawn and says which may come next.
 *
 * Log-probabilities stay those of the full softmax, in the sampler and in the trainer alike, so the probability ratio of
 * GRPO is consistent: it starts at 1 to rounding. What a mask does change is the distribution that was sampled from:
 * p'(a) = p(a) / sum of p over what is allowed. The gradient of that denominator is left out, so a constrained choice
 * also learns to be *possible*, not only to be better than the other possible ones. Where one token alone is allowed
 * there is nothing to learn: the rollouts mask it out of the loss, which is exact.
 */
import type { TextTokenizer } from '../../models/text-tokenizer';
import type { TurnGuide } from '../domain';
import { type Gap, GapWords } from './gap';

export type Step =
  /** Given words. */
  | { kind: 'say'; tokens: readonly number[] }
  /** One of these; none is the beginning of another. */
  | { kind: 'choose'; options: readonly (readonly number[])[] }
  /** Own words, until their text says so or so many tokens are drawn. `free`: structural tokens too, e.g. the end. */
  | { kind: 'speak'; until: (text: string) => boolean; longest: number; free: boolean }
  /** A gap in given words: some of these tokens, at least `least` and at most `longest`, then one of the tails. */
  | Gap;

/** Every step answers with the text that was said in it. */
export type Script = Generator<Step, void, string>;

export class ScriptWords {
  private ordinary: readonly number[] | null = null;
  private readonly gaps: GapWords;

  constructor(
    readonly tokenizer: TextTokenizer,
    /** Ends an answer. */
    readonly end: number,
  ) {
    this.gaps = new GapWords(tokenizer, () => this.words());
  }

  say(text: string): Step {
    return { kind: 'say', tokens: this.tokenizer.encode(text) };
  }

  finish(text = ''): Step {
    return { kind: 'say', tokens: [...this.tokenizer.encode(text), this.end] };
  }

  /** @param ended the answer ends behind the choice, which also tells `shelf 1` from `shelf 12`. */
  choose(texts: readonly string[], ended = false): Step {
    const options = texts.map((text) => [...this.tokenizer.encode(text), ...(ended ? [this.end] : [])]);
    return { kind: 'choose', options };
  }

  /** One of `fixed`, which ends the answer, or one of `heads`, behind which the script goes on. */
  chooseOrGoOn(fixed: readonly string[], heads: readonly string[]): Step {
    return {
      kind: 'choose',
      options: [
        ...fixed.map((text) => [...this.tokenizer.encode(text), this.end]),
        ...heads.map((text) => this.tokenizer.encode(text)),
      ],
    };
  }

  /** Own words on one line. */
  line(longest: number): Step {
    return { kind: 'speak', until: (text) => text.includes('\n'), longest, free: false };
  }

  /**
   * A gap of one's own words, without any of the letters of `without`, line breaks or control characters; then one of the
   * tails, each of which must begin with a letter of `without` or end the answer (`ended`).
   */
  fill(
    without: string,
    tails: readonly string[],
    { least = 1, longest = 24, ended = false, apart = false } = {},
  ): Step {
    return {
      kind: 'fill',
      words: this.gaps.without(without),
      tails: tails.map((text) => [...this.tokenizer.encode(text), ...(ended ? [this.end] : [])]),
      least,
      longest,
      apart,
    };
  }

  /** A number of at most `digits` digits, then one of the tails. */
  number(tails: readonly string[], digits: number): Step {
    return {
      kind: 'fill',
      words: this.gaps.digits(),
      tails: tails.map((text) => this.tokenizer.encode(text)),
      least: 1,
      longest: digits,
      apart: false,
    };
  }

  /** Runs a script. The guide belongs to one answer and must see its tokens grow. */
  guide(script: Script): TurnGuide {
    let taken = 0;
    let said: number[] = [];
    let step = script.next();
    const over = (): boolean => {
      if (step.done) return false;
      const now = step.value;
      if (now.kind === 'say') return said.length >= now.tokens.length;
      if (now.kind === 'choose')
        return now.options.some((option) => option.length === said.length && begins(option, said));
      if (now.kind === 'fill') return this.gaps.isOver(now, said);
      return said.length >= now.longest || (said.length > 0 && now.until(this.tokenizer.decode(said)));
    };
    const proceed = (): void => {
      while (over()) {
        const text = this.tokenizer.decode(said);
        said = [];
        step = script.next(text);
      }
    };
    proceed();
    return (drawn) => {
      for (; taken < drawn.length; taken++) {
        said.push(drawn[taken]);
        proceed();
      }
      if (step.done) return [this.end];
      const now = step.value;
      if (now.kind === 'say') return [now.tokens[said.length]];
      if (now.kind === 'speak') return now.free ? null : this.words();
      if (now.kind === 'fill') return this.gaps.next(now, said);
      const next = now.options.filter((option) => begins(option, said)).map((option) => option[said.length]);
      return [...new Set(next)];
    };
  }

  /** Every token that is text. */
  private words(): readonly number[] {
    if (!this.ordinary) {
      const { vocabSize } = this.tokenizer;
      const all = Array.from({ length: vocabSize }, (_, id) => id).filter((id) => !this.tokenizer.isSpecial(id));
      this.ordinary = this.tokenizer.decodable(all);
    }
    return this.ordinary;
  }
}

function begins(option: readonly number[], said: readonly number[]): boolean {
  return said.every((token, i) => option[i] === token);
}
