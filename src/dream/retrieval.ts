/**
 * @file Top-k similar transitions for every question of a step, in one call to the similarity kernel.
 *
 * Same room and same action first: in these worlds another action's outcome would mislead more than it helps, and a
 * shared receptacle list once let two rooms answer for each other (recipe.md). What was really seen answers before what
 * was only dreamed, so that an invention is repeated only where nothing better is known. Cosine similarity then ranks.
 */
import { transitionFeatures } from './features';
import type { ReplayBuffer } from './replay-buffer';
import type { Transition } from './run-store';

export interface TopKRequest {
  /** Unit vectors [queries, dimension]. */
  queries: Float32Array;
  /** Unit vectors [rows, dimension]. */
  rows: Float32Array;
  dimension: number;
  k: number;
  /** [queries, rows]: 1 where the row may answer the query. */
  allowed: Uint8Array;
}

/**
 * Rows of largest dot product per query, best first: [queries, k]. Index -1 where fewer than k rows were allowed.
 * Equal scores go to the smaller row index, so that the answer is the same on every device.
 */
export type TopKKernel = (request: TopKRequest) => Promise<{ indices: Int32Array; scores: Float32Array }>;

export interface MemoryQuery {
  room: string;
  state: string;
  action: string;
  episode: string;
}

export interface Memory {
  transition: Transition;
  similarity: number;
}

/** For each query its memories, most similar first; an empty list where nothing fits. */
export async function retrieve(
  buffer: ReplayBuffer,
  queries: readonly MemoryQuery[],
  k: number,
  topK: TopKKernel,
): Promise<Memory[][]> {
  if (k === 0) return queries.map(() => []);
  const candidates = queries.map((query) => truthFirst(buffer.recall(query.room, query.action, query.episode)));

  // Only memories that can answer somebody become rows. Newest first, so that a tie goes to the fresher memory.
  const ids = [...new Set(candidates.flatMap((list) => list.map((t) => t.id)))].sort((a, b) => b - a);
  if (ids.length === 0) return queries.map(() => []);
  const rowOf = new Map(ids.map((id, row) => [id, row]));
  const { dimension } = buffer;
  const rows = new Float32Array(ids.length * dimension);
  ids.forEach((id, row) => {
    rows.set(buffer.features(id), row * dimension);
  });

  // Queries without candidates stay out of the kernel.
  const asking = queries.map((_, i) => i).filter((i) => candidates[i].length > 0);
  const vectors = new Float32Array(asking.length * dimension);
  const allowed = new Uint8Array(asking.length * ids.length);
  asking.forEach((q, i) => {
    vectors.set(transitionFeatures(queries[q].state, queries[q].action, dimension), i * dimension);
    for (const { id } of candidates[q]) allowed[i * ids.length + rowOf.get(id)!] = 1;
  });

  const { indices, scores } = await topK({ queries: vectors, rows, dimension, k, allowed });
  const result: Memory[][] = queries.map(() => []);
  asking.forEach((q, i) => {
    for (let j = 0; j < k; j++) {
      const row = indices[i * k + j];
      if (row < 0) break;
      result[q].push({ transition: buffer.get(ids[row])!, similarity: scores[i * k + j] });
    }
  });
  return result;
}

/** What was imagined counts only where nothing else is known. */
export function truthFirst(found: Transition[]): Transition[] {
  const seen = found.filter((transition) => transition.source !== 'imagined');
  return seen.length > 0 ? seen : found;
}
