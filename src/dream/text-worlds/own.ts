/** @file Worlds of one's own in words: any `World` from a file, and worlds that a definition dreams up without any code. */

import { DreamError } from '../../data/errors';
import type { Trajectory, Turn } from '../../data/trajectory';
import { type DreamedWorldDefinition, dreamedWorld } from '../../envs/dreamed-world';
import { batchOf, type EnvironmentBatch, type Task } from '../../envs/environment';
import type { PlayableEnvironment, World } from '../../envs/world';
import { plainTextWorld } from '../text-models/world';
import { memoriesUpTo, plainRoom } from './memories';
import { readTemplate } from './turn';
import type { SpokenWorld } from './world';

const originalTasks = 480;
const demonstrationSteps = 40;

/**
 * A world about which nothing is known but what `World` tells: the expert demonstrates and remembers, the real world lists
 * what is possible, and a dream of it is free in everything.
 */
export function spokenWorldOf(world: World): SpokenWorld {
  const expertEpisodes = (count: number) =>
    world
      .trainingTasks(count)
      .map((task) => demonstrate(world, task))
      .filter((trajectory) => trajectory !== null);
  const spoken: SpokenWorld = {
    name: world.name,
    trainingTasks: () => atLeastOne(world.trainingTasks(originalTasks), world.name),
    heldOutTasks: (count) => atLeastOne(world.heldOutTasks(count), world.name),
    truth: () => tellingBatch(() => world.create()),
    memories: (limit) => memoriesUpTo(spoken, limit, expertEpisodes),
    *demonstrations() {
      for (;;) {
        const played = expertEpisodes(originalTasks).filter(({ success }) => success);
        if (played.length === 0) return;
        yield* played;
      }
    },
    words: plainTextWorld({
      description: world.summary,
      observationForm: 'A few lines of plain words about what the agent now sees.',
      failureObservation: 'nothing happens',
    }),
    rules: world.summary,
    exampleAction: exampleOf(world),
    taskForm: atLeastOne(world.trainingTasks(1), world.name)[0].instruction,
    // Only the world itself can make a task that it can judge: those it has.
    taskFrom: (_, instruction) =>
      world.trainingTasks(originalTasks).find((task) => task.instruction === instruction) ?? null,
    // The real world is asked first; in a dream nobody can tell.
    admissible: () => [],
    roomOf: roomsOf(() => world.trainingTasks(originalTasks)),
  };
  return spoken;
}

/** A world without a truth: everything about it is dreamed, its examinations too. */
export function spokenDream(definition: DreamedWorldDefinition): SpokenWorld {
  const world = dreamedWorld(definition);
  const { words, trainingTasks, heldOutTasks, transitions, name } = world;
  const [first] = trainingTasks;
  return {
    name,
    trainingTasks: () => trainingTasks,
    // A definition may hold none out: then its tasks are the examination too, which the result says of a dream anyway.
    heldOutTasks: (count) => (heldOutTasks.length > 0 ? heldOutTasks : trainingTasks).slice(0, count),
    truth: null,
    memories: (limit) => transitions.slice(0, limit),
    demonstrations: null,
    words: plainTextWorld(words),
    rules: words.description,
    exampleAction: (definition.actions?.[0] ?? definition.transitions[0]?.action ?? 'look').replace(/[<>]/g, ''),
    taskForm: first.instruction,
    taskFrom: (parent, instruction) => ({
      ...parent,
      id: `${name}/made/${instruction}`,
      instruction,
      // What the new task asks for is not what its parent's words of success say.
      data: { world: name },
    }),
    ...(definition.actions ? { admissible: () => definition.actions ?? [] } : {}),
    roomOf: roomsOf(() => trainingTasks),
  };
}

function atLeastOne(tasks: readonly Task[], name: string): readonly Task[] {
  if (tasks.length > 0) return tasks;
  throw new DreamError(
    'no-task',
    `The world ${name} has no such task.`,
    'Give it tasks to train on and tasks held out.',
  );
}

/** The one room where there is one; else the name as the file has it. */
function roomsOf(tasks: () => readonly Task[]): SpokenWorld['roomOf'] {
  let only: string | null | undefined;
  return (room) => {
    if (only === undefined) {
      const rooms = new Set(tasks().map((task) => task.room));
      only = rooms.size === 1 ? [...rooms][0] : null;
    }
    return only ?? plainRoom(room);
  };
}

/** Real worlds that say what they would accept. */
function tellingBatch(make: () => PlayableEnvironment): EnvironmentBatch {
  const worlds: PlayableEnvironment[] = [];
  const batch = batchOf(() => {
    const world = make();
    worlds.push(world);
    return world;
  });
  return {
    ...batch,
    reset(tasks, seed) {
      worlds.length = 0;
      return batch.reset(tasks, seed);
    },
    admissible: (slot) => worlds[slot].admissible(),
  };
}

/** The expert's episode; null where it knows nothing to do at once. */
function demonstrate(world: World, task: Task): Trajectory | null {
  const environment = world.create();
  const firstObservation = environment.reset(task);
  const turns: Turn[] = [];
  while (turns.length < demonstrationSteps) {
    const action = world.expert(environment);
    if (action === null) break;
    const { observation, reward, done, valid } = environment.step(action);
    const said = { thought: '', action, actionTokens: [], actionLogProbs: [], reasoning: '' };
    turns.push({ ...said, observation, reward, done, valid });
    if (done) break;
  }
  if (turns.length === 0) return null;
  const total = turns.reduce((sum, { reward }) => sum + reward, 0);
  return {
    task,
    source: 'offline',
    firstObservation,
    turns,
    return: total,
    success: total > 0,
    truncated: !turns[turns.length - 1].done,
    lost: false,
    group: 0,
  };
}

/** The first thing that can be done, without its free text's brackets. */
function exampleOf(world: World): string {
  const [task] = atLeastOne(world.trainingTasks(1), world.name);
  const environment = world.create();
  environment.reset(task);
  const actions = environment.admissible();
  const plain = actions.find((action) => readTemplate(action) === null) ?? actions[0] ?? 'look';
  return world.expert(environment) ?? plain.replace(/[<>]/g, '');
}
