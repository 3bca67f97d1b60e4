/**
 * @file New tasks by the same model that dreams the world (DreamGym, Eq. 6): two parents in, one variation out.
 *
 * A proposal becomes a task only if it can be read (form), is not known (novelty) and asks for nothing that the room, as
 * far as it has been seen, lacks (feasibility as known). What the room really allows shows at the first visit.
 */
import type { Task } from '../envs/environment';
import type { Generated, LanguageModel } from '../nn/language-model';
import type { TaskPool } from './curriculum';
import type { Domain } from './domain';
import { Draws, deriveSeed } from './random';
import type { ReplayBuffer } from './replay-buffer';
import type { StoredTask, Transition } from './run-store';

export interface GenerationReport {
  asked: number;
  malformed: number;
  known: number;
  infeasible: number;
  accepted: { task: Task; parent: string }[];
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
  const { domain, pool, buffer, parents, proposals } = request;
  const role = domain.dialect.generator;
  const draws = new Draws(deriveSeed(request.seed, 'parents'));
  const pairs = Array.from({ length: proposals }, (_, i) => parentsOf(parents[i % parents.length], pool, draws));
  const answers: Generated[] = [];
  const atOnce = request.parallel ?? pairs.length;
  for (let first = 0; first < pairs.length; first += atOnce)
    answers.push(...(await ask(request, pairs.slice(first, first + atOnce), first)));
  answers.forEach(({ tokens, stopped }, i) => {
    report.asked++;
    report.generatedTokens += tokens.length;
    const parent = pairs[i][0];
    const instruction = stopped ? role.parse(tokens) : null;
    const task = instruction === null ? null : domain.taskFrom(parent.task, instruction);
    if (!task) report.malformed++;
    else if (pool.has(task.id) || !domain.isNovel(task, tasksOfRoom(pool, task.room))) report.known++;
    else if (!domain.feasible(task, seenIn(buffer, task.room))) report.infeasible++;
    else if (pool.add(task, parent.id)) report.accepted.push({ task, parent: parent.id });
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
