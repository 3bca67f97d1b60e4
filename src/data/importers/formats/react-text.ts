/**
 * @file ReAct as plain text: `Thought:`, `Action:`, `Observation:` (with or without numbers), one or several episodes in a
 * file. An episode begins with its task: WebShop's first page, a question, an instruction.
 */
import type { Dropped, Finding, FormatReader, FoundEpisode, FoundTurn, Piece } from '../pieces';
import { readAnswer } from './agent-answer';
import { lineOf } from './json-piece';

const label =
  /^\s*(thought|action|observation|reflection|instruction|question|task|reward|score)(?: \d+)?\s*[:=]\s?(.*)$/i;
/** What the first page of WebShop begins with, whatever the author called it. */
const shopBegins = /^\s*(webshop|amazon shopping game)\s*$/i;

type Section = 'first' | 'thought' | 'action' | 'observation' | 'after';

/** Reads lines; every finished episode is handed out by `take`. */
export class ReactParser {
  private section: Section = 'first';
  private first: string[] = [];
  private turns: FoundTurn[] = [];
  private thoughts: string[] = [];
  private action: string[] = [];
  private observation: string[] = [];
  private outcome: number | null = null;
  private onlyThought = false;
  private place = '';
  private findings: Finding[] = [];

  constructor(private readonly world?: FoundEpisode['world']) {}

  line(line: string, place: string): void {
    if (this.place === '') this.place = place;
    const found = label.exec(line);
    const name = found?.[1].toLowerCase();
    const rest = found?.[2] ?? '';
    if (shopBegins.test(line) || (this.turns.length > 0 && (name === 'question' || name === 'task'))) {
      this.endEpisode(place);
      this.first.push(line);
    } else if (name === 'thought' && this.section !== 'first') {
      this.endSection();
      this.section = 'thought';
      this.thoughts.push(rest);
    } else if (name === 'thought') {
      this.section = 'thought';
      this.thoughts.push(rest);
    } else if (name === 'action') {
      this.endSection();
      this.section = 'action';
      this.action = [rest];
    } else if (name === 'observation') {
      this.endSection();
      this.section = 'observation';
      this.observation = [rest];
    } else if ((name === 'reward' || name === 'score') && this.section !== 'first' && rest.trim() !== '') {
      const value = Number(/^-?[\d.]+/.exec(rest.trim())?.[0]);
      if (Number.isFinite(value)) this.outcome = value;
    } else if (name === 'reflection') {
      this.endSection();
      this.section = 'after';
      if (rest.trim() !== '') this.findings.push({ where: place, why: 'a reflection after the episode' });
    } else this.append(line, place);
  }

  /** What was finished since the last call. */
  take(): Finding[] {
    const { findings } = this;
    this.findings = [];
    return findings;
  }

  /** Ends the episode under way. */
  endEpisode(nextPlace = ''): void {
    this.endSection();
    const where = this.place;
    if (this.thoughts.length > 0 && this.turns.length > 0)
      this.findings.push({ where: `${where} / last thought`, why: 'a closing thought with no action after it' });
    if (this.turns.length > 0)
      this.findings.push({
        episode: {
          where,
          world: this.world,
          first: this.first.join('\n').trim(),
          turns: this.turns,
          outcome: this.outcome,
        },
      });
    else if (this.first.some((line) => line.trim() !== ''))
      this.findings.push({ where, why: 'a task without any action' });
    this.section = 'first';
    this.first = [];
    this.turns = [];
    this.thoughts = [];
    this.outcome = null;
    this.onlyThought = false;
    this.place = nextPlace;
  }

  private append(line: string, place: string): void {
    if (this.section === 'first') this.first.push(line);
    else if (this.section === 'thought') this.thoughts.push(line);
    else if (this.section === 'action') this.action.push(line);
    else if (this.section === 'observation') this.observation.push(line);
    else if (line.trim() !== '') this.findings.push({ where: place, why: 'text after the episode' });
  }

  private endSection(): void {
    if (this.section === 'action') {
      const words = this.action.join('\n').trim();
      this.action = [];
      // A prompt ends with an `Action:` that awaits the model.
      if (words === '') return;
      const answer = readAnswer(words, true)!;
      if (answer.thought !== '') this.thoughts.push(answer.thought);
      this.onlyThought = answer.action === null;
      if (answer.action === null) return;
      const thought = this.thoughts.map((text) => text.trim()).filter(Boolean);
      this.turns.push({ thought: thought.join('\n'), action: answer.action, observation: null });
      this.thoughts = [];
    } else if (this.section === 'observation') {
      const words = this.observation.join('\n').trim();
      this.observation = [];
      const turn = this.turns.at(-1);
      const state = turn ? turn.observation : this.first.join('\n').trim();
      if (this.onlyThought) {
        // Some harnesses say OK to a thought, some show the page again.
        if (!/^ok\.?$/i.test(words) && words !== '' && words !== state)
          this.findings.push({ where: this.place, why: 'an answer to a thought' });
      } else if (turn) turn.observation = words;
      else this.first.push(words);
    }
    if (this.section !== 'first') this.section = 'after';
  }
}

export class ReactTextReader implements FormatReader {
  private readonly parser = new ReactParser();

  *read(piece: Piece): Generator<Finding> {
    const line: string | Dropped = lineOf(piece);
    if (typeof line !== 'string') yield line;
    else {
      this.parser.line(line, piece.where);
      yield* this.parser.take();
    }
  }

  *end(): Generator<Finding> {
    this.parser.endEpisode();
    yield* this.parser.take();
  }
}
