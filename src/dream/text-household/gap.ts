/**
 * @file Free text between given words: `search[` ... `]`. Tokens do not end where a text should end: `])` is one token, ` with`
 * belongs to the words behind the gap, half of a letter could become anything. So a gap has tokens of its own.
 */
import type { TextTokenizer } from '../../models/text-tokenizer';

export interface Gap {
  kind: 'fill';
  words: readonly number[];
  /** What comes behind the text; the first token of each closes it. */
  tails: readonly (readonly number[])[];
  least: number;
  longest: number;
  /** The text begins with a blank. It never ends with one. */
  apart: boolean;
}

export class GapWords {
  private readonly lists = new Map<string, readonly number[]>();
  private readonly sets = new WeakMap<readonly number[], ReadonlySet<number>>();
  private readonly blanks = new Map<number, boolean>();
  private readonly narrowed = new WeakMap<readonly number[], Map<string, readonly number[]>>();

  constructor(
    private readonly tokenizer: TextTokenizer,
    /** Every token that is text. */
    private readonly ordinary: () => readonly number[],
  ) {}

  /** Tokens of whole letters, none of them one of `letters`, a line break or a control character. */
  without(letters: string): readonly number[] {
    const unwanted = [...letters];
    return this.list(letters, (text) => !/[\p{Cc}\p{Cf}\uFFFD]/u.test(text) && !unwanted.some((c) => text.includes(c)));
  }

  digits(): readonly number[] {
    return this.list('0-9', (text) => /^[0-9]$/.test(text));
  }

  isOver(gap: Gap, said: readonly number[]): boolean {
    const { tail } = this.read(gap, said);
    return tail !== null && gap.tails.some((each) => each.length === tail.length && begins(each, tail));
  }

  next(gap: Gap, said: readonly number[]): readonly number[] {
    const { words, tails, least, longest, apart } = gap;
    const { filled, tail } = this.read(gap, said);
    const open = tails.filter((each) => begins(each, tail ?? []));
    const closing = [...new Set(open.map((each) => each[tail?.length ?? 0]))];
    if (tail !== null) return closing;
    const mustGoOn = filled < least || this.endsBlank(said, filled);
    if (filled >= longest && !mustGoOn) return closing;
    const next = this.endsBlank(said, filled)
      ? this.only(words, 'solid', (text) => !/^\s|\s$/.test(text))
      : apart && filled === 0
        ? this.only(words, 'apart', (text) => text.startsWith(' '))
        : words;
    return mustGoOn ? next.filter((token) => !closing.includes(token)) : [...closing, ...next];
  }

  /** Where the gap ends and its tail begins: at the first token that begins a tail, or is no word of the gap. */
  private read(
    { words, tails, longest }: Gap,
    said: readonly number[],
  ): { filled: number; tail: readonly number[] | null } {
    const known = this.sets.get(words) ?? new Set(words);
    this.sets.set(words, known);
    const closes = (token: number): boolean => tails.some((tail) => tail[0] === token);
    let filled = 0;
    while (filled < said.length && known.has(said[filled]) && !closes(said[filled])) {
      if (filled >= longest && !this.endsBlank(said, filled)) break;
      filled++;
    }
    return { filled, tail: filled < said.length ? said.slice(filled) : null };
  }

  private endsBlank(said: readonly number[], filled: number): boolean {
    if (filled === 0) return false;
    const token = said[filled - 1];
    let blank = this.blanks.get(token);
    if (blank === undefined) {
      blank = this.tokenizer.decode([token]).endsWith(' ');
      this.blanks.set(token, blank);
    }
    return blank;
  }

  private only(words: readonly number[], name: string, fits: (text: string) => boolean): readonly number[] {
    const lists = this.narrowed.get(words) ?? new Map<string, readonly number[]>();
    this.narrowed.set(words, lists);
    const found = lists.get(name) ?? words.filter((id) => fits(this.tokenizer.decode([id])));
    lists.set(name, found);
    return found;
  }

  private list(key: string, fits: (text: string) => boolean): readonly number[] {
    let found = this.lists.get(key);
    if (!found) {
      found = this.ordinary().filter((id) => {
        const text = this.tokenizer.decode([id]);
        return text !== '' && fits(text);
      });
      this.lists.set(key, found);
    }
    return found;
  }
}

function begins(option: readonly number[], said: readonly number[]): boolean {
  return said.every((token, i) => option[i] === token);
}
