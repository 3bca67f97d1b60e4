/**
 * @file What the worker around transformers.js does, without the library: one thing at a time, batches of equal length.
 *
 * Left padding is wrong with the attention of these graphs and the library can do no other, so only prompts of exactly
 * the same number of tokens share a batch; the rest go alone.
 */
import { DreamError } from '../data/errors';
import { deriveSeed } from '../dream/random';
import { type Handler, type Port, serve } from '../dream/text-models/channel';
import { cutAtStop, type TextCompletion, type TextRequest } from '../dream/text-models/text-model';
import {
  type CompleteCall,
  type EmbedCall,
  type EmbedResult,
  libraryFailedCode,
  modelKey,
  type TransformersModel,
  type TransformersProgress,
} from '../dream/text-models/transformers/protocol';

export type Report = (progress: TransformersProgress) => void;

export interface GenerateOptions {
  maxNewTokens: number;
  temperature: number;
  seed: number;
  /** Called after every token of every row with that row's new tokens; true ends the row. */
  isDone: (row: number, newTokens: readonly number[]) => boolean;
}

export interface LoadedGenerator {
  readonly contextLength: number;
  readonly endTokens: ReadonlySet<number>;
  encode(messages: TextRequest['messages']): number[];
  /** Without special tokens. */
  decode(tokens: readonly number[]): string;
  /** New tokens per row. All prompts have the same length; a row may go on after its end, because others are not done. */
  generate(prompts: readonly (readonly number[])[], options: GenerateOptions): Promise<number[][]>;
  dispose(): Promise<void>;
}

export interface LoadedEmbedder {
  /** Unit vectors. */
  embed(texts: readonly string[]): Promise<EmbedResult>;
  dispose(): Promise<void>;
}

/** transformers.js, or a fake. */
export interface TransformersLibrary {
  loadGenerator(model: TransformersModel, report: Report): Promise<LoadedGenerator>;
  loadEmbedder(model: TransformersModel, report: Report): Promise<LoadedEmbedder>;
}

const largestBatch = 8;
const embeddingBatch = 16;

/** Offers `complete`, `embed` and `unload` on `port`. */
export function serveTransformers(port: Port, library: TransformersLibrary): () => void {
  const generators = new Map<string, LoadedGenerator>();
  const embedders = new Map<string, LoadedEmbedder>();
  let queue: Promise<unknown> = Promise.resolve();
  /** The library's settings and its random numbers are global: nothing may interleave. */
  const inTurn = (handler: Handler): Handler => {
    return (payload, context) => {
      const turn = queue.then(() => {
        context.signal.throwIfAborted();
        return handler(payload, context);
      });
      queue = turn.catch(() => {});
      return turn;
    };
  };

  const handlers: Record<string, Handler> = {
    complete: inTurn(async (payload, { signal, progress }) => {
      const { model, requests } = payload as CompleteCall;
      const generator = await ensure(generators, modelKey(model), () => library.loadGenerator(model, progress));
      return completeAll(generator, requests, signal, progress);
    }),
    embed: inTurn(async (payload, { signal, progress }) => {
      const { model, texts } = payload as EmbedCall;
      const embedder = await ensure(embedders, modelKey(model), () => library.loadEmbedder(model, progress));
      return embedAll(embedder, texts, signal, progress);
    }),
    unload: inTurn(async (payload) => {
      const key = modelKey((payload as { model: TransformersModel }).model);
      for (const loaded of [generators, embedders]) {
        await loaded.get(key)?.dispose();
        loaded.delete(key);
      }
    }),
  };
  return serve(port, handlers, libraryFailed);
}

async function ensure<T>(loaded: Map<string, T>, key: string, load: () => Promise<T>): Promise<T> {
  const known = loaded.get(key);
  if (known) return known;
  const fresh = await load();
  loaded.set(key, fresh);
  return fresh;
}

