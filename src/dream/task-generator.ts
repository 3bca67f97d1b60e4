/**
 * @file New tasks by the same model that dreams the world (DreamGym, Eq. 6): two parents in, one variation out.
 *
 * A proposal becomes a task only if it can be read (form), is not known (novelty) and asks for nothing that the room, as
 * far as it has been seen, lacks (feasibility as known). What the room really allows shows at the first visit.
 */
import type { Task } from '../envs/environment';
import type { LanguageModel } from '../nn/language-model';
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
}

/** Proposes variations and adds the good ones to the pool. */
export async function generateTasks(request: GenerationRequest): Promise<GenerationReport> {
  const { model, domain, pool, buffer, parents, proposals } = request;
  const report: GenerationReport = {
    asked: 0,
    malformed: 0,
    known: 0,
    infeasible: 0,
    accepted: [],
    generatedTokens: 0,
  };
  if (parents.length === 0 || proposals === 0) return report;

  const role = domain.dialect.generator;
  const draws = new Draws(deriveSeed(request.seed, 'parents'));
  const pairs = Array.from({ length: proposals }, (_, i) => parentsOf(parents[i % parents.length], pool, draws));
  const sessions = model.sessions(pairs.length);
  try {
    pairs.forEach((pair, i) => {
      const opening = role.opening(
        pair.map((entry) => entry.task),
        seenIn(buffer, pair[0].room),
      );
      // A prompt that leaves no room for an answer is asked without the memories.
      const fits = opening.length + role.maxNewTokens <= sessions.contextLength;
      sessions.append(
        i,
        fits
          ? opening
          : role.opening(
              pair.map((entry) => entry.task),
              [],
            ),
      );
    });
    const answers = await sessions.generate(
      pairs.map((_, i) => i),
      {
        temperature: request.temperature,
        seed: deriveSeed(request.seed, 'proposals'),
        stopTokens: role.stopTokens,
        maxNewTokens: role.maxNewTokens,
      },
    );
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
  } finally {
    sessions.dispose();
  }
  return report;
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
