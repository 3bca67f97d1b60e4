/** @file The household world as a `Domain`: tasks, truth, offline memories and language, bound together for the loop. */
import { batchOf, type Task } from '../envs/environment';
import {
  type HouseholdData,
  HouseholdWorld,
  heldOutTasks,
  householdData,
  isHeldOut,
  parseInstruction,
  trainingTasks,
  type WorldSize,
} from '../envs/household';
import type { Tokenizer } from '../models/tokenizer';
import type { Domain } from './domain';
import { householdFacts } from './fidelity/household-facts';
import type { OfflineStep } from './offline/episodes';
import { experienceSequences, tellExperience } from './offline/sequences';
import { offlineTransitions } from './offline/transitions';
import {
  Belief,
  contradictionIn,
  experienceAnswer,
  experienceThought,
  failureObservation,
  feasibleAsKnown,
  householdDialect,
  isNovel,
  knownObjects,
  type SequenceArrays,
  supportsSuccess,
} from './transcripts';

/** Four tasks a training room on average, the six families in equal parts: what "the original distribution" means here. */
const originalTasks = 480;
/** Tasks and memories are part of the world, not of a run: every run starts from the same ones. */
const worldSeed = 1;
/** Tokens of an episode that the experience model is taught: as in its own training. */
const longestTranscript = 640;

export function householdDomain(tokenizer: Tokenizer, size: WorldSize = 'small'): Domain {
  return {
    failureObservation,
    dialect: householdDialect(tokenizer),
    trainingTasks: () => trainingTasks(size, originalTasks, worldSeed),
    heldOutTasks: (count) => heldOutTasks(size, count),
    realWorld: () => batchOf(() => new HouseholdWorld()),
    offlineTransitions: (limit) => offlineTransitions(size, { seed: worldSeed, limit }),
    taskFrom: (parent, instruction) => taskInRoomOf(parent, instruction),
    isNovel: (task, others) =>
      isNovel(
        householdData(task).goal,
        others.map((other) => other.instruction),
      ),
    feasible: (task, memories) => {
      const objects = knownObjects(memories.flatMap(({ state, nextState }) => [state, nextState]));
      return feasibleAsKnown(householdData(task).goal, task.firstObservation, objects);
    },
    contradicts: (firstObservation, turns) =>
      contradictionIn(beliefAfter(firstObservation, turns.slice(0, -1)), turns[turns.length - 1]) !== null,
    refusal: (task, firstObservation, turns, action) => {
      const belief = beliefAfter(firstObservation, turns);
      if (belief.judge(action).valid) return null;
      const thought = experienceThought(belief, householdData(task).goal, action);
      return experienceAnswer(tokenizer, thought, failureObservation, 0).tokens;
    },
    told: (task, firstObservation, turns, { action, observation, reward }) => {
      const thought = experienceThought(beliefAfter(firstObservation, turns), householdData(task).goal, action);
      return experienceAnswer(tokenizer, thought, observation, reward).tokens;
    },
    supportsSuccess: (task, firstObservation, turns) =>
      supportsSuccess(householdData(task).goal, firstObservation, turns),
    facts: householdFacts,
    teaching: {
      tell: ({ task, turns }, memories) => {
        const steps = turns.map(({ action, observation, reward, valid }, i): OfflineStep => {
          const state = i === 0 ? task.firstObservation : turns[i - 1].observation;
          return { state, action, observation, reward, valid, target: null };
        });
        const recalled = new Map(steps.map((step, i) => [step, memories[i].map(({ nextState }) => nextState)]));
        const told = { task, goal: householdData(task).goal, steps };
        return plain(tellExperience(tokenizer, told, longestTranscript, (step) => recalled.get(step) ?? []).toArrays());
      },
      rehearsal: (episodes, seed) => experienceSequences(size, { episodes, seed }).map(plain),
    },
  };
}

const plain = ({ tokens, weights }: SequenceArrays) => ({ tokens: Array.from(tokens), weights: Array.from(weights) });

/** What a reader of the transcript knows. A failure state shows nothing. */
function beliefAfter(firstObservation: string, turns: readonly { observation: string }[]): Belief {
  const belief = new Belief(firstObservation);
  for (const { observation } of turns) if (observation !== failureObservation) belief.observe(observation);
  return belief;
}

/**
 * Form only: the room's hidden contents are not consulted, because a dreamer could not. Tasks reserved for evaluation are
 * refused, lest the generator stumble upon one.
 */
function taskInRoomOf(parent: Task, instruction: string): Task | null {
  const goal = parseInstruction(instruction);
  if (!goal) return null;
  const words = instruction
    .trim()
    .replace(/\s*\.$/, '')
    .split(/\s+/)
    .join(' ');
  const data: HouseholdData = { ...householdData(parent), goal };
  const task: Task = {
    ...parent,
    id: `${parent.room}: ${words}`,
    instruction: words,
    family: goal.family,
    data,
  };
  return isHeldOut(task) ? null : task;
}
