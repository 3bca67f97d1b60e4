/**
 * @file ADaPT's results (archiki/ADaPT results/*.json), in both shapes: ALFWorld
 * `{task_type: {gamefile: {problem, trace, plans, reward}}}` and WebShop or TextCraft `{id: {problem, score, success,
 * action_history}}`, the second without the world's answers.
 */
import { isJsonObject, type JsonObject } from '../../json-object';
import type { Finding, FormatReader, FoundTurn, Piece } from '../pieces';
import { readAnswer } from './agent-answer';
import { parseTranscript } from './alfworld-transcript';
import { field, jsonIn, textOf } from './json-piece';
import { outcomeOf } from './outcome';

export class AdaptReader implements FormatReader {
  *read(piece: Piece): Generator<Finding> {
    const { where, path } = piece;
    const value = yield* jsonIn(piece);
    if (value === undefined) return;
    if (!isJsonObject(value) || textOf(field(value, 'problem')) === undefined)
      yield { where, why: 'a summary, not an episode' };
    else if (typeof field(value, 'trace') === 'string') yield* trace(value, where, path);
    else if (Array.isArray(field(value, 'action_history'))) yield* history(value, where, path);
    else yield { where, why: 'neither a trace nor an action history' };
  }

  *end(): Generator<Finding> {}
}

function* trace(entry: JsonObject, where: string, path: readonly string[]): Generator<Finding> {
  const { first, turns, dropped } = parseTranscript(String(entry.trace), where, String(entry.problem));
  yield* dropped;
  if (turns.length === 0) {
    yield { where, why: 'no action in it' };
    return;
  }
  const game = path.at(-1);
  yield {
    episode: {
      where,
      id: game,
      room: game,
      family: game?.split('-')[0],
      world: 'household',
      first,
      turns,
      outcome: outcomeOf(entry),
    },
  };
  // Plans describe how the run was split up, not what happened in the world.
  if (Array.isArray(entry.plans) && entry.plans.length > 0)
    yield { where: `${where} / plans`, why: 'plans of the agent program: no steps in them' };
}

function* history(entry: JsonObject, where: string, path: readonly string[]): Generator<Finding> {
  const turns: FoundTurn[] = [];
  let thoughts: string[] = [];
  for (const [i, words] of (entry.action_history as unknown[]).entries()) {
    const answer = typeof words === 'string' ? readAnswer(words, true) : null;
    if (answer === null) yield { where: `${where} / action ${i + 1}`, why: 'not an action' };
    else if (answer.action === null) thoughts.push(answer.thought);
    else {
      turns.push({
        thought: [...thoughts, answer.thought].filter(Boolean).join('\n'),
        action: answer.action,
        observation: null,
      });
      thoughts = [];
    }
  }
  if (thoughts.length > 0) yield { where: `${where} / last thought`, why: 'a closing thought with no action after it' };
  if (turns.length === 0) {
    yield { where, why: 'no action in it' };
    return;
  }
  const problem = String(entry.problem).trim();
  const inShop = turns.some(({ action }) => /^(search|click)\[/.test(action));
  yield {
    episode: {
      where,
      id: path.at(-1),
      world: inShop ? 'shop' : 'text',
      instruction: problem.replace(/^I am looking to buy a product\.\s*/, ''),
      first: null,
      turns,
      outcome: outcomeOf(entry),
    },
  };
}
