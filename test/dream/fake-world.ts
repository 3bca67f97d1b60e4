/**
 * @file A world of two moves, small enough to hold in the head: open the box, then press the task's colour.
 * Its language is one token per word, so that the loop can be tested without a tokenizer or a GPU.
 */

import type { Domain } from '../../src/dream/domain';
import type { Environment, StepResult, Task } from '../../src/envs/environment';
import { batchOf } from '../../src/envs/environment';

export const words = [
  ...['<pol>', '<em>', '<gen>', '\n', '>', 'r0', 'r1', 'to'],
  ...['open', 'press', 'red', 'blue', 'green', 'nothing', 'opened', 'pressed', 'shut'],
];
export const id = (word: string) => words.indexOf(word);
export const encode = (text: string) => text.split(' ').map(id);
const decode = (tokens: readonly number[]) => tokens.map((token) => words[token]).join(' ');
const control = 8;
export const colours = ['red', 'blue', 'green'];

export function task(room: string, colour: string): Task {
  return {
    id: `${room}: ${colour}`,
    instruction: colour,
    room,
    family: 'press',
    firstObservation: 'shut',
    data: null,
  };
}

export class Box implements Environment {
  private opened = false;
  private goal = '';

  reset({ instruction, firstObservation }: Task): string {
    this.goal = instruction;
    this.opened = false;
    return firstObservation;
  }

  step(action: string): StepResult {
    const { observation, reward } = rule(this.goal, this.opened, action);
    if (observation === 'opened') this.opened = true;
    return { observation, reward, done: reward > 0, valid: observation !== 'nothing', imagined: false };
  }
}

/** The truth, also known to the fake experience model. */
export function rule(goal: string, opened: boolean, action: string): { observation: string; reward: number } {
  if (action === 'open' && !opened) return { observation: 'opened', reward: 0 };
  const colour = /^press (red|blue|green)$/.exec(action)?.[1];
  if (!opened || !colour) return { observation: 'nothing', reward: 0 };
  return { observation: 'pressed', reward: colour === goal ? 1 : 0 };
}

const rooms = ['a', 'b', 'c'];

export function fakeDomain(): Domain {
  return {
    failureObservation: 'nothing',
    // Green is left for the generator to find.
    trainingTasks: () => rooms.flatMap((room) => ['red', 'blue'].map((colour) => task(room, colour))),
    heldOutTasks: (count) => Array.from({ length: count }, (_, i) => task('unseen', colours[i % 3])),
    realWorld: () => batchOf(() => new Box()),
    offlineTransitions: (limit) =>
      rooms
        .flatMap((room) => [
          { room, action: 'open', state: 'shut', nextState: 'opened', reward: 0 },
          { room, action: 'press red', state: 'shut', nextState: 'nothing', reward: 0 },
        ])
        .map((t, i) => ({ ...t, source: 'offline' as const, episode: `offline ${i}`, task: 'red' }))
        .slice(0, limit),
    taskFrom: (parent, instruction) => (colours.includes(instruction) ? task(parent.room, instruction) : null),
    isNovel: (proposed, others) => others.every((other) => other.instruction !== proposed.instruction),
    feasible: (proposed, memories) => memories.every((memory) => memory.room === proposed.room),
    contradicts: (_first, turns) => {
      const { action, observation } = turns[turns.length - 1];
      const opened = turns.slice(0, -1).some((turn) => turn.observation === 'opened');
      return observation !== rule('', opened, action).observation;
    },
    refusal: () => null,
    supportsSuccess: (proposed, _first, turns) =>
      turns.some((turn) => turn.observation === 'opened') && turns.at(-1)?.action === `press ${proposed.instruction}`,
    dialect: {
      policy: {
        stopTokens: [id('\n')],
        maxNewTokens: 3,
        opening: (t, first) => [id('<pol>'), id(t.instruction), ...encode(first), id('\n')],
        parse(tokens) {
          const said = tokens.slice(0, -1);
          if (said.length === 0 || said.some((token) => token < control)) return null;
          return { thought: '', action: decode(said) };
        },
        reply: (said, observation) => [
          ...(said.at(-1) === id('\n') ? [] : [id('\n')]),
          ...encode(observation),
          id('\n'),
        ],
      },
      experience: {
        stopTokens: [id('r0'), id('r1')],
        maxNewTokens: 2,
        opening: (t, first) => [id('<em>'), id(t.instruction), ...encode(first)],
        question: (t, action, memories) => [
          id('>'),
          ...encode(action),
          id('to'),
          ...memories.flatMap((memory) => encode(memory.nextState)),
          // The task once more: a small model need not look far back to compare it with the action.
          id(t.instruction),
          // Without an end of the question an answer could not be told from a memory.
          id('\n'),
        ],
        parse(tokens) {
          const [observation, flag] = tokens.map((token) => words[token]);
          if (tokens.length !== 2 || !['opened', 'pressed', 'nothing'].includes(observation)) return null;
          return { reasoning: '', observation, valid: observation !== 'nothing', reward: flag === 'r1' ? 1 : 0 };
        },
        withoutReward: (tokens) => [...tokens.slice(0, -1), id('r0')],
        reply: () => [],
      },
      generator: {
        stopTokens: [id('\n')],
        maxNewTokens: 2,
        opening: (parents) => [id('<gen>'), ...parents.map((t) => id(t.instruction)), id('to')],
        parse: (tokens) => (tokens.length === 2 ? words[tokens[0]] : null),
      },
    },
  };
}
