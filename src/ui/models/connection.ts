/** @file The panel's line to its worker: one thing at a time, failures become a card where they happened. */
import { computed, signal } from '@preact/signals';
import { proxy, type Remote } from 'comlink';
import { DreamError } from '../../data/errors';
import type { WorkerConnection } from '../../worker/client';
import { connectModels } from '../../worker/models/client';
import type { LoadedFacts, LoadProgress, ModelsApi, ModelsEvent } from '../../worker/models/protocol';
import type { TypedError } from '../../worker/protocol';
import type { Card } from '../messages/texts';
import { announce } from '../state/messages';
import { type Place, problemCard } from './problems';
import { forgetRun, receiveRun, training } from './training-state';

export type ModelsRemote = Remote<ModelsApi> & WorkerConnection;

export type Activity = 'load' | 'unload' | 'generate' | 'score' | 'adapter' | 'kept' | 'ask';

export const activity = signal<Activity | null>(null);
/** Something is going on, or a run has the model. */
export const working = computed(() => activity.value !== null || training.value);
export const problem = signal<{ place: Place; card: Card } | null>(null);
export const loaded = signal<LoadedFacts | null>(null);
export const progress = signal<LoadProgress | null>(null);
/** The answer so far, while it is being written. */
export const streamed = signal('');
export const streamedTokens = signal(0);
/** What an experience model is at. */
export const asking = signal('');

let connection: Promise<ModelsRemote> | null = null;
let connector: () => ModelsRemote = connectModels;

/** Tests put a worker of their own here. */
export function connectBy(connect: () => ModelsRemote): void {
  connector = connect;
  connection = null;
}

/** The worker, started at the first need. */
export function models(): Promise<ModelsRemote> {
  connection ??= connect().catch((error: unknown) => {
    connection = null;
    throw error;
  });
  return connection;
}

async function connect(): Promise<ModelsRemote> {
  const remote = connector();
  void remote.crashed.then((error) => {
    // An uncaught error does not end a worker; what it held must not stay on the graphics processor.
    remote.terminate();
    connection = null;
    loaded.value = null;
    progress.value = null;
    forgetRun();
    showProblem('load', error);
  });
  await remote.subscribe(proxy(receive));
  return remote;
}

export function receive(event: ModelsEvent): void {
  switch (event.type) {
    case 'progress':
      // A last report may come after the end.
      if (activity.value === 'load' || activity.value === 'adapter') progress.value = event.progress;
      break;
    case 'text':
      streamed.value += event.text;
      streamedTokens.value = event.tokens;
      break;
    case 'asked':
      asking.value = event.detail;
      break;
    case 'run': {
      const said = receiveRun(event.event, (error) => showProblem('train', typedError(error)));
      if (said) announce(said);
      break;
    }
    case 'loaded':
      loaded.value = event.loaded;
      break;
    case 'lost': {
      loaded.value = null;
      showProblem('load', typedError(event.error));
    }
  }
}

const typedError = ({ code, message, advice }: TypedError): DreamError => new DreamError(code, message, advice);

export function showProblem(place: Place, error: unknown): void {
  const card = problemCard(error);
  if (!card) return;
  problem.value = { place, card };
  announce(card.title);
}

export function clearProblem(place: Place): void {
  if (problem.value?.place === place) problem.value = null;
}

/** One thing at a time. Null when it failed, which is then told at `place`. */
export async function doing<T>(
  what: Activity,
  place: Place,
  work: (remote: ModelsRemote) => Promise<T>,
): Promise<T | null> {
  if (activity.value !== null) return null;
  activity.value = what;
  clearProblem(place);
  try {
    return await work(await models());
  } catch (error) {
    showProblem(place, error);
    if (what === 'load' || what === 'adapter') await lookWhatIsLoaded();
    return null;
  } finally {
    activity.value = null;
    progress.value = null;
    asking.value = '';
  }
}

/** After a failure: what was loaded before may have made room already. */
async function lookWhatIsLoaded(): Promise<void> {
  try {
    loaded.value = await (await models()).loaded();
  } catch {
    loaded.value = null;
  }
}
