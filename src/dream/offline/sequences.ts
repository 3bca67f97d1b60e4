/**
 * @file Training sequences of the three roles from scripted episodes: tokens and loss weights.
 *
 * All three are functions of (size, options) alone. A sequence is one whole episode: its transcript exactly as a dream or
 * a rollout will build it, so that nothing is learned at positions or in contexts that never occur.
 */
import {
  feasibleGoals,
  type Goal,
  generateRoom,
  goalKey,
  HouseholdWorld,
  hashKey,
  instructionOf,
  isHeldOut,
  Random,
  type Room,
  roomView,
  TRAINING_ROOM_SEEDS,
  taskFromInstruction,
  type WorldSize,
} from '../../envs/household';
import { householdTokenizer } from '../../models/household-vocabulary';
import type { Tokenizer } from '../../models/tokenizer';
import {
  Belief,
  experienceAnswer,
  experiencePrompt,
  experienceQuestion,
  experienceThought,
  generatorAnswer,
  generatorPrompt,
  policyAnswer,
  policyObservation,
  policyPrompt,
  policyThought,
  policyTurn,
  type SequenceArrays,
  Transcript,
} from '../transcripts';
import { experienceMixture, type Mixture, type OfflineEpisode, playEpisode } from './episodes';
import { MemoryBank, type MemoryOptions, trainingMemories } from './memories';
import { relabel } from './relabel';

export interface ExperienceOptions {
  episodes: number;
  seed: number;
  rooms?: readonly number[];
  mixture?: Mixture;
  maxSteps?: number;
  /** Share of episodes that are told under another goal than the one that was played. */
  relabelShare?: number;
  memories?: MemoryOptions;
  /** Turns that would go beyond this many tokens are left out. */
  contextLength?: number;
  /** False: the answer alone, without the thought before it (the paper's ablation). Default: true. */
  reasoning?: boolean;
}

/** Steps of an episode, in training as in evaluation. */
export const episodeSteps = 16;

/**
 * Steps a demonstration for the policy may take. More than an episode has: only quick demonstrations would fit, which are
 * the lucky and the thrifty ones, and the policy should inherit the whole habit, not its rare absence.
 */
export const demonstrationSteps = 24;

/**
 * Rooms for the experience model: the 120 training rooms and 480 more. With few rooms a model learns their contents by
 * heart from the list of receptacles and never learns to trust what retrieval brings, which is all it has in a new room.
 */
export const experienceRooms: readonly number[] = [
  ...TRAINING_ROOM_SEEDS,
  ...Array.from({ length: 480 }, (_, i) => 1001 + i),
];

/**
 * Share of the episodes without success that are kept. A success is one step of a whole episode, and what is rare is not
 * learned: with all failures in, successes were 2 % of the steps and the model missed a third of them.
 */
const failureShare = 0.45;

/** Plays the experience model's episodes, relabelled ones included. The memory bank holds them as they were played. */
export function experienceEpisodes(
  size: WorldSize,
  options: ExperienceOptions,
): { episodes: OfflineEpisode[]; bank: MemoryBank } {
  const { seed, relabelShare = 0.5 } = options;
  const play = {
    size,
    seed,
    rooms: options.rooms ?? experienceRooms,
    mixture: options.mixture ?? experienceMixture,
    maxSteps: options.maxSteps ?? episodeSteps,
  };
  const world = new HouseholdWorld();
  const played: OfflineEpisode[] = [];
  const episodes: OfflineEpisode[] = [];
  for (let i = 0; episodes.length < options.episodes; i++) {
    const random = new Random(hashKey('relabel', size, seed, i));
    const episode = playEpisode(play, i, world);
    const told = (random.chance(relabelShare) ? relabel(episode, random, world) : null) ?? episode;
    if (!told.success && !random.chance(failureShare)) continue;
    played.push(episode);
    episodes.push(told);
  }
  return { episodes, bank: new MemoryBank(played) };
}

/** Training sequences of the experience model. */
export function experienceSequences(size: WorldSize, options: ExperienceOptions): SequenceArrays[] {
  const tokenizer = householdTokenizer(size);
  const { episodes, bank } = experienceEpisodes(size, options);
  const memories = options.memories ?? trainingMemories;
  return episodes.map((episode, i) => {
    const random = new Random(hashKey('memories', size, options.seed, i));
    const recall = ({ state, action }: OfflineEpisode['steps'][number]) =>
      bank.recall(episode.task.room, state, action, i, memories, random);
    const transcript = tellExperience(tokenizer, episode, options.contextLength ?? 640, recall, options.reasoning);
    return transcript.toArrays();
  });
}

/** One episode as the experience model's transcript, with the true reasoning, observations and flags. */
export function tellExperience(
  tokenizer: Tokenizer,
  episode: Pick<OfflineEpisode, 'task' | 'goal' | 'steps'>,
  contextLength: number,
  recall: (step: OfflineEpisode['steps'][number]) => readonly string[],
  reasoning = true,
): Transcript {
  const { task, goal, steps } = episode;
  const transcript = new Transcript().give(experiencePrompt(tokenizer, task.firstObservation, task.instruction));
  const belief = new Belief(task.firstObservation);
  for (const step of steps) {
    const { action, observation, reward } = step;
    const question = experienceQuestion(tokenizer, task.instruction, action, recall(step));
    const thought = experienceThought(belief, goal, action);
    const said = reasoning ? thought : { ...thought, state: '', verdict: '', check: '' };
    const answer = experienceAnswer(tokenizer, said, observation, reward);
    if (transcript.length + question.length + answer.tokens.length > contextLength) break;
    transcript.give(question).say(answer.tokens, undefined, answer.weights);
    belief.observe(observation);
  }
  return transcript;
}

