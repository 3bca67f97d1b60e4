/** @file The task generator in words, in any world (DreamGym, Eq. 6): two known tasks in, one new task out. */
import type { Dialect } from '../domain';
import type { Transition } from '../run-store';
import type { ChatTurns } from '../text-household/chat-turns';
import { selectionRole } from '../text-household/selection';
import { cleanText } from '../text-models/answer';
import { brief } from './brief';
import type { SpokenWorld } from './world';

const maxNewTokens = 64;
const longestInstruction = 400;
const longestMemory = 160;
const mostMemories = 3;

export function generatorRole(turns: ChatTurns, world: SpokenWorld): Dialect['generator'] {
  const system = `You invent tasks for an agent. The world: ${world.rules}\nA task reads like this: ${world.taskForm}\nA new task differs from the known ones and is possible, but not easy.\nAnswer with the new task on one line and nothing else.`;
  const seen = (memories: readonly Transition[]): string[] =>
    memories.slice(-mostMemories).map((memory) => `Seen: ${brief(memory.nextState, longestMemory)}`);
  return {
    stopTokens: turns.stopTokens,
    maxNewTokens,
    opening: (parents, memories) =>
      turns.opening(
        system,
        [
          ...seen(memories),
          ...parents.slice(0, 2).map((task) => `Known task: ${task.instruction.slice(0, longestInstruction)}`),
        ].join('\n'),
        'New task:',
      ),
    parse(tokens) {
      const text = turns.textOf(tokens);
      return text === null ? null : readInstruction(text);
    },
    instruction: ({ instruction }) => turns.tokenizer.encode(instruction.slice(0, longestInstruction)),
    selection: selectionRole(turns, `The world: ${world.rules}`, (_, memories) => seen(memories)),
  };
}

/** The first line that says anything, or null. Whether it is a task is for the world to say. Never throws. */
export function readInstruction(text: string): string | null {
  const [line = ''] = cleanText(text).split('\n');
  const words = line
    .replace(/^[^\p{L}\p{N}]*(?:(?:new |your |known )?task(?: is to)?\s*[:：])?[^\p{L}\p{N}]*/iu, '')
    .replace(/[\s.*"'`]+$/, '');
  return words === '' || words.length > longestInstruction ? null : words;
}
