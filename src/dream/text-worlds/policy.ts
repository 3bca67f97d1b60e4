/**
 * @file The policy in words, in any world: the world's rules, what it sees, and its answer: a short thought and a line
 * `Action: search[leak proof bottle]`.
 *
 * As in the household (text-household/policy.ts) every answer begins with a given `Thought:`, and a led turn ends with an
 * action that is possible now.
 */
import type { Dialect, PolicyAnswer } from '../domain';
import type { ChatTurns } from '../text-household/chat-turns';
import { type Script, ScriptWords } from '../text-household/script';
import type { TextSettings } from '../text-household/settings';
import { cleanText } from '../text-models/answer';
import { brief } from './brief';
import { ledTurn } from './turn';
import type { SpokenWorld } from './world';

/** A sentence of thought and an action with some free text. */
const maxNewTokens = 80;
const longestThought = 600;
/** An action in the smallest of vocabularies, which spells it out. */
const longestAction = 96;
const longestActionText = 300;
const longestInstruction = 400;

export type PolicySettings = Pick<TextSettings, 'constrain' | 'thoughtTokens' | 'listActions'>;

export function policyRole(
  turns: ChatTurns,
  world: SpokenWorld,
  settings: PolicySettings,
  longestObservation: number,
): Dialect['policy'] {
  const { constrain, thoughtTokens, listActions } = settings;
  const led = constrain === 'admissible';
  const thinks = !(led && thoughtTokens === 0);
  const begun = thinks ? 'Thought:' : 'Action:';
  const words = new ScriptWords(turns.tokenizer, turns.end);
  const form = { thoughtTokens, optionalText: world.optionalText };
  const asked = thinks
    ? `Answer with one short thought and then the action, in this form:\nThought: I begin.\nAction: ${world.exampleAction}`
    : `Answer with the action and nothing else, in this form:\nAction: ${world.exampleAction}`;
  const hint = `That was no action. End your answer with a line like "Action: ${world.exampleAction}".`;
  const told = (observation: string, actions: readonly string[] = []) => {
    const text = brief(observation, longestObservation);
    return listActions && actions.length > 0 ? `${text}\nPossible actions: ${actions.join(', ')}` : text;
  };
  const parse = (tokens: readonly number[]): PolicyAnswer | null => {
    const text = turns.textOf(tokens);
    if (text === null) return null;
    return led ? readLast(`${begun}${text}`) : readFirst(`${begun}${text}`);
  };
  return {
    stopTokens: turns.stopTokens,
    maxNewTokens: led ? thoughtTokens + longestAction : maxNewTokens,
    opening(task, firstObservation, actions) {
      const instruction = task.instruction.slice(0, longestInstruction);
      return turns.opening(
        `${world.rules}\n${asked}`,
        `Your task: ${instruction}.\n\n${told(firstObservation, actions)}`,
        begun,
      );
    },
    parse,
    guide: (actions) => words.guide(led ? ledTurn(words, form, actions) : freeTurn(words)),
    reply(tokens, observation, actions) {
      const text = told(observation, actions);
      return [...turns.closing(tokens), ...turns.next(parse(tokens) ? text : `${text}\n${hint}`, begun)];
    },
  };
}

/** Whatever it says, up to the end of its first `Action:` line: what follows would be an imagined world's answer. */
function* freeTurn(words: ScriptWords): Script {
  yield {
    kind: 'speak',
    until: (text) => text.split('\n').slice(0, -1).some(isActionLine),
    longest: Number.POSITIVE_INFINITY,
    free: true,
  };
  yield words.finish();
}

/** What a demonstrator says in a turn, in the very pieces that a led turn is made of. */
export function demonstratedTurn(
  turns: ChatTurns,
  { constrain, thoughtTokens }: PolicySettings,
  thought: string,
  action: string,
): number[] {
  const { tokenizer } = turns;
  const thinks = !(constrain === 'admissible' && thoughtTokens === 0);
  return [
    ...(thinks ? [...tokenizer.encode(` ${thought}\n`), ...tokenizer.encode('Action:')] : []),
    ...tokenizer.encode(` ${action}`),
    turns.end,
  ];
}

const label = /^[\s*_#>-]*action\s*\d*[\s*_]*[:：][\s*_]*/i;

const isActionLine = (line: string): boolean => label.test(line) && line.replace(label, '').trim() !== '';

/** A led turn ends with the line that was chosen; what looks like one before it is a part of the thought. */
function readLast(text: string): PolicyAnswer | null {
  const at = text.lastIndexOf('Action:');
  return at < 0 ? null : answer(text.slice(0, at), text.slice(at + 'Action:'.length));
}

/** The first `Action:` line counts. Never throws. */
export function readFirst(text: string): PolicyAnswer | null {
  const lines = text.slice(text.lastIndexOf('</think>') + 1).split('\n');
  const at = lines.findIndex(isActionLine);
  return at < 0 ? null : answer(lines.slice(0, at).join('\n'), lines[at].replace(label, ''));
}

/** Any one line is an action: whether it does something is for the world to say. */
function answer(thought: string, said: string): PolicyAnswer | null {
  const action = cleanText(said).replace(/^[`"'*\s]+|[`"'*\s]+$/g, '');
  if (action === '' || action.includes('\n') || action.length > longestActionText) return null;
  const words = cleanText(thought).replace(/^[*_]*thought[*_]*:[*_\s]*/i, '');
  return { thought: words.slice(0, longestThought), action };
}
