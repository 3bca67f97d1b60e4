/**
 * @file The choice among variants of a task, in words: the most challenging one that is still feasible (DreamGym, appendix C;
 * the criteria are the paper's, the words are ours).
 */
import type { Task } from '../../envs/environment';
import type { Dialect } from '../domain';
import type { Transition } from '../run-store';
import type { ChatTurns } from './chat-turns';
import { oneLine } from './sentences';

const maxNewTokens = 72;
const longestTask = 300;
const longestReasoning = 400;
const begun = 'SELECTION:';

/**
 * @param setting the world, in a sentence or more.
 * @param about what is known of the place where the tasks are set, a line each.
 */
export function selectionRole(
  turns: ChatTurns,
  setting: string,
  about: (parent: Task, memories: readonly Transition[]) => readonly string[],
): NonNullable<Dialect['generator']['selection']> {
  const system = `You choose exercises for an agent. ${setting}
The agent knows one task already; you see several variants of it and pick one: the hardest that it could still fulfil there.
A good variant
- can be done with what is known to be there, but takes more than the known task;
- is said clearly and in good English;
- asks for something really different, not for the same in other words;
- puts things together as people would.
Answer in two lines, the number of the variant and one sentence:
SELECTION: number
REASONING: sentence`;
  return {
    maxNewTokens,
    opening: (parent, variants, memories) =>
      turns.opening(
        system,
        [
          ...about(parent, memories),
          `Known task: ${oneLine(parent.instruction, longestTask)}`,
          'Variants:',
          ...variants.map(({ instruction }, i) => `${i + 1}. ${oneLine(instruction, longestTask)}`),
        ].join('\n'),
        begun,
      ),
    parse(tokens, variants) {
      // A number stands whether or not the sentence behind it was finished.
      const ended = tokens.length > 0 && turns.stopTokens.includes(tokens[tokens.length - 1]);
      const text = turns.textOf(ended ? tokens : [...tokens, turns.end]);
      return text === null ? null : readSelection(text, variants);
    },
  };
}

/** `SELECTION: n`, with or without its first word, and the reasoning if there is one. Null for anything else. Never throws. */
export function readSelection(text: string, variants: number): { index: number; reasoning: string } | null {
  const said = /^[\s*_#"'`]*(?:SELECTION[\s*_]*:)?[\s*_#"'`([]*(?:variant|number|task)?\s*(\d{1,3})(?!\d)/i.exec(text);
  const number = Number(said?.[1] ?? 0);
  if (!said || number < 1 || number > variants) return null;
  const reasoning = /REASONING[\s*_]*:([\s\S]*)/i.exec(text)?.[1] ?? '';
  return { index: number - 1, reasoning: oneLine(reasoning, longestReasoning) };
}
