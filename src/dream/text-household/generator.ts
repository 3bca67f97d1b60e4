/** @file The task generator in words (DreamGym, Eq. 6): a room, what it holds and two known tasks in, one new task out. */
import type { Task } from '../../envs/environment';
import { parseInstruction, TEMPLATES } from '../../envs/household';
import type { Dialect } from '../domain';
import type { Transition } from '../run-store';
import { knownObjects, typeOf } from '../transcripts';
import type { ChatTurns } from './chat-turns';
import { readBeginning } from './head-start';
import { selectionRole } from './selection';
import { oneLine, sentenceOf } from './sentences';

const maxNewTokens = 32;
const longestInstruction = 120;

const forms = Object.values(TEMPLATES).map(([first]) =>
  first.replace('{obj}', 'OBJECT').replace('{recep}', 'PLACE').replace('{toggle}', 'LAMP'),
);

const system = `You invent tasks for an agent in a household. A task has exactly one of these forms:
${forms.join('\n')}
OBJECT, PLACE and LAMP are kinds of things that the room has, without a number. A new task differs from the known ones and is possible, but not easy.
Answer with the new task on one line and nothing else.`;

export function generatorRole(turns: ChatTurns): Dialect['generator'] {
  const room = (task: Task, memories: readonly Transition[]): string[] => {
    const objects = [...knownObjects(memories.flatMap(({ state, nextState }) => [state, nextState]))];
    return [
      sentenceOf(readBeginning(task.firstObservation).room, 'look'),
      `The room holds: ${objects.length > 0 ? objects.map(typeOf).sort().join(', ') : 'nothing known yet'}.`,
    ];
  };
  return {
    stopTokens: turns.stopTokens,
    maxNewTokens,
    opening: (parents, memories) =>
      turns.opening(
        system,
        [
          ...room(parents[0], memories),
          ...parents.slice(0, 2).map(({ instruction }) => `Known task: ${oneLine(instruction, longestInstruction)}`),
        ].join('\n'),
        'New task:',
      ),
    parse(tokens) {
      const text = turns.textOf(tokens);
      return text === null ? null : readInstruction(text);
    },
    instruction: ({ instruction }) => turns.tokenizer.encode(oneLine(instruction, longestInstruction)),
    selection: selectionRole(turns, 'It works in a household.', room),
  };
}

/** The first line that says anything, as an instruction of one of the six families, or null. Never throws. */
export function readInstruction(text: string): string | null {
  const line = text.split('\n').find((words) => words.trim() !== '') ?? '';
  const words = oneLine(line.toLowerCase(), longestInstruction)
    .replace(/^[^a-z]*(?:(?:new |your |known )?task(?: is to)?\s*[:：])?[^a-z]*/, '')
    .replace(/[^a-z]+$/, '');
  return parseInstruction(words) === null ? null : words;
}
