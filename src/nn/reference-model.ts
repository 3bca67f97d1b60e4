/**
 * @file One base, two voices (design.md, idea 2): with its adapter the model learns and acts; with the adapter switched off
 * the same weights dream, invent tasks and are the KL reference.
 *
 * Whether an adapter is on is read while commands are recorded, and a call records between its waits: calls of the two
 * views therefore take turns. Whoever uses both must call the views, not the model.
 */
import { DreamError } from '../data/errors';
import type { DecoderModel } from './decoder-model';
import type { LanguageModel, Sessions } from './language-model';

type Turn = <T>(adapted: boolean, work: () => Promise<T>) => Promise<T>;

/** One queue per model, so that views made in different places still wait for each other. */
const queues = new WeakMap<DecoderModel, Turn>();

function queueOf(model: DecoderModel): Turn {
  const known = queues.get(model);
  if (known) return known;
  let last: Promise<unknown> = Promise.resolve();
  const turn: Turn = (adapted, work) => {
    const mine = last.then(async () => {
      switchAdapters(model, adapted);
      try {
        return await work();
      } finally {
        switchAdapters(model, true);
      }
    });
    // One call's failure is its caller's, not the next one's.
    last = mine.catch(() => undefined);
    return mine;
  };
  queues.set(model, turn);
  return turn;
}

function switchAdapters(model: DecoderModel, on: boolean): void {
  for (const lora of model.decoder.weights.adapted.values()) lora.enabled = on;
}

/** The model with its adapter: what learns. Its state is the adapter and the optimiser's, without the base. */
export function policyModel(model: DecoderModel): LanguageModel {
  const turn = queueOf(model);
  const call = <T>(work: () => Promise<T>) => turn(true, work);
  return {
    ...readingView(model, call),
    values: (sequences) => call(() => model.values(sequences)),
    trainStep: (sequences, loss, optimizer) => call(() => model.trainStep(sequences, loss, optimizer)),
    exportState: (withOptimizer) => call(() => model.exportState(withOptimizer, 'trained')),
    importState: (state) => call(() => model.importState(state)),
    dispose: () => model.dispose(),
  };
}

/**
 * The model without its adapter: the base, to the bit. It cannot learn (`base-is-frozen`) and has no state of its own;
 * `dispose` leaves the model to its owner.
 */
export function referenceModel(model: DecoderModel): LanguageModel {
  const turn = queueOf(model);
  return {
    ...readingView(model, (work) => turn(false, work)),
    trainStep: async () => refuse('trained'),
    exportState: async () => ({ step: 0, weights: new Map() }),
    importState: async () => refuse('replaced'),
    dispose: () => {},
  };
}

type Reading = Pick<LanguageModel, 'vocabSize' | 'contextLength' | 'sessions' | 'score' | 'embed'>;

function readingView(model: DecoderModel, call: <T>(work: () => Promise<T>) => Promise<T>): Reading {
  return {
    vocabSize: model.vocabSize,
    contextLength: model.contextLength,
    sessions: (count) => takingTurns(model.sessions(count), call),
    score: (sequences) => call(() => model.score(sequences)),
    embed: (sequences) => call(() => model.embed(sequences)),
  };
}

/** What computes waits for its turn; what only notes tokens does not. */
function takingTurns(sessions: Sessions, call: <T>(work: () => Promise<T>) => Promise<T>): Sessions {
  return {
    count: sessions.count,
    contextLength: sessions.contextLength,
    length: (stream) => sessions.length(stream),
    append: (stream, tokens) => sessions.append(stream, tokens),
    generate: (streams, options) => call(() => sessions.generate(streams, options)),
    copy: (from, to) => call(() => sessions.copy(from, to)),
    clear: (stream) => sessions.clear(stream),
    dispose: () => sessions.dispose(),
  };
}

function refuse(what: string): never {
  throw new DreamError(
    'base-is-frozen',
    `The base model without its adapter cannot be ${what}.`,
    'Train the policy; the experience model and the reference stay as they were loaded.',
  );
}
