/**
 * @file Text with `<think>...</think>` and `<action>...</action>` under a `Query:` line (workflow memories of web agents).
 * It has no observations: actions are kept, transitions are not possible.
 */
import type { Finding, FormatReader, FoundTurn, Piece } from '../pieces';
import { readAnswer } from './agent-answer';
import { lineOf } from './json-piece';

const heading = /^\s*(?:Query|Task|Workflow \d+)\s*:\s*(.+)$/i;

export class ActionTagsReader implements FormatReader {
  private instruction = '';
  private where = 'line 1';
  private turns: FoundTurn[] = [];
  private block: string[] = [];

  *read(piece: Piece): Generator<Finding> {
    const line = lineOf(piece);
    if (typeof line !== 'string') {
      yield line;
      return;
    }
    const begins = heading.exec(line);
    if (begins) {
      yield* this.end();
      this.instruction = begins[1].trim();
      this.where = piece.where;
      return;
    }
    const inBlock = this.block.length > 0;
    if (!inBlock && !/<(think|action)>/.test(line)) {
      if (line.trim() !== '' && !/^Actions:\s*$/.test(line))
        yield { where: piece.where, why: 'a line outside any action' };
      return;
    }
    this.block.push(line);
    if (!line.includes('</action>')) return;
    const answer = readAnswer(this.block.join('\n'));
    this.block = [];
    if (answer?.action) this.turns.push({ thought: answer.thought, action: answer.action, observation: null });
    else yield { where: piece.where, why: 'not an action' };
  }

  *end(): Generator<Finding> {
    const { where, turns, instruction } = this;
    if (this.block.length > 0) yield { where: `${where} / last lines`, why: 'an action that is cut off' };
    if (turns.length > 0) yield { episode: { where, world: 'web', instruction, first: null, turns, outcome: null } };
    else if (instruction !== '') yield { where, why: 'a task without any action' };
    this.turns = [];
    this.block = [];
    this.instruction = '';
  }
}
