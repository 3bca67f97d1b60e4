/**
 * @file The page's side of the worker: commands out, events in, everything kept in signals.
 *
 * The worker is fetched only when it is first needed, so the page itself stays small. Progress may come many times a
 * second; it reaches the page at most ten times.
 */
import { computed, signal } from '@preact/signals';
import { proxy, type Remote } from 'comlink';
import { asDreamError } from '../../data/errors';
import type { Progress, RunConfig, RunEvent, RunPhase, RunStatus, TrainerApi, TypedError } from '../../worker/protocol';
import { workerCrash } from '../messages/texts';
import { announce, dismissErrors, showError, showNotice } from './messages';
import { machine } from './preflight';
import { emptyView, mergeEvaluations, recorded, shown, view, viewOfRecord, viewOfStatus, withIteration } from './view';

export const idleProgress: Progress = {
  phase: 'idle',
  iteration: 0,
  iterations: 0,
  fraction: 0,
  secondsLeft: null,
  detail: '',
};
export const progress = signal<Progress>(idleProgress);
/** A command is on its way to the worker. */
export const busy = signal(false);
export const lastRun = signal<Awaited<ReturnType<TrainerApi['lastRun']>>>(null);

const resting: ReadonlySet<RunPhase> = new Set(['idle', 'paused', 'stopped', 'finished', 'failed']);
export const running = computed(() => !resting.has(progress.value.phase));
export const paused = computed(() => progress.value.phase === 'paused');
/** There is a run in the worker that can go on. */
export const active = computed(() => running.value || paused.value);

let connection: Promise<Remote<TrainerApi>> | null = null;
const progressEveryMs = 100;
let pendingProgress: Progress | null = null;
let progressTimer: ReturnType<typeof setTimeout> | undefined;

/** The worker, started on first use. A failed start may be tried again. */
export function trainer(): Promise<Remote<TrainerApi>> {
  connection ??= connect().catch((error: unknown) => {
    connection = null;
    throw error;
  });
  return connection;
}

async function connect(): Promise<Remote<TrainerApi>> {
  const { connectTrainer } = await import('../../worker/client');
  const remote = connectTrainer();
  await remote.subscribe(proxy(receive));
  return remote;
}

/** Handles one event. Exported because it is the whole of the page's live behaviour, and so can be tested alone. */
export function receive(event: RunEvent): void {
  switch (event.type) {
    case 'progress':
      receiveProgress(event.progress);
      break;
    case 'iteration':
      view.value = withIteration(liveView(), event.metrics, event.rollouts);
      announce(sentenceOf(event.metrics.iteration));
      break;
    case 'evaluation': {
      const run = liveView();
      view.value = { ...run, evaluations: mergeEvaluations([...run.evaluations, event.evaluation], run.metrics) };
      break;
    }
    case 'adapter':
      machine.value = { state: 'ready', adapter: event.adapter, software: event.software };
      if (view.value.kind === 'live') view.value = { ...view.value, adapter: event.adapter };
      break;
    case 'notice':
      showNotice(event.level, event.message);
      break;
    case 'error':
      showError(event.error);
  }
}

function liveView() {
  return view.value.kind === 'live' ? view.value : { ...emptyView, kind: 'live' as const };
}

function receiveProgress(next: Progress): void {
  const changed = next.phase !== progress.value.phase;
  pendingProgress = next;
  if (changed || progressTimer === undefined) flushProgress();
  if (changed) announce(phaseSentence(next));
}

function flushProgress(): void {
  clearTimeout(progressTimer);
  progressTimer = undefined;
  if (!pendingProgress) return;
  progress.value = pendingProgress;
  pendingProgress = null;
  progressTimer = setTimeout(() => {
    progressTimer = undefined;
    flushProgress();
  }, progressEveryMs);
}

export const phaseWords: Record<RunPhase, string> = {
  idle: 'Ready',
  loading: 'Loading the model',
  'self-test': 'Testing the graphics processor',
  evaluating: 'Checking in the real world',
  'rolling-out': 'Practising',
  learning: 'Learning',
  saving: 'Saving',
  paused: 'Paused',
  stopped: 'Stopped',
  finished: 'Finished',
  failed: 'Stopped by an error',
};

function phaseSentence({ phase, iteration, iterations }: Progress): string {
  return iterations > 0 ? `${phaseWords[phase]}, iteration ${iteration} of ${iterations}.` : `${phaseWords[phase]}.`;
}

function sentenceOf(iteration: number): string {
  const evaluation = view.value.evaluations.at(-1);
  const real = evaluation ? ` Real success ${Math.round(evaluation.atRolloutTemperature.rate * 100)} percent.` : '';
  return `Iteration ${iteration} finished.${real}`;
}

/** Errors cross the worker boundary as plain errors; `code` and `advice` are kept when they were sent along. */
function typed(error: unknown): TypedError {
  const source = error as Partial<TypedError> | null;
  if (typeof source?.code === 'string' && typeof source.message === 'string')
    return { code: source.code, message: source.message, advice: String(source.advice ?? '') };
  const { code, message, advice } = asDreamError(error);
  return { code, message, advice };
}

/** Runs one command; its failure becomes a card (once: the worker may have sent the same error as an event) and is rethrown. */
async function command<T>(work: (remote: Remote<TrainerApi>) => Promise<T>): Promise<T> {
  busy.value = true;
  try {
    return await work(await trainer());
  } catch (error) {
    showError(typed(error));
    throw error;
  } finally {
    busy.value = false;
  }
}

function showLive(config: RunConfig): void {
  dismissErrors();
  lastRun.value = null;
  shown.value = Number.POSITIVE_INFINITY;
  view.value = { ...emptyView, kind: 'live', config, adapter: machine.value.adapter };
}

export async function start(config: RunConfig): Promise<void> {
  showLive(config);
  await command((remote) => remote.start(config));
}

export async function pause(): Promise<void> {
  await command((remote) => remote.pause());
}

/** Goes on with the paused run, or with the last unfinished one after a reload. */
export async function resume(): Promise<void> {
  const last = lastRun.value;
  if (last) showLive(last.config);
  await command((remote) => remote.resume());
  lastRun.value = null;
  await refresh();
}

export async function step(config: RunConfig): Promise<void> {
  if (!active.value) showLive(config);
  await command((remote) => remote.step());
}

export async function stop(): Promise<void> {
  await command((remote) => remote.stop());
}

/** Forgets the run and shows the recorded one again. */
export async function reset(): Promise<void> {
  await command((remote) => remote.reset());
  dismissErrors();
  lastRun.value = null;
  progress.value = idleProgress;
  view.value = recorded.value ?? emptyView;
}

export async function exportRun(): Promise<Uint8Array> {
  return command((remote) => remote.exportRun());
}

export async function importRun(bytes: Uint8Array): Promise<void> {
  const record = await command((remote) => remote.importRun(bytes));
  shown.value = Number.POSITIVE_INFINITY;
  view.value = viewOfRecord(record, 'imported');
}

/** Takes over what the worker knows, e.g. after a resume. */
export async function refresh(): Promise<void> {
  const remote = await trainer();
  const status: RunStatus = await remote.status();
  progress.value = status.progress;
  if (status.runId) view.value = viewOfStatus(status, view.value);
  if (status.error) showError(status.error);
}

/** Asks for an unfinished run of an earlier visit; a machine that cannot train is not asked. */
export async function lookForLastRun(): Promise<void> {
  try {
    const remote = await trainer();
    lastRun.value = await remote.lastRun();
  } catch (error) {
    showError(error instanceof Error ? typed(error) : workerCrash);
  }
}
