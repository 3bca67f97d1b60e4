/**
 * @file Where a text experience model's memories come from: the loop's own retrieval, or a semantic encoder.
 *
 * In the built-in worlds the same action in the same room is the only memory that helps, and hashed words rank it well
 * (../retrieval.ts). A text world whose actions are free sentences never sees the same action twice: there an encoder
 * finds what is alike (DreamGym's phi).
 */
import type { ReplayBuffer } from '../replay-buffer';
import { type Memory, type MemoryQuery, retrieve, type TopKKernel, truthFirst } from '../retrieval';
import type { Transition } from '../run-store';
import type { TextEmbedder } from './embedder';

/** For each query its memories, most similar first. */
export type Recall = (queries: readonly MemoryQuery[], k: number, signal?: AbortSignal) => Promise<Memory[][]>;

/** The loop's retrieval: same room, same action, hashed words. */
export function bufferRecall(buffer: ReplayBuffer, topK: TopKKernel): Recall {
  return (queries, k) => retrieve(buffer, queries, k, topK);
}

/** Which memories may answer: those of the room, or all. */
export type RecallScope = 'room' | 'world';

/** What is embedded: phi(s, a). */
const phrase = (state: string, action: string) => `${action}\n${state}`;

/**
 * Cosine similarity of embedded (state, action). Each transition is embedded once, when it first becomes a candidate.
 * What was really seen answers before what was only dreamed, and never the asking episode itself.
 */
export function semanticRecall(
  buffer: ReplayBuffer,
  embedder: TextEmbedder,
  topK: TopKKernel,
  scope: RecallScope = 'room',
): Recall {
  const vectors = new Map<number, Float32Array>();
  return async (queries, k, signal) => {
    if (k === 0 || queries.length === 0) return queries.map(() => []);
    const candidates = queries.map(({ room, episode }) => {
      const known = scope === 'room' ? buffer.ofRoom(room) : buffer.transitions();
      return truthFirst(known.filter((transition) => transition.episode !== episode));
    });
    const rows = new Map<number, Transition>();
    for (const transition of candidates.flat()) rows.set(transition.id, transition);
    if (rows.size === 0) return queries.map(() => []);
    for (const id of vectors.keys()) if (!buffer.get(id)) vectors.delete(id);

    // Newest first, so that a tie goes to the fresher memory.
    const ids = [...rows.keys()].sort((a, b) => b - a);
    const missing = ids.filter((id) => !vectors.has(id));
    const texts = [
      ...missing.map((id) => phrase(rows.get(id)!.state, rows.get(id)!.action)),
      ...queries.map(({ state, action }) => phrase(state, action)),
    ];
    const embedded = await embedder.embed(texts, signal);
    missing.forEach((id, i) => {
      vectors.set(id, embedded[i]);
    });
    const rowOf = new Map(ids.map((id, row) => [id, row]));
    const dimension = embedded[0].length;
    const allowed = new Uint8Array(queries.length * ids.length);
    candidates.forEach((list, q) => {
      for (const { id } of list) allowed[q * ids.length + rowOf.get(id)!] = 1;
    });
    const { indices, scores } = await topK({
      queries: flatten(embedded.slice(missing.length), dimension),
      rows: flatten(
        ids.map((id) => vectors.get(id)!),
        dimension,
      ),
      dimension,
      k,
      allowed,
    });
    return queries.map((_, q) =>
      Array.from({ length: k }, (__, j) => q * k + j)
        .filter((at) => indices[at] >= 0)
        .map((at) => ({ transition: rows.get(ids[indices[at]])!, similarity: scores[at] })),
    );
  };
}

function flatten(vectors: readonly Float32Array[], dimension: number): Float32Array {
  const flat = new Float32Array(vectors.length * dimension);
  vectors.forEach((vector, i) => {
    flat.set(vector, i * dimension);
  });
  return flat;
}
