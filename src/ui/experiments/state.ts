/** @file The experiments panel's state: which experiment, what is done of it, what is going on. */
import { signal } from '@preact/signals';
import { proxy, type Remote } from 'comlink';
import paperTable from '../../../bench/experiments/paper-table.json?raw';
import { asDreamError, DreamError } from '../../data/errors';
import { type Row, resultsCsv } from '../../dream/experiment/results';
import type { WorkerConnection } from '../../worker/client';
import { connectExperiments } from '../../worker/experiments/client';
import type { ExperimentEvent, ExperimentSummary, ExperimentsApi } from '../../worker/experiments/protocol';
import type { TypedError } from '../../worker/protocol';
import { save } from '../state/files';
import { announce } from '../state/messages';

type ExperimentsRemote = Remote<ExperimentsApi> & WorkerConnection;

export const builtIn: unknown = JSON.parse(paperTable);

export const definition = signal<unknown>(builtIn);
export const fileName = signal<string | null>(null);
export const quick = signal(true);
export const summary = signal<ExperimentSummary | null>(null);
export const rows = signal<readonly Row[]>([]);
export const finishedRuns = signal(0);
export const allRuns = signal(0);
export const running = signal(false);
export const stopping = signal(false);
export const progress = signal<Extract<ExperimentEvent, { type: 'progress' }> | null>(null);
export const problem = signal<TypedError | null>(null);

let connection: Promise<ExperimentsRemote> | null = null;
let connector: () => ExperimentsRemote = connectExperiments;

/** Tests put a worker of their own here. */
export function connectBy(connect: () => ExperimentsRemote): void {
  connector = connect;
  connection = null;
}

function worker(): Promise<ExperimentsRemote> {
  connection ??= (async () => {
    const remote = connector();
    void remote.crashed.then((error) => {
      remote.terminate();
      connection = null;
      ended();
      fail(error);
    });
    await remote.subscribe(proxy(receive));
    return remote;
  })().catch((error: unknown) => {
    connection = null;
    throw error;
  });
  return connection;
}

export function receive(event: ExperimentEvent): void {
  switch (event.type) {
    case 'progress':
      progress.value = event;
      break;
    case 'results':
      if (event.finished > finishedRuns.value && running.value)
        announce(`${event.finished} of ${event.runs} runs are finished.`);
      rows.value = event.rows;
      finishedRuns.value = event.finished;
      allRuns.value = event.runs;
      break;
    case 'ended':
      ended();
      announce(event.how === 'finished' ? 'The experiment is finished.' : 'The experiment was stopped.');
      break;
    case 'error':
      ended();
      problem.value = event.error;
  }
}

function ended(): void {
  running.value = false;
  stopping.value = false;
  progress.value = null;
}

function fail(thrown: unknown): void {
  const { code, message, advice } = asDreamError(thrown);
  problem.value = { code, message, advice };
}

async function attempt(work: (remote: ExperimentsRemote) => Promise<void>): Promise<void> {
  problem.value = null;
  try {
    await work(await worker());
  } catch (error) {
    fail(error);
  }
}

/** Reads the chosen definition again and what is done of it. */
export const look = (): Promise<void> =>
  attempt(async (remote) => {
    const found = await remote.describe(definition.value, quick.value);
    summary.value = found;
    finishedRuns.value = found.finished;
    allRuns.value = found.runs;
    rows.value = (await remote.results(definition.value, quick.value)).rows;
  });

export const start = (): Promise<void> =>
  attempt(async (remote) => {
    await remote.start(definition.value, quick.value);
    running.value = true;
  });

export const stop = (): Promise<void> =>
  attempt(async (remote) => {
    stopping.value = true;
    await remote.stop();
  });

export const forget = (): Promise<void> =>
  attempt(async (remote) => {
    await remote.forget(definition.value, quick.value);
    await look();
  });

const maxFileBytes = 4 * 1024 * 1024;

/** A definition of the reader's own; the former one stays when it cannot be read. */
export async function openFile(file: File): Promise<void> {
  const before = { definition: definition.value, name: fileName.value };
  try {
    if (file.size > maxFileBytes)
      throw new DreamError('bad-experiment', `${file.name} is too large for an experiment.`, 'Choose another file.');
    definition.value = JSON.parse(await file.text()) as unknown;
    fileName.value = file.name;
    quick.value = false;
    summary.value = null;
  } catch (error) {
    fail(
      error instanceof DreamError
        ? error
        : new DreamError('bad-experiment', `${file.name} is not JSON.`, 'Choose an experiment file (JSON).'),
    );
    return;
  }
  await look();
  if (!problem.value) return;
  definition.value = before.definition;
  fileName.value = before.name;
}

export const saveResults = (kind: 'json' | 'csv'): Promise<void> =>
  attempt(async (remote) => {
    const found = await remote.results(definition.value, quick.value);
    const name = `${summary.value?.name ?? 'experiment'}.${kind}`;
    if (kind === 'csv') save(name, resultsCsv(found.results), 'text/csv');
    else save(name, JSON.stringify({ name: summary.value?.name, rows: found.rows }, null, 1), 'application/json');
  });
