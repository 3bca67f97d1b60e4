/**
 * @file New tasks by the same model that dreams the world (DreamGym, Eq. 6): two parents in, one variation out.
 *
 * A proposal becomes a task only if it can be read (form), is not known (novelty) and asks for nothing that the room, as
 * far as it has been seen, lacks (feasibility as known). What the room really allows shows at the first visit. Either all
 * proposals that pass are kept, or several variants of each parent are weighed and the most challenging one is (appendix C).
 */
import type { Task } from '../envs/environment';
import type { Generated, LanguageModel } from '../nn/language-model';
import type { TaskPool } from './curriculum';
import type { Domain } from './domain';
import { Draws, deriveSeed } from './random';
import type { ReplayBuffer } from './replay-buffer';
import type { StoredTask, Transition } from './run-store';
import { type Family, selectVariants } from './task-selection';

export interface GenerationReport {
  asked: number;
  malformed: number;
  known: number;
  infeasible: number;
  /** Good variants that gave way to a more challenging one. */
  passedOver: number;
  /** Choices of the model that could not be read; a rule chose instead. */
  unreadableChoices: number;
  /** `why`: where a choice was made. */
  accepted: { task: Task; parent: string; why?: string }[];
  generatedTokens: number;
}

export interface GenerationRequest {
  model: LanguageModel;
  domain: Domain;
  pool: TaskPool;
  buffer: ReplayBuffer;
  /** Most valuable first. */
  parents: readonly StoredTask[];
  /** Proposals to sample. */
  proposals: number;
  temperature: number;
  seed: number;
  /** Proposals that are sampled at once; all of them by default. */
  parallel?: number;
  /** So many variants of each parent are weighed and one is kept; absent: every good proposal is. */
  candidates?: number;
}

/** Asked again so often at most, while no proposal has passed. */
const mostRounds = 4;

/** Proposes variations and adds the good ones to the pool; asks again with other draws when none of them was good. */
export async function generateTasks(request: GenerationRequest): Promise<GenerationReport> {
  const report: GenerationReport = {
    asked: 0,
    malformed: 0,
    known: 0,
    infeasible: 0,
    passedOver: 0,
    unreadableChoices: 0,
    accepted: [],
    generatedTokens: 0,
  };
  if (request.parents.length === 0 || request.proposals === 0) return report;
  for (let round = 0; round < mostRounds && report.accepted.length === 0; round++) {
    const seed = round === 0 ? request.seed : deriveSeed(request.seed, 'round', round);
    await propose({ ...request, seed }, report);
  }
  return report;
}

async function propose(request: GenerationRequest, report: GenerationReport): Promise<void> {
  const { pool, parents, candidates, proposals } = request;
  const draws = new Draws(deriveSeed(request.seed, 'parents'));
  // One choice a parent: with more, the second best would be kept as well.
  const asked =
    candidates === undefined
      ? Array.from({ length: proposals }, (_, i) => parents[i % parents.length])
      : parents.slice(0, proposals).flatMap((parent) => Array.from({ length: candidates }, () => parent));
  const pairs = asked.map((parent) => parentsOf(parent, pool, draws));
  const answers: Generated[] = [];
  const atOnce = request.parallel ?? pairs.length;
  for (let first = 0; first < pairs.length; first += atOnce)
    answers.push(...(await ask(request, pairs.slice(first, first + atOnce), first)));
  report.asked += answers.length;
  report.generatedTokens += answers.reduce((sum, { tokens }) => sum + tokens.length, 0);
  if (candidates !== undefined) return choose(request, pairs, answers, report);
  answers.forEach((answer, i) => {
    const [parent] = pairs[i];
    const task = good(request, parent, answer, [], report);
    if (task && pool.add(task, parent.id)) report.accepted.push({ task, parent: parent.id });
  });
}

