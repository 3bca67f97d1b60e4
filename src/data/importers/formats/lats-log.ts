/**
 * @file Logs of tree search over ReAct (andyz245/LanguageAgentTreeSearch, webshop/logs): prompts repeat the path so far,
 * `NEW NODE` lines add one step to it, `reward:` precedes a node that ended the episode.
 *
 * The same steps stand in a log many times. They are put together as a tree; its leaves are the episodes, and every
 * entry that added no step is reported as what it was.
 */
import type { Dropped, Finding, FormatReader, FoundEpisode, FoundTurn, Piece } from '../pieces';
import { readAnswer } from './agent-answer';
import { lineOf } from './json-piece';
import { ReactParser } from './react-text';

const stamp = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d+ - \w+ - /;
const node = /^NEW NODE: Node\(depth=\d+, value=[-\d.]+, visits=\d+, action=([\s\S]*?), observation=([\s\S]*)\)\s*$/;
/** Characters of episodes kept until the end of the log. */
const most = 16_000_000;

export class LatsLogReader implements FormatReader {
  private entry: string[] = [];
  private where = '';
  private path: FoundEpisode | null = null;
  /** Thoughts at the end of the path: they belong to its next action. */
  private pathThoughts: string[] = [];
  private reward: number | null = null;
  private readonly seen = new Set<string>();
  private readonly leaves = new Map<string, FoundEpisode>();
  private kept = 0;

  *read(piece: Piece): Generator<Finding> {
    const line = lineOf(piece);
    if (typeof line !== 'string') {
      yield line;
      return;
    }
    if (stamp.test(line)) {
      yield* this.endEntry();
      this.where = piece.where;
      this.entry = [line.replace(stamp, '')];
    } else this.entry.push(line);
    if (this.kept > most) yield* this.flush();
  }

  *end(): Generator<Finding> {
    yield* this.endEntry();
    yield* this.flush();
  }

  private *flush(): Generator<Finding> {
    for (const episode of this.leaves.values()) yield { episode };
    this.leaves.clear();
    this.seen.clear();
    this.kept = 0;
  }

  private *endEntry(): Generator<Finding> {
    if (this.entry.length === 0) return;
    const text = this.entry.join('\n').trim();
    const [first] = this.entry;
    const { where } = this;
    this.entry = [];
    const found = node.exec(text);
    if (found) yield* this.addNode(found[1].trim(), found[2].trim());
    else if (/^(PROMPT|VALUE PROMPT|Current): /.test(`${first} `)) yield* this.addPaths(text, first);
    else if (/^reward:/.test(first)) this.reward = Number(first.slice(7)) || 0;
    else if (text !== '') yield { where, why: bookkeeping(first) };
  }

  private *addNode(action: string, observation: string): Generator<Dropped> {
    const { where, path, reward } = this;
    this.reward = null;
    const answer = readAnswer(action, true);
    if (!path || !answer) yield { where, why: 'a node without a path that leads to it' };
    else if (answer.action === null) {
      // The prompt that continues from it repeats it; one that never continues leads nowhere.
      yield { where, why: 'a thought as a node of its own: kept where an action follows it' };
    } else {
      const thought = [...this.pathThoughts, answer.thought].filter(Boolean).join('\n');
      const turns: FoundTurn[] = [...path.turns, { thought, action: answer.action, observation }];
      if (!this.add({ ...path, where, turns, outcome: reward })) yield { where, why: 'repeats steps already read' };
    }
  }

  /** Transcripts within a prompt: demonstrations first, the path under way last. */
  private *addPaths(text: string, first: string): Generator<Finding> {
    const parser = new ReactParser('shop');
    const body = text.replace(/^(PROMPT|VALUE PROMPT|Current): ?/, '');
    const lines = body.split('\n');
    for (const line of lines) parser.line(line, this.where);
    const isPath = first.startsWith('PROMPT');
    if (isPath) [this.path, this.pathThoughts] = [null, []];
    parser.endEpisode();
    let added = 0;
    let last: FoundEpisode | null = null;
    for (const finding of parser.take())
      if ('episode' in finding) {
        last = finding.episode;
        if (this.add(last)) added++;
      }
    if (isPath) this.setPath(lines, last);
    if (added === 0) yield { where: this.where, why: 'repeats steps already read' };
    else if (first.startsWith('VALUE')) yield { where: this.where, why: 'instructions and scores of a value model' };
  }

  /** The path ends where the prompt awaits an action; it may have no step yet. */
  private setPath(lines: readonly string[], last: FoundEpisode | null): void {
    const begin = lines.findLastIndex((line) => /^\s*webshop\s*$/i.test(line));
    const tail = lines.slice(begin);
    const first = tail
      .slice(
        0,
        tail.findIndex((line) => /^\s*action:/i.test(line)),
      )
      .join('\n')
      .trim();
    const same = last !== null && last.first === first;
    this.path = same
      ? { ...last, outcome: null }
      : { where: this.where, world: 'shop', first, turns: [], outcome: null };
    const lastAction = tail.findLastIndex((line) => /^\s*action:\s*(?!think\[)\S/i.test(line));
    this.pathThoughts = tail
      .slice(lastAction + 1)
      .flatMap((line) => /^\s*action:\s*think\[([\s\S]*)\]\s*$/i.exec(line)?.[1] ?? []);
  }

  /** False when every step of it was there already. */
  private add(episode: FoundEpisode): boolean {
    const keys = [episode.first ?? ''];
    for (const { thought, action } of episode.turns) keys.push(`${keys.at(-1)}\n\n${thought}\n${action}`);
    const key = keys.at(-1)!;
    if (this.seen.has(key)) {
      const leaf = this.leaves.get(key);
      if (leaf && leaf.outcome === null) leaf.outcome = episode.outcome;
      return false;
    }
    for (const prefix of keys) {
      this.seen.add(prefix);
      this.leaves.delete(prefix);
    }
    this.leaves.set(key, episode);
    this.kept += key.length + (episode.turns.at(-1)?.observation?.length ?? 0);
    return true;
  }
}

function bookkeeping(line: string): string {
  if (line.startsWith('SAMPLED ACTION')) return 'sampled actions: those that were tried stand as nodes';
  if (line.startsWith('VALUE')) return 'a value model’s opinion';
  if (line.startsWith('{')) return 'the state of a session';
  return 'a remark of the search program';
}
