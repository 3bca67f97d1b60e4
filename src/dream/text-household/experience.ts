/**
 * @file The experience model in words (DreamGym, Eq. 4): the whole episode so far, the task and similar past steps in;
 * reasoning, verdict, next observation and reward out, one a line.
 *
 * The conversation opens with a step that we answer ourselves: `look` changes nothing and shows the first observation,
 * so the model begins with a true answer in the very form it has to keep; and every answer begins with a given
 * `Reasoning:`.
 */

import type { Dialect, DreamedAnswer } from '../domain';
import type { Transition } from '../run-store';
import { parseTextAnswer } from '../text-models/answer';
import { failureObservation } from '../transcripts';
import type { ChatTurns } from './chat-turns';
import { readBeginning } from './head-start';
import { observationOf, oneLine, sentenceOf } from './sentences';

/** A sentence of reasoning and a well-filled shelf. */
const maxNewTokens = 128;
/** An answer that is led keeps to its form, however long its names are in the model's tokens. */
const maxLedTokens = 256;
const longestAction = 120;
const longestMemory = 400;

const freeSystem = `You simulate a household for an agent that acts in it. For every action of the agent, say what happens.
Rules:
- Reason first: where is the agent, what does it hold, is the action possible now, what does it change?
- "go to PLACE" always works for a place of the room and shows what is there. Closed places must be opened first.
- The agent must be at a place to take, put, open, close, clean (sinkbasin), heat (microwave) or cool (fridge) there, and can hold one object.
- An action that is not possible changes nothing: Valid: no, Observation: Nothing happens.
- Stay consistent with everything shown before. Invent only what nobody has seen yet.
- Reward is 1 only when this action completes the whole task, which ends the episode; otherwise 0.
Observations have one of these forms:
You arrive at shelf 1. On the shelf 1, you see a cup 1, and a mug 2.
You arrive at fridge 1. The fridge 1 is closed.
You open the fridge 1. The fridge 1 is open. In it, you see a bowl 1.
You pick up the cup 1 from the shelf 1.
You put the cup 1 in/on the shelf 1.
You clean the cup 1 using the sinkbasin 1.
You turn on the desklamp 1.
You are carrying: a cup 1.
Nothing happens.
Answer with exactly four lines:
Reasoning: one short sentence
Valid: yes or no
Observation: one of the forms above
Reward: 0 or 1`;

/** A led answer gets its sentences given; the model has to reason, judge and imagine. */
const ledSystem = `You simulate a household for an agent that acts in it. For every action of the agent, say what happens.
Reason first: where is the agent, what does it hold, is the action possible now? An action that is not possible changes nothing. Stay consistent with everything shown before; invent only what nobody has seen yet. Reward is 1 only when this action completes the whole task.
Answer with four lines: Reasoning, Valid (yes or no), Observation, Reward (0 or 1).`;

const begun = 'Reasoning:';

const flag = /(reward[\s"'*_]*[:：][\s"'*_]*)(1(?:\.0)?|true|yes|t)\b/i;

/** @param led leads every answer through the household's sentences; absent, the model writes as it likes. */
export function experienceRole(turns: ChatTurns, led?: Dialect['experience']['guide']): Dialect['experience'] {
  const parse = (tokens: readonly number[]): DreamedAnswer | null => {
    const text = turns.textOf(tokens);
    return text === null ? null : readAnswer(begun + text);
  };
  return {
    stopTokens: turns.stopTokens,
    maxNewTokens: led ? maxLedTokens : maxNewTokens,
    ...(led ? { guide: led } : {}),
    opening(task, firstObservation) {
      const { room, turns: before } = readBeginning(firstObservation);
      const seen = {
        reasoning: 'The agent only looks around, which changes nothing.',
        valid: true,
        observation: room,
        reward: 0,
      };
      const reasoning = possible;
      return [
        ...turns.opening(led ? ledSystem : freeSystem, questionText(task.instruction, 'look', []), begun),
        ...experienceSpoken(turns, seen, 'look'),
        ...before.flatMap(({ action, observation, valid }) => [
          ...turns.next(questionText(task.instruction, action, []), begun),
          ...experienceSpoken(turns, { reasoning, valid, observation, reward: 0 }, action),
        ]),
      ];
    },
    question: (task, action, memories) => turns.next(questionText(task.instruction, action, memories), begun),
    parse,
    withoutReward(tokens) {
      const found = flag.exec(turns.textOf(tokens) ?? '');
      if (found) {
        const at = found.index + found[1].length;
        const rest = found.input.slice(at + found[2].length);
        const changed = turns.rewritten(tokens, at, `0${rest}`);
        if (parse(changed)?.reward === 0) return changed;
      }
      const answer = parse(tokens);
      return answer && answer.reward > 0 ? experienceSpoken(turns, { ...answer, reward: 0 }, '') : [...tokens];
    },
    reply: (answer) => turns.closing(answer),
  };
}

/** The reasoning of a true step that nobody reasoned about. */
export const possible = 'The action is possible.';

function questionText(instruction: string, action: string, memories: readonly Transition[]): string {
  return [
    `Task: ${oneLine(instruction, longestAction)}`,
    ...memories.map((memory) => {
      const sentence = sentenceOf(memory.nextState, memory.action).slice(0, longestMemory);
      return `Similar past step: ${oneLine(memory.action, longestAction)} -> ${sentence}`;
    }),
    `Action: ${oneLine(action, longestAction)}`,
  ].join('\n');
}

/** An answer to `action` in the form that is asked for, from behind its given beginning to its end. */
export function experienceSpoken(turns: ChatTurns, answer: DreamedAnswer, action: string): number[] {
  return turns.spoken(
    [
      ` ${answer.reasoning}`,
      `Valid: ${answer.valid ? 'yes' : 'no'}`,
      `Observation: ${sentenceOf(answer.observation, action)}`,
      `Reward: ${answer.reward > 0 ? 1 : 0}`,
    ].join('\n'),
  );
}

/**
 * The observation decides whether the action was valid. A verdict or a reward that does not agree with it is malformed:
 * which of the two was meant would be a guess. Never throws.
 */
export function readAnswer(text: string): DreamedAnswer | null {
  const parsed = parseTextAnswer(text);
  if (!parsed.ok) return null;
  const { reasoning, valid: said, reward } = parsed.answer;
  const observation = observationOf(parsed.answer.observation);
  if (observation === null) return null;
  const valid = observation !== failureObservation;
  if (said !== undefined && said !== valid) return null;
  if (reward > 0 && !valid) return null;
  return { reasoning, valid, observation, reward };
}
