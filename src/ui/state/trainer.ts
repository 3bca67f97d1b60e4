/**
 * @file The page's side of the worker: commands out, events in, everything kept in signals.
 *
 * The worker is fetched only when it is first needed, so the page itself stays small. Progress may come many times a
 * second; it reaches the page at most ten times.
 */

import { computed, signal } from '@preact/signals';
import { proxy, type Remote } from 'comlink';
import { asDreamError } from '../../data/errors';
import { readRunRecord } from '../../data/importers/run-record';
import { checkConfig } from '../../dream/presets';
import { askToPersist } from '../../store/storage-usage';
import type {
  Progress,
  RunConfig,
  RunEvent,
  RunStatus,
  StorageReport,
  TrainerApi,
  TypedError,
} from '../../worker/protocol';
import { announce, dismiss, dismissErrors, showError, showNotice } from './messages';
import { machine } from './preflight';
import { idleProgress, phaseSentence, resting } from './progress';
import { emptyView, mergeEvaluations, recorded, shown, view, viewOfRecord, viewOfStatus, withIteration } from './view';

export const progress = signal<Progress>(idleProgress);
/** A command is on its way to the worker. */
export const busy = signal(false);
export const lastRun = signal<Awaited<ReturnType<TrainerApi['lastRun']>>>(null);

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
  void remote.crashed.then((error) => {
    // A new worker may be started; what it finds is the last finished iteration.
    connection = null;
    progress.value = { ...progress.value, phase: 'failed', detail: error.message };
    showError(error);
    void lookForLastRun();
  });
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
      // Some browsers ask the reader, hence only now that there is something to keep; a refusal changes nothing.
      if (event.metrics.iteration === 1) void askToPersist();
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

function sentenceOf(iteration: number): string {
  const evaluation = view.value.evaluations.at(-1);
  const real = evaluation ? ` Real success ${Math.round(evaluation.atRolloutTemperature.rate * 100)} percent.` : '';
  return `Iteration ${iteration} finished.${real}`;
}

function typed(error: unknown): TypedError {
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
  dismiss('no-recording');
  shown.value = Number.POSITIVE_INFINITY;
  view.value = { ...emptyView, kind: 'live', config, adapter: machine.value.adapter };
}

export async function start(config: RunConfig): Promise<void> {
  showLive(config);
  await command((remote) => remote.start(config));
  await refresh();
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
  if (last) await recallRollouts();
}

/** The worker's status holds numbers only; the rollouts of a run that was resumed come from what it has stored. */
async function recallRollouts(): Promise<void> {
  try {
    const remote = await trainer();
    const { record } = await readRunRecord(await remote.exportRun(), checkConfig);
    const run = view.value;
    if (run.runId !== record.runId) return;
    const stored = viewOfRecord(record, 'live');
    view.value = {
      ...run,
      created: stored.created,
      rollouts: new Map([...stored.rollouts, ...run.rollouts]),
      tasks: stored.tasks,
    };
  } catch {
    // Only the viewer is poorer; the run itself goes on.
  }
}

export async function step(config: RunConfig): Promise<void> {
  if (active.value) return command((remote) => remote.step());
  showLive(config);
  await command((remote) => remote.step(config));
  await refresh();
}

export async function stop(): Promise<void> {
  await command((remote) => remote.stop());
  // What was stopped before its end can go on: the banner says so.
  await lookForLastRun();
}

/** Forgets the run and shows the recorded one again. */
export async function reset(): Promise<void> {
  await command((remote) => remote.reset());
  forget();
}

function forget(): void {
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

/** What is kept in this browser. */
export async function storageReport(): Promise<StorageReport> {
  return (await trainer()).storage();
}

export async function deleteRun(runId: string): Promise<void> {
  await command((remote) => remote.deleteRun(runId));
  if (lastRun.value?.runId === runId) lastRun.value = null;
}

/** Stops the run under way and forgets all runs. */
export async function deleteEverything(): Promise<void> {
  await command((remote) => remote.deleteEverything());
  forget();
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
    showError(typed(error));
  }
}
