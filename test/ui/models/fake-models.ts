/** @file A worker for the panel's tests: answers as told, at once or when it is let go. */
import { DreamError } from '../../../src/data/errors';
import type { ModelsRemote } from '../../../src/ui/models/connection';
import type { LoadedFacts, ModelFacts, ModelsApi, ModelsEvent, PlanAnswer } from '../../../src/worker/models/protocol';

export const someFacts: ModelFacts = {
  kind: 'files',
  label: 'some.gguf',
  architecture: 'llama',
  parameters: 135e6,
  config: {
    vocabSize: 49152,
    width: 576,
    layers: 30,
    heads: 9,
    kvHeads: 3,
    headDim: 64,
    ffn: 1536,
    ropeTheta: 1e5,
    normEps: 1e-5,
    contextLength: 8192,
  },
  weightBytes: 9e7,
  storedAs: [{ type: 'Q4_1', tensors: 210, bytes: 9e7 }],
  hasTokenizer: true,
  hasChatTemplate: true,
  tokenizerProblem: null,
  notes: [],
  download: null,
};

export const somePlan: PlanAnswer = {
  weights: 100,
  adapter: 0,
  tables: 10,
  keyValueCache: 30,
  generation: 50,
  training: 0,
  plannedGpuBytes: 160,
  largestBuffer: { name: 'embed', bytes: 60 },
  verdict: 'fits',
  advice: 'It fits.',
  device: { adapter: 'some card', software: false, largestBufferBytes: 2 ** 31 },
};

export const someLoaded: LoadedFacts = {
  label: 'some.gguf',
  device: { adapter: 'some card', software: false, largestBufferBytes: 2 ** 31 },
  contextLength: 2048,
  precision: 'f32',
  gpuBytes: 110,
  hasTokenizer: true,
  hasChatTemplate: true,
  seconds: 2,
  adapter: null,
};

type Answers = { [K in keyof ModelsApi]?: (...args: Parameters<ModelsApi[K]>) => unknown };

export interface FakeModels {
  remote: ModelsRemote;
  calls: { method: string; args: unknown[] }[];
  emit(event: ModelsEvent): void;
  crash(): void;
}

export function fakeModels(answers: Answers = {}): FakeModels {
  const calls: FakeModels['calls'] = [];
  let listener: (event: ModelsEvent) => void = () => {};
  let crash: (error: DreamError) => void = () => {};
  const crashed = new Promise<DreamError>((resolve) => {
    crash = resolve;
  });
  const usual: Answers = {
    subscribe: (given) => {
      listener = given;
    },
    inspect: () => someFacts,
    plan: () => somePlan,
    load: () => someLoaded,
    loaded: () => null,
    kept: () => [],
  };
  const all = { ...usual, ...answers } as Record<string, (...args: unknown[]) => unknown>;
  const remote = new Proxy({} as ModelsRemote, {
    get(_target, key) {
      if (key === 'then') return undefined;
      if (key === 'crashed') return crashed;
      return async (...args: unknown[]) => {
        calls.push({ method: String(key), args });
        return all[String(key)]?.(...args);
      };
    },
  });
  return {
    remote,
    calls,
    emit: (event) => listener(event),
    crash: () => crash(new DreamError('worker-crashed', 'It ended.', 'Load it again.')),
  };
}

/** An answer that waits. */
export function held<T>(): { promise: Promise<T>; settle(value: T): void; fail(error: unknown): void } {
  let settle: (value: T) => void = () => {};
  let fail: (error: unknown) => void = () => {};
  const promise = new Promise<T>((resolve, reject) => {
    settle = resolve;
    fail = reject;
  });
  return { promise, settle, fail };
}
