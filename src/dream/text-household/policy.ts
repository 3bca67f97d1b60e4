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
import { commandOf, sentenceOf } from './sentences';

/** A sentence of thought and a command are some thirty tokens. */
const maxNewTokens = 64;
const longestThought = 600;

const system = `You act in a household to fulfil a task. Every turn you are told what happens, and you give one command:
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
Places and objects are named with their number, like shelf 1 or cup 2. You must be at a place to use it and can hold one object. Some places must be opened to see what is inside. "Nothing happens." means that the command was not possible.
Answer with one short thought and then the command, in this form:
Thought: I have not looked at the shelf yet.
Action: go to shelf 1`;

const begun = 'Thought:';
const firstTurn = `${begun} First I look around.\nAction: look`;

const hint = 'That was no command. End your answer with a line like "Action: go to shelf 1".';

export function policyRole(turns: ChatTurns): Dialect['policy'] {
  const parse = (tokens: readonly number[]): PolicyAnswer | null => {
    const text = turns.textOf(tokens);
    return text === null ? null : readAction(text);
  };
  return {
    stopTokens: turns.stopTokens,
    maxNewTokens,
    opening: (task, firstObservation) => [
      ...turns.opening(system, `Your task is to: ${task.instruction}.`),
      ...turns.spoken(firstTurn),
      ...turns.next(sentenceOf(firstObservation, 'look'), begun),
    ],
    parse,
    reply(words, observation) {
      const said = parse(words);
      const sentence = sentenceOf(observation, said?.action ?? '');
      return [...turns.closing(words), ...turns.next(said ? sentence : `${sentence} ${hint}`, begun)];
    },
  };
}

const label = /^[\s*_#>-]*action\s*\d*[\s*_]*[:：][\s*_]*/i;

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