export interface PolicyOptions {
  /** Number of demonstrations wanted; only successful ones count. */
  episodes: number;
  seed: number;
  rooms?: readonly number[];
  mixture?: Mixture;
  maxSteps?: number;
}

/** Successful demonstrations for the policy's warm start: by default those of the clumsy player. */
export function policySequences(size: WorldSize, options: PolicyOptions): SequenceArrays[] {
  const tokenizer = householdTokenizer(size);
  const play = {
    size,
    seed: hashKey('policy', options.seed),
    rooms: options.rooms ?? TRAINING_ROOM_SEEDS,
    mixture: options.mixture ?? { clumsy: 1 },
    maxSteps: options.maxSteps ?? demonstrationSteps,
  };
  const world = new HouseholdWorld();
  const sequences: SequenceArrays[] = [];
  for (let i = 0; sequences.length < options.episodes; i++) {
    const episode = playEpisode(play, i, world);
    if (episode.success) sequences.push(tellPolicy(tokenizer, episode).toArrays());
  }
  return sequences;
}

/** One episode as the policy's transcript. The last observation is left out: nobody acts on it. */
export function tellPolicy(tokenizer: Tokenizer, { task, goal, steps }: OfflineEpisode): Transcript {
  const transcript = new Transcript().give(policyPrompt(tokenizer, task.firstObservation, task.instruction));
  const belief = new Belief(task.firstObservation);
  for (const [i, { action, observation, target }] of steps.entries()) {
    const answer = policyAnswer(tokenizer, policyThought(belief, goal, target), action);
    transcript.give(policyTurn(tokenizer)).say(answer);
    if (i < steps.length - 1) transcript.give(policyObservation(tokenizer, answer, observation));
    belief.observe(observation);
  }
  return transcript;
}

export interface GeneratorOptions {
  episodes: number;
  seed: number;
  rooms?: readonly number[];
}

/** Training sequences of the task generator: two tasks of a room, and a third that varies one of them. */
export function generatorSequences(size: WorldSize, options: GeneratorOptions): SequenceArrays[] {
  const tokenizer = householdTokenizer(size);
  const rooms = options.rooms ?? experienceRooms;
  const sequences: SequenceArrays[] = [];
  for (let i = 0; i < options.episodes; i++) {
    const random = new Random(hashKey('generator', size, options.seed, i));
    const room = generateRoom(size, rooms[i % rooms.length]);
    const example = generatorExample(room, random);
    const transcript = new Transcript()
      .give(generatorPrompt(tokenizer, roomView(room), example.objectTypes, example.seeds))
      .say(generatorAnswer(tokenizer, example.instruction));
    sequences.push(transcript.toArrays());
  }
  return sequences;
}

/** Share of a room's objects that nobody has found yet. */
const unknownShare = 0.15;

function generatorExample(room: Room, random: Random): { objectTypes: string[]; seeds: string[]; instruction: string } {
  const families = trainableGoals(room);
  const draw = () => random.pick(random.pick(families));
  const seeds = [draw(), draw()];
  const taken = new Set(seeds.map(goalKey));
  let next = draw();
  for (let attempt = 0; attempt < 40; attempt++) {
    if (!taken.has(goalKey(next)) && (attempt > 30 || varies(seeds[0], next) || varies(seeds[1], next))) break;
    next = draw();
  }
  const needed = next.family === 'pick_two_obj_and_place' ? 2 : 1;
  const kept = new Map<string, number>();
  // What the new task needs is always among the known things: the model must learn to ask for nothing else.
  const objectTypes = room.objectTypes.filter((type) => {
    const wanted = type === next.object || type === next.toggle;
    const must = wanted && (kept.get(type) ?? 0) < needed;
    if (!must && random.chance(unknownShare)) return false;
    kept.set(type, (kept.get(type) ?? 0) + 1);
    return true;
  });
  const say = (goal: Goal) => instructionOf(goal, random.int(2) as 0 | 1);
  return { objectTypes, seeds: seeds.map(say), instruction: say(next) };
}

/** A variation keeps the object, the place or the kind of task. */
function varies(seed: Goal, next: Goal): boolean {
  return (
    seed.object === next.object ||
    (seed.receptacle !== undefined && seed.receptacle === next.receptacle) ||
    seed.family === next.family
  );
}

const trainable = new WeakMap<Room, readonly (readonly Goal[])[]>();

/** Feasible goals that are not reserved for evaluation, by family. */
function trainableGoals(room: Room): readonly (readonly Goal[])[] {
  let families = trainable.get(room);
  if (!families) {
    const heldOut = (goal: Goal) => {
      const task = taskFromInstruction(room.size, room.seed, instructionOf(goal));
      return task === null || isHeldOut(task);
    };
    families = [...feasibleGoals(room).values()]
      .map((goals) => goals.filter((goal) => !heldOut(goal)))
      .filter((goals) => goals.length > 0);
    trainable.set(room, families);
  }
  return families;
}
