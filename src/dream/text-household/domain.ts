/**
 * @file The household for a model that speaks: the same tasks, truth and checks as `householdDomain`, in plain English
 * behind the model's own chat template.
 *
 * Between the loop and the worlds observations stay abstract, which is what the checks read; they become sentences, and
 * sentences become observations, in the dialect alone.
 */

import { batchOf, type EnvironmentBatch, type Task } from '../../envs/environment';
import { HouseholdWorld, type WorldSize } from '../../envs/household';
import { householdTokenizer } from '../../models/household-vocabulary';
import type { TextTokenizer } from '../../models/text-tokenizer';
import type { Domain } from '../domain';
import { householdDomain } from '../household';
import { Belief, failureObservation } from '../transcripts';
import { admissibleIn } from './admissible';
import { ChatTurns } from './chat-turns';
import { experienceRole, experienceSpoken, possible } from './experience';
import { generatorRole } from './generator';
import { begunTasks, readBeginning } from './head-start';
import { imaginedAnswer } from './imagined-answer';
import { policyRole } from './policy';
import { ScriptWords } from './script';
import { formerTextSettings, type TextSettings } from './settings';
import { easyHeldOutTasks, easyTasks } from './tasks';

/** Throws `no-chat-template`, `chat-template-unsplittable`, and `no-task` when tasks are asked for. */
export function householdTextDomain(
  tokenizer: TextTokenizer,
  size: WorldSize = 'small',
  settings: TextSettings = formerTextSettings,
): Domain {
  const turns = new ChatTurns(tokenizer);
  const words = new ScriptWords(tokenizer, turns.end);
  const { constrain, listActions, dreamForm, expertSteps, headStart } = settings;
  const household = householdDomain(householdTokenizer(size), size);
  const led: Domain['dialect']['experience']['guide'] = (firstObservation, told, action) =>
    words.guide(imaginedAnswer(words, size, beliefAfter(firstObservation, told), action));
  const training = (): readonly Task[] =>
    expertSteps > 0 ? easyTasks(household.trainingTasks(), expertSteps) : household.trainingTasks();
  return {
    ...household,
    // The model behind these words is only asked.
    teaching: undefined,
    dialect: {
      policy: policyRole(turns, settings),
      experience: experienceRole(turns, dreamForm === 'guided' ? led : undefined),
      generator: generatorRole(turns),
    },
    trainingTasks: () => (headStart > 0 ? begunTasks(training(), headStart) : training()),
    heldOutTasks: (count) =>
      expertSteps > 0 ? easyHeldOutTasks(size, count, expertSteps) : household.heldOutTasks(count),
    feasible: (task, memories) => {
      const { room } = readBeginning(task.firstObservation);
      return household.feasible({ ...task, firstObservation: room }, memories);
    },
    supportsSuccess(task, firstObservation, told) {
      const { room, turns: before } = readBeginning(firstObservation);
      return household.supportsSuccess(task, room, [...before, ...told]);
    },
    contradicts(firstObservation, told) {
      const { room, turns: before } = readBeginning(firstObservation);
      return household.contradicts(room, [...before, ...told]);
    },
    realWorld: () => begunWorld(constrain === 'admissible' || listActions),
    ...(constrain === 'admissible' || listActions
      ? {
          admissible: (firstObservation, told) => admissibleIn(beliefAfter(firstObservation, told)),
        }
      : {}),
    told(_task, firstObservation, before, { action, observation, reward }) {
      const valid = observation !== failureObservation;
      const reasoning = valid ? possible : refusalReason(beliefAfter(firstObservation, before), action);
      return experienceSpoken(turns, { reasoning, valid, observation, reward }, action);
    },
    refusal(_task, firstObservation, told, action) {
      const belief = beliefAfter(firstObservation, told);
      if (belief.judge(action).valid) return null;
      const answer = { reasoning: refusalReason(belief, action), valid: false, reward: 0 };
      return experienceSpoken(turns, { ...answer, observation: failureObservation }, action);
    },
  };
}

/** The real household, begun as its task says. `tells`: what it would accept; to ask for help is no way to fulfil a task. */
function begunWorld(tells: boolean): EnvironmentBatch {
  const worlds: HouseholdWorld[] = [];
  const batch = batchOf(() => {
    const world = new HouseholdWorld();
    worlds.push(world);
    return world;
  });
  return {
    ...batch,
    async reset(tasks, seed) {
      worlds.length = 0;
      await batch.reset(tasks, seed);
      tasks.forEach(({ firstObservation }, i) => {
        for (const { action } of readBeginning(firstObservation).turns) worlds[i].step(action);
      });
      return tasks.map(({ firstObservation }) => firstObservation);
    },
    ...(tells ? { admissible: (slot) => worlds[slot].admissible().filter((action) => action !== 'help') } : {}),
  };
}

/** What a reader of the transcript knows. A failure state shows nothing. */
function beliefAfter(firstObservation: string, told: readonly { observation: string }[]): Belief {
  const { room, turns: before } = readBeginning(firstObservation);
  const belief = new Belief(room);
  for (const { observation } of [...before, ...told])
    if (observation !== failureObservation) belief.observe(observation);
  return belief;
}

/** Why the text so far rules an action out, in a sentence or two. */
export function refusalReason(belief: Belief, action: string): string {
  const { command, clause } = belief.judge(action);
  const place = belief.at === null ? 'in the middle of the room' : `at ${belief.at}`;
  const state = `The agent is ${place} and holds ${belief.hold ?? 'nothing'}.`;
  if (command === null || clause === 'unknown') return `${state} This is no command that the household knows.`;
  const { verb, first, second } = command;
  const target = second === '' ? first : second;
  const facts: Readonly<Record<string, string>> = {
    absent: `There is no ${target} in this room.`,
    unfit: `The ${first} cannot be treated or kept there.`,
    fits: `For that it must hold ${first} and be at ${second}.`,
    known: `It must be at ${first} for that.`,
    new: `It must be at ${first} for that.`,
    unseen: `It has not been at ${first}.`,
    fixed: `The ${first} cannot be opened or closed.`,
    open: verb === 'open' ? `The ${first} is open already.` : `It is not at ${first}.`,
    closed:
      verb === 'close'
        ? `The ${first} is closed already.`
        : verb === 'put'
          ? `The ${target} is closed.`
          : `It is not at ${target}.`,
  };
  const where = / unseen$/.test(clause) ? `The ${first} has not been seen.` : `As seen so far: ${clause}.`;
  return `${state} ${facts[clause] ?? where} The action is not possible.`;
}