/** Reads one proposal and checks it against the pool and `beside`; counts what is wrong with it. */
function good(
  { domain, pool, buffer }: GenerationRequest,
  parent: StoredTask,
  { tokens, stopped }: Generated,
  beside: readonly Task[],
  report: GenerationReport,
): Task | null {
  const instruction = stopped ? domain.dialect.generator.parse(tokens) : null;
  const task = instruction === null ? null : domain.taskFrom(parent.task, instruction);
  const isNovel = (one: Task) =>
    !pool.has(one.id) &&
    beside.every(({ id }) => id !== one.id) &&
    domain.isNovel(one, [...tasksOfRoom(pool, one.room), ...beside]);
  if (!task) report.malformed++;
  else if (!isNovel(task)) report.known++;
  else if (!domain.feasible(task, seenIn(buffer, task.room))) report.infeasible++;
  else return task;
  return null;
}

/** Keeps the most challenging feasible variant of each parent. */
async function choose(
  request: GenerationRequest,
  pairs: readonly (readonly StoredTask[])[],
  answers: readonly Generated[],
  report: GenerationReport,
): Promise<void> {
  const { pool, buffer } = request;
  const families = new Map<string, Family & { variants: Task[] }>();
  answers.forEach((answer, i) => {
    const [parent] = pairs[i];
    const family = families.get(parent.id) ?? { parent, variants: [] };
    families.set(parent.id, family);
    const task = good(request, parent, answer, family.variants, report);
    if (task) family.variants.push(task);
  });
  const weighed = [...families.values()].filter(({ variants }) => variants.length > 0);
  const { choices, unreadable, generatedTokens } = await selectVariants({
    ...request,
    families: weighed,
    pool: pool.tasks(),
    seenIn: (room) => seenIn(buffer, room),
    seed: deriveSeed(request.seed, 'selection'),
  });
  report.generatedTokens += generatedTokens;
  report.unreadableChoices += unreadable;
  choices.forEach(({ index, reasoning }, i) => {
    const { parent, variants } = weighed[i];
    report.passedOver += variants.length - (index < 0 ? 0 : 1);
    if (index < 0) return;
    const task = variants[index];
    // Two parents of one room may have been given the same variant.
    const isNew = !pool.has(task.id) && request.domain.isNovel(task, tasksOfRoom(pool, task.room));
    if (isNew && pool.add(task, parent.id)) report.accepted.push({ task, parent: parent.id, why: reasoning });
    else report.known++;
  });
}

async function ask(
  { model, domain, buffer, temperature, seed }: GenerationRequest,
  pairs: readonly (readonly StoredTask[])[],
  first: number,
): Promise<Generated[]> {
  const role = domain.dialect.generator;
  const sessions = model.sessions(pairs.length);
  try {
    pairs.forEach((pair, i) => {
      const tasks = pair.map((entry) => entry.task);
      const opening = role.opening(tasks, seenIn(buffer, pair[0].room));
      // A prompt that leaves no room for an answer is asked without the memories.
      const fits = opening.length + role.maxNewTokens <= sessions.contextLength;
      sessions.append(i, fits ? opening : role.opening(tasks, []));
    });
    return await sessions.generate(
      pairs.map((_, i) => i),
      {
        temperature,
        // Draws depend on the stream: those of a second batch must not repeat the first one's.
        seed: first === 0 ? deriveSeed(seed, 'proposals') : deriveSeed(seed, 'proposals', first),
        stopTokens: role.stopTokens,
        maxNewTokens: role.maxNewTokens,
      },
    );
  } finally {
    sessions.dispose();
  }
}

/** What was only dreamed of a room says nothing about what it holds. */
function seenIn(buffer: ReplayBuffer, room: string): Transition[] {
  return buffer.ofRoom(room).filter((transition) => transition.source !== 'imagined');
}

function tasksOfRoom(pool: TaskPool, room: string): Task[] {
  return pool
    .tasks()
    .filter((entry) => entry.room === room)
    .map((entry) => entry.task);
}

/** The parent and another task of its room (itself when it is the only one). */
function parentsOf(parent: StoredTask, pool: TaskPool, draws: Draws): [StoredTask, StoredTask] {
  const others = pool.tasks().filter((entry) => entry.room === parent.room && entry.id !== parent.id);
  return [parent, others.length > 0 ? others[draws.below(others.length)] : parent];
}
