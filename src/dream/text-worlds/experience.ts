/**
 * @file The experience model in words, in any world (DreamGym, Eq. 4): the whole episode so far, the task and similar past
 * steps in; reasoning, verdict, next observation and reward out.
 *
 * A led answer is given what the text so far has decided: that an action is not possible, a page that was shown before, the
 * form of every line. What nobody has seen yet is the model's own.
 */
import type { Turn } from '../../data/trajectory';
import type { Task } from '../../envs/environment';
import type { Dialect, DreamedAnswer } from '../domain';
import type { Transition } from '../run-store';
import type { ChatTurns } from '../text-household/chat-turns';
import { type Script, ScriptWords } from '../text-household/script';
import { parseTextAnswer } from '../text-models/answer';
import { brief } from './brief';
import type { Imagined, SpokenWorld, Told } from './world';

const maxNewTokens = 256;
/** A led answer keeps to its form, so only its length can fail it: so many times the world's own description of one. */
const longestLed = 1.5;
const reasoningTokens = 32;
const lineTokens = 48;
const longestText = 300;

const begun = 'Reasoning:';
const flag = /(\nreward[\s"'*_]*[:：][\s"'*_]*)(1(?:\.0)?|true|yes|t)\b/i;

type Seen = readonly Pick<Turn, 'action' | 'observation'>[];

export function experienceRole(
  turns: ChatTurns,
  world: SpokenWorld,
  led: boolean,
  longestObservation: number,
): Dialect['experience'] {
  const { words: said } = world;
  const words = new ScriptWords(turns.tokenizer, turns.end);
  const ledTokens =
    reasoningTokens + Math.max(128, Math.ceil(longestLed * turns.tokenizer.encode(said.observationForm).length));
  const ask =
    'Reason first: is the action possible now, and what does it change? Stay consistent with what was shown before.';
  const form =
    'Answer with four fields, each on a new line: Reasoning, Valid (yes or no), Observation, Reward (0 or 1).';
  const system = led
    ? `You simulate this world for an agent that acts in it. ${said.description}\n${ask}\n${form}`
    : `You simulate this world for an agent that acts in it. ${said.description}\nObservations: ${said.observationForm}\n` +
      `An action that is not possible changes nothing: Observation: ${said.failureObservation}\n${ask}\n${form}`;
  const parse = (tokens: readonly number[]): DreamedAnswer | null => {
    const text = turns.textOf(tokens);
    return text === null ? null : readAnswer(world, begun + text);
  };
  const question = ({ instruction }: Task, action: string, memories: readonly Transition[]): string =>
    [
      `Task: ${instruction.slice(0, longestText)}`,
      ...memories.map(
        (memory) => `Similar past step: ${memory.action} ->\n${brief(memory.nextState, longestObservation)}`,
      ),
      `Action: ${action.slice(0, longestText)}`,
    ].join('\n');
  return {
    stopTokens: turns.stopTokens,
    maxNewTokens: led ? ledTokens : maxNewTokens,
    ...(led
      ? {
          guide: (firstObservation: string, told: Seen, action: string, task: Task) =>
            words.guide(ledAnswer(words, world, { task, firstObservation, turns: told }, action)),
        }
      : {}),
    opening: (task, firstObservation) =>
      turns
        .opening(
          system,
          `Task: ${task.instruction.slice(0, longestText)}\nThe agent begins here:\n${brief(firstObservation, longestObservation)}\nAre you ready?`,
        )
        .concat(turns.spoken('Yes.')),
    question: (task, action, memories) => turns.next(question(task, action, memories), begun),
    parse,
    withoutReward(tokens) {
      const found = flag.exec(turns.textOf(tokens) ?? '');
      if (found) {
        const at = found.index + found[1].length;
        const changed = turns.rewritten(tokens, at, `0${found.input.slice(at + found[2].length)}`);
        if (parse(changed)?.reward === 0) return changed;
      }
      const answer = parse(tokens);
      return answer && answer.reward > 0 ? experienceSpoken(turns, { ...answer, reward: 0 }) : [...tokens];
    },
    reply: (answer) => turns.closing(answer),
  };
}

/** An answer in the form that is asked for, from behind its given beginning to its end. */
export function experienceSpoken(turns: ChatTurns, answer: DreamedAnswer): number[] {
  const lines = [
    ` ${answer.reasoning}`,
    `Valid: ${answer.valid ? 'yes' : 'no'}`,
    `Observation: ${answer.observation}`,
    `Reward: ${answer.reward > 0 ? 1 : 0}`,
  ];
  return turns.spoken(lines.join('\n'));
}

function* ledAnswer(words: ScriptWords, world: SpokenWorld, told: Told, action: string): Script {
  const { words: known } = world;
  const thought = yield words.line(reasoningTokens);
  yield words.say(`${thought.endsWith('\n') ? '' : '\n'}Valid:`);
  const turns = told.turns.map((turn) => ({ ...turn, valid: true }));
  const refused = known.refusal(told.task, told.firstObservation, turns, action) !== null;
  const said = refused ? ' no\n' : yield words.choose([' yes\n', ' no\n']);
  if (refused) yield words.say(said);
  yield words.say('Observation:');
  if (said.includes('no')) {
    yield words.finish(` ${known.failureObservation}\nReward: 0`);
    return;
  }
  const reward = yield* (world.imagine ?? oneLine)(words, told, action);
  if (reward !== 'asked') {
    yield words.finish(reward === 'none' ? 'Reward: 0' : ' 0');
    return;
  }
  yield words.say('Reward:');
  yield words.choose([' 0', ' 1'], true);
}

/** A world without a form of its own: one line. */
function* oneLine(words: ScriptWords): Imagined {
  yield words.fill('', ['\n'], { longest: lineTokens, apart: true });
  return 'asked';
}

/**
 * The observation decides whether the action was valid. A verdict or a reward that does not agree with it is malformed:
 * which of the two was meant would be a guess. Never throws.
 */
export function readAnswer({ words }: SpokenWorld, text: string): DreamedAnswer | null {
  const parsed = parseTextAnswer(text);
  if (!parsed.ok) return null;
  const { reasoning, valid: said, reward, observation } = parsed.answer;
  if (!words.isObservation(observation)) return null;
  const valid = observation !== words.failureObservation;
  if (said !== undefined && said !== valid) return null;
  if (reward > 0 && !valid) return null;
  return { reasoning, valid, observation, reward };
}
