/**
 * @file ALFWorld transcripts: `> go to shelf 1`, the answer below. ReAct's prompts (a dict of them), ADaPT's traces, and
 * plain text files.
 *
 * Real ones are not tidy: sub-plans of ADaPT open with an action after a bare `>` and blank lines, marked only by a
 * leading space; some thoughts lack their `OK.`; lists lack their last comma. All of that is read.
 */
import type { Dropped, Finding, FormatReader, FoundEpisode, FoundTurn, Piece } from '../pieces';
import { jsonIn, lineOf } from './json-piece';

const thinking = /^think(?:\s*:\s*|\[)([\s\S]*?)\]?$/i;

/** Reads lines one by one; `finish` gives the turns and what could not be kept. */
export class TranscriptParser {
  readonly turns: FoundTurn[] = [];
  readonly dropped: Dropped[] = [];
  private readonly first: string[] = [];
  private thoughts: string[] = [];
  private turn: FoundTurn | null = null;
  /** The last line was a thought: an `OK.` below it is no answer of the world. */
  private thought: 'none' | 'said' | 'answered' = 'none';

  constructor(
    private readonly where: string,
    firstObservation = '',
  ) {
    if (firstObservation !== '') this.first.push(firstObservation);
  }

  get firstObservation(): string {
    return this.first.join('\n');
  }

  get isEmpty(): boolean {
    return this.turns.length === 0 && this.first.length === 0 && this.thoughts.length === 0;
  }

  /** @param place Of the line, for what is dropped. */
  line(line: string, place: string): void {
    if (line.trim() === '') return;
    if (line.startsWith('>')) this.command(line.slice(1).trim());
    // Only a prompt sign printed elsewhere leaves its space behind.
    else if (line.startsWith(' ')) this.command(line.trim());
    else this.answer(line.trimEnd(), place);
  }

  finish(): { first: string; turns: FoundTurn[]; dropped: Dropped[] } {
    if (this.thoughts.length > 0) {
      this.dropped.push({ where: `${this.where} / last thought`, why: 'a closing thought with no action after it' });
      this.thoughts = [];
    }
    return { first: this.firstObservation, turns: this.turns, dropped: this.dropped };
  }

  private command(words: string): void {
    if (words === '') return;
    const thought = thinking.exec(words);
    if (thought) {
      this.thoughts.push(thought[1].trim());
      this.thought = 'said';
      return;
    }
    this.turn = { thought: this.thoughts.join('\n'), action: words, observation: null };
    this.turns.push(this.turn);
    this.thoughts = [];
    this.thought = 'none';
  }

  private answer(line: string, place: string): void {
    if (this.thought !== 'none') {
      if (this.thought === 'said' && /^OK\.?$/i.test(line)) this.thought = 'answered';
      // A thought came between an action and its answer.
      else if (this.turn && this.turn.observation === null) this.turn.observation = line;
      // Some write a thought over several lines.
      else if (this.thought === 'said') this.thoughts[this.thoughts.length - 1] += `\n${line}`;
      else this.dropped.push({ where: place, why: 'a line after the answer to a thought' });
    } else if (!this.turn) this.first.push(line);
    else this.turn.observation = this.turn.observation === null ? line : `${this.turn.observation}\n${line}`;
  }
}

/** The whole transcript at once. */
export function parseTranscript(text: string, where: string, firstObservation = '') {
  const parser = new TranscriptParser(where, firstObservation);
  text.split('\n').forEach((line, i) => {
    parser.line(line.replace(/\r$/, ''), `${where} / line ${i + 1}`);
  });
  return parser.finish();
}

/** `{name: transcript}`: ReAct's alfworld_3prompts.json. Demonstrations, hence successes. */
export class TranscriptReader implements FormatReader {
  *read(piece: Piece): Generator<Finding> {
    const value = yield* jsonIn(piece);
    if (value === undefined) return;
    if (typeof value !== 'string') yield { where: piece.where, why: 'not a transcript' };
    else yield* findings(piece.where, parseTranscript(value, piece.where), piece.path.at(-1));
  }

  *end(): Generator<Finding> {}
}

function* findings(
  where: string,
  { first, turns, dropped }: ReturnType<typeof parseTranscript>,
  id?: string,
): Generator<Finding> {
  yield* dropped;
  if (turns.length === 0) yield { where, why: 'no action in it' };
  else yield { episode: { where, id, world: 'household', first, turns, outcome: 1, assumed: true } };
}

/** A text file of one or several transcripts; each begins with the room. */
export class AlfworldTextReader implements FormatReader {
  private parser = new TranscriptParser('line 1');
  private where = 'line 1';

  *read(piece: Piece): Generator<Finding> {
    const line = lineOf(piece);
    if (typeof line !== 'string') {
      yield line;
      return;
    }
    const begins = /^(-= Welcome to TextWorld|You are in the middle of a room)/.test(line);
    if (begins && this.parser.turns.length > 0) {
      yield* this.end();
      this.where = piece.where;
      this.parser = new TranscriptParser(piece.where);
    }
    this.parser.line(line, piece.where);
  }

  *end(): Generator<Finding> {
    if (this.parser.isEmpty) return;
    for (const finding of findings(this.where, this.parser.finish())) {
      // A log says nothing of its outcome; only prompts are known to be successes.
      yield 'episode' in finding ? { episode: unknownOutcome(finding.episode) } : finding;
    }
  }
}

const unknownOutcome = (episode: FoundEpisode): FoundEpisode => ({ ...episode, outcome: null, assumed: false });
