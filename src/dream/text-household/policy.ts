/**
 * @file The policy in words: rules and commands, what it sees, and its answer: a short thought and a line
 * `Action: go to shelf 1`.
 *
 * Small models keep a form that they have begun themselves far better than one they were told. So the first turn is ours
 * (`look`, which changes nothing and shows the room), and every answer of the model begins with a given `Thought:`.
 */
import type { Dialect, PolicyAnswer } from '../domain';
import { cleanText } from '../text-models/answer';
import type { ChatTurns } from './chat-turns';
import { readBeginning } from './head-start';
import { type Script, ScriptWords } from './script';
import { commandOf, sentenceOf } from './sentences';
import type { TextSettings } from './settings';

/** A sentence of thought and a command are some thirty tokens. */
const maxNewTokens = 64;
const longestThought = 600;
/** A command in the smallest of vocabularies, which spells it out. */
const longestAction = 72;

/** For a policy that may say anything. */
const freeRules = `You act in a household to fulfil a task. Every turn you are told what happens, and you give one command:
go to PLACE
open PLACE
close PLACE
take OBJECT from PLACE
put OBJECT in/on PLACE
clean OBJECT with SINKBASIN
heat OBJECT with MICROWAVE
cool OBJECT with FRIDGE
use LAMP
examine OBJECT or PLACE
inventory
look
Places and objects are named with their number, like shelf 1 or cup 2. You must be at a place to use it and can hold one object. Some places must be opened to see what is inside. "Nothing happens." means that the command was not possible.`;

/** Led turns need no list of commands: what is possible is seen to. A short prompt is read and trained on faster. */
const ledRules =
  'You act in a household to fulfil a task. Every turn you are told what happens, and you give one command. You must be at a place to use it, closed places must be opened first, and you can hold one object.';

const forms = {
  thinking: {
    begun: 'Thought:',
    first: 'Thought: First I look around.\nAction: look',
    asked: `Answer with one short thought and then the command, in this form:
Thought: I have not looked at the shelf yet.
Action: go to shelf 1`,
  },
  acting: {
    begun: 'Action:',
    first: 'Action: look',
    asked: `Answer with the command and nothing else, in this form:
Action: go to shelf 1`,
  },
};

const hint = 'That was no command. End your answer with a line like "Action: go to shelf 1".';

export type PolicySettings = Pick<TextSettings, 'constrain' | 'thoughtTokens' | 'listActions'>;

export function policyRole(turns: ChatTurns, settings: PolicySettings): Dialect['policy'] {
  const { constrain, thoughtTokens, listActions } = settings;
  const led = constrain === 'admissible';
  const acting = led && thoughtTokens === 0;
  const { begun, first, asked } = acting ? forms.acting : forms.thinking;
  const words = new ScriptWords(turns.tokenizer, turns.end);
  const parse = (tokens: readonly number[]): PolicyAnswer | null => {
    const text = turns.textOf(tokens);
    if (text === null) return null;
    return led ? readLast(`${begun}${text}`) : readAction(text);
  };
  const told = (sentence: string, actions: readonly string[] = []) =>
    listActions && actions.length > 0 ? `${sentence}\nPossible commands: ${actions.join(', ')}.` : sentence;
  return {
    stopTokens: turns.stopTokens,
    maxNewTokens: led ? thoughtTokens + longestAction : maxNewTokens,
    opening(task, firstObservation, actions) {
      const { room, turns: before } = readBeginning(firstObservation);
      // What is possible is told of the present only.
      const now = (sentence: string, isLast: boolean) => turns.next(isLast ? told(sentence, actions) : sentence, begun);
      return [
        ...turns.opening(`${led ? ledRules : freeRules}\n${asked}`, `Your task is to: ${task.instruction}.`),
        ...turns.spoken(first),
        ...now(sentenceOf(room, 'look'), before.length === 0),
        ...before.flatMap(({ action, observation }, i) => [
          ...demonstratedTurn(turns, settings, 'I go on.', action),
          ...now(sentenceOf(observation, action), i === before.length - 1),
        ]),
      ];
    },
    parse,
    guide: (actions) => words.guide(led ? admissibleTurn(words, thoughtTokens, actions) : freeTurn(words)),
    reply(tokens, observation, actions) {
      const said = parse(tokens);
      const sentence = told(sentenceOf(observation, said?.action ?? ''), actions);
      return [...turns.closing(tokens), ...turns.next(said ? sentence : `${sentence} ${hint}`, begun)];
    },
  };
}

/** A thought of the policy's own on one line, then one of the actions. */
function* admissibleTurn(words: ScriptWords, thoughtTokens: number, actions: readonly string[]): Script {
  if (thoughtTokens > 0) {
    const thought = yield words.line(thoughtTokens);
    yield words.say(`${/\n\s*$/.test(thought) ? '' : '\n'}Action:`);
  }
  yield words.choose(
    actions.map((action) => ` ${action}`),
    true,
  );
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
  settings: PolicySettings,
  thought: string,
  action: string,
): number[] {
  const { tokenizer } = turns;
  const thinks = !(settings.constrain === 'admissible' && settings.thoughtTokens === 0);
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
  return at < 0 ? null : answer(text.slice(0, at).split('\n'), commandOf(text.slice(at + 'Action:'.length)));
}

/**
 * The first `Action:` line counts: a model that goes on imagines the world's answers itself. Without one, a line that is
 * nothing but a command will do. Never throws.
 */
export function readAction(text: string): PolicyAnswer | null {
  const lines = withoutThinking(text).split('\n');
  const labelled = lines.findIndex((line) => label.test(line));
  if (labelled >= 0) {
    const onLine = lines[labelled].replace(label, '');
    const said = onLine.trim() === '' ? lines.slice(labelled + 1).find((line) => line.trim() !== '') : onLine;
    return answer(lines.slice(0, labelled), commandOf(said ?? ''));
  }
  for (const [i, line] of lines.entries()) {
    const action = commandOf(line);
    if (action !== null) return answer(lines.slice(0, i), action);
  }
  return null;
}

function answer(thought: readonly string[], action: string | null): PolicyAnswer | null {
  if (action === null) return null;
  const words = cleanText(thought.join('\n')).replace(/^[*_]*thought[*_]*:[*_\s]*/i, '');
  return { thought: words.slice(0, longestThought), action };
}

/** Reasoning models may think between tags although they were asked not to. */
function withoutThinking(text: string): string {
  const end = text.lastIndexOf('</think>');
  return end < 0 ? text : text.slice(end + '</think>'.length);
}