async function completeAll(
  generator: LoadedGenerator,
  requests: readonly TextRequest[],
  signal: AbortSignal,
  report: Report,
): Promise<TextCompletion[]> {
  const prompts = requests.map(({ messages }) => generator.encode(messages));
  const completions: TextCompletion[] = new Array(requests.length);
  const fitting: number[] = [];
  requests.forEach(({ maxTokens }, i) => {
    if (prompts[i].length + maxTokens <= generator.contextLength) fitting.push(i);
    else completions[i] = { text: '', finishReason: 'length', generatedTokens: 0 };
  });
  let done = requests.length - fitting.length;
  for (const batch of batchesOf(fitting, prompts, requests)) {
    signal.throwIfAborted();
    const { maxTokens, temperature } = requests[batch[0]];
    const rows = await generator.generate(
      batch.map((i) => prompts[i]),
      {
        maxNewTokens: maxTokens,
        temperature,
        // The random numbers of a batch are one sequence: the same batch gives the same answers.
        seed: deriveSeed(0, ...batch.map((i) => requests[i].seed ?? 0)),
        isDone: (row, newTokens) => {
          report({ phase: 'working', done, total: requests.length });
          return signal.aborted || hasStop(generator, newTokens, requests[batch[row]].stop);
        },
      },
    );
    signal.throwIfAborted();
    batch.forEach((i, row) => {
      completions[i] = completionOf(generator, rows[row], requests[i]);
    });
    done += batch.length;
    report({ phase: 'working', done, total: requests.length });
  }
  return completions;
}

/** Requests of one prompt length, answer length and temperature, at most `largestBatch` at once. */
export function batchesOf(
  indices: readonly number[],
  prompts: readonly (readonly number[])[],
  requests: readonly TextRequest[],
): number[][] {
  const groups = new Map<string, number[][]>();
  for (const i of indices) {
    const key = `${prompts[i].length} ${requests[i].maxTokens} ${requests[i].temperature}`;
    const batches = groups.get(key) ?? [];
    const last = batches.at(-1);
    if (last && last.length < largestBatch) last.push(i);
    else batches.push([i]);
    groups.set(key, batches);
  }
  return [...groups.values()].flat();
}

/** A stop string may begin in one token and end in another: a few tokens back are enough. */
function hasStop(generator: LoadedGenerator, tokens: readonly number[], stop: readonly string[] | undefined): boolean {
  return stop !== undefined && stop.length > 0 && cutAtStop(generator.decode(tokens.slice(-24)), stop).cut;
}

/** A row that was done early holds what was sampled while others went on: it ends at its first end token. */
function completionOf(generator: LoadedGenerator, row: readonly number[], request: TextRequest): TextCompletion {
  const end = row.findIndex((token) => generator.endTokens.has(token));
  const own = end < 0 ? row : row.slice(0, end);
  const { text, cut } = cutAtStop(generator.decode(own), request.stop);
  return { text, finishReason: end >= 0 || cut ? 'stop' : 'length', generatedTokens: own.length };
}

async function embedAll(
  embedder: LoadedEmbedder,
  texts: readonly string[],
  signal: AbortSignal,
  report: Report,
): Promise<EmbedResult> {
  let vectors = new Float32Array(0);
  let dimension = 0;
  for (let from = 0; from < texts.length; from += embeddingBatch) {
    signal.throwIfAborted();
    const batch = texts.slice(from, from + embeddingBatch);
    const embedded = await embedder.embed(batch);
    dimension = embedded.dimension;
    if (vectors.length === 0) vectors = new Float32Array(texts.length * dimension);
    vectors.set(embedded.vectors, from * dimension);
    report({ phase: 'working', done: Math.min(from + embeddingBatch, texts.length), total: texts.length });
  }
  return { vectors, dimension };
}

function libraryFailed(error: unknown): DreamError {
  const message = error instanceof Error ? error.message : String(error);
  return new DreamError(
    libraryFailedCode,
    `The model could not be loaded or run: ${message.slice(0, 400)}`,
    'It is tried once more in a fresh worker. If that fails too: choose a smaller model, or other weights of it.',
    { cause: error },
  );
}
