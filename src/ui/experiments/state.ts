/** @file The experiments panel's state: which experiment, what is done of it, what is going on. */
import { computed, signal } from '@preact/signals';
import { proxy, type Remote } from 'comlink';
import { asDreamError, DreamError } from '../../data/errors';
import { resultsMarkdown } from '../../dream/experiment/markdown';
import { type Row, resultsCsv } from '../../dream/experiment/results';
import type { WorkerConnection } from '../../worker/client';
import { connectExperiments } from '../../worker/experiments/client';
import type { ExperimentEvent, ExperimentSummary, ExperimentsApi } from '../../worker/experiments/protocol';
import type { TypedError } from '../../worker/protocol';
import { save } from '../state/files';
import { announce } from '../state/messages';
import { plural } from '../text/format';
import { type BuiltIn, builtIns } from './built-in';
import { type RecordedResults, recordedResults } from './recorded';

export type ExperimentsRemote = Remote<ExperimentsApi> & WorkerConnection;

/** One of the page's own, or a file of the reader's. */
export const chosen = signal<BuiltIn>(builtIns[0]);
export const ownFile = signal<BuiltIn | null>(null);
export const quick = signal(true);
export const summary = signal<ExperimentSummary | null>(null);
export const rows = signal<readonly Row[]>([]);
export const finishedRuns = signal(0);
export const allRuns = signal(0);
export const running = signal(false);
export const stopping = signal(false);
export const progress = signal<Extract<ExperimentEvent, { type: 'progress' }> | null>(null);
export const problem = signal<TypedError | null>(null);

/** Results that come with the page, and the version of the experiment that they are of. */
export interface Recorded extends RecordedResults {
  quick: boolean;
  summary: ExperimentSummary;
}
export const recorded = signal<Recorded | null>(null);

export type Source = 'here' | 'recorded';
/** What the reader asked to see; null: what there is. */
export const wanted = signal<Source | null>(null);
export const source = computed<Source>(() => {
  if (!recorded.value) return 'here';
  return wanted.value ?? (finishedRuns.value === 0 && !running.value ? 'recorded' : 'here');
});
/** What the tables show. */
export const shown = computed<{ summary: ExperimentSummary | null; rows: readonly Row[] }>(() =>
  source.value === 'recorded' && recorded.value
    ? { summary: recorded.value.summary, rows: recorded.value.rows }
    : { summary: summary.value, rows: rows.value },
);

/** Share of the whole experiment that is done, 0 to 1. */
export const share = computed(
  () => (finishedRuns.value + (progress.value?.fraction ?? 0)) / Math.max(1, allRuns.value),
);

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
        announce(`${event.finished} of ${plural(event.runs, 'run')} finished.`);
      rows.value = event.rows;
      finishedRuns.value = event.finished;
      allRuns.value = event.runs;
      // What was under way is among the finished now, or begins anew.
      progress.value = null;
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

/** False when it failed, and then the page says so. */
async function attempt(work: (remote: ExperimentsRemote) => Promise<void>): Promise<boolean> {
  problem.value = null;
  try {
    await work(await worker());
    return true;
  } catch (error) {
    fail(error);
    return false;
  }
}

async function readInto(remote: ExperimentsRemote, from: BuiltIn, fast: boolean): Promise<void> {
  const name = builtIns.includes(from) ? undefined : from.title;
  const found = await remote.describe(from.definition, fast, name);
  const known = await remote.results(from.definition, fast);
  const withPage = builtIns.includes(from) ? await recordedResults(from.id) : null;
  const ofQuick = withPage?.name.endsWith('-quick') ?? false;
  const recordedOf = withPage && (ofQuick === fast ? found : await remote.describe(from.definition, ofQuick));
  recorded.value = withPage && recordedOf && { ...withPage, quick: ofQuick, summary: recordedOf };
  if (chosen.value !== from) wanted.value = null;
  chosen.value = from;
  quick.value = fast;
  summary.value = found;
  finishedRuns.value = found.finished;
  allRuns.value = found.runs;
  rows.value = known.rows;
}

/** Reads the chosen definition again and what is done of it. */
export const look = (): Promise<boolean> => attempt((remote) => readInto(remote, chosen.value, quick.value));

/** Another of those known. The former one stays when this cannot be read. */
export const choose = (other: BuiltIn): Promise<boolean> =>
  attempt((remote) => readInto(remote, other, hasQuick(other.definition)));

export const chooseQuick = (fast: boolean): Promise<boolean> =>
  attempt((remote) => readInto(remote, chosen.value, fast));

export const start = async (): Promise<void> => {
  // Before the answer: the first events may overtake it.
  running.value = true;
  const begun = await attempt((remote) => remote.start(chosen.value.definition, quick.value));
  if (!begun) ended();
};

export const stop = async (): Promise<void> => {
  stopping.value = true;
  const stopped = await attempt((remote) => remote.stop());
  if (!stopped) stopping.value = false;
};

export const forget = (): Promise<boolean> =>
  attempt(async (remote) => {
    await remote.forget(chosen.value.definition, quick.value);
    await readInto(remote, chosen.value, quick.value);
  });

const maxFileBytes = 4 * 1024 * 1024;

/** A definition of the reader's own. The former one stays when it cannot be read. */
export async function openFile(file: File): Promise<void> {
  const given = await parsed(file).catch((error: unknown) => {
    fail(error);
    return null;
  });
  if (!given) return;
  const own: BuiltIn = { id: 'own', title: file.name, definition: given };
  if (await attempt((remote) => readInto(remote, own, false))) ownFile.value = own;
}

/** Throws `bad-experiment`. */
async function parsed(file: File): Promise<unknown> {
  const refuse = (why: string) =>
    new DreamError(
      'bad-experiment',
      `${file.name} ${why}.`,
      'An experiment file is JSON with "format": "dreamgym-experiment". Save the one chosen here to see how it is made.',
    );
  if (file.size > maxFileBytes) throw refuse('is too large to be an experiment file');
  let value: unknown;
  try {
    value = JSON.parse(await file.text());
  } catch {
    throw refuse('is not JSON');
  }
  if ((value as { format?: unknown } | null)?.format !== 'dreamgym-experiment')
    throw refuse('is not an experiment file');
  return value;
}

const hasQuick = (definition: unknown): boolean =>
  typeof definition === 'object' && definition !== null && Object.hasOwn(definition, 'quick');

/** Saves what the tables show. */
export function saveResults(kind: 'json' | 'csv' | 'md'): void {
  const { summary: of, rows: found } = shown.value;
  const name = `${of?.name ?? 'experiment'}-results.${kind}`;
  if (kind === 'csv') save(name, resultsCsv(found.flatMap((row) => row.seeds)), 'text/csv');
  else if (kind === 'md') save(name, resultsMarkdown(found, of?.baseline ?? undefined), 'text/markdown');
  else save(name, JSON.stringify({ name: of?.name, rows: found }, null, 1), 'application/json');
}

/** The definition as a file, to be changed and opened again. */
export function saveDefinition(): void {
  const { id, title, definition } = chosen.value;
  const name = id === 'own' ? title : `${id}.json`;
  save(name, `${JSON.stringify(definition, null, 2)}\n`, 'application/json');
}
