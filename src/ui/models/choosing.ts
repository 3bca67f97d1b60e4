/** @file Which model is looked at, what it would need, and its way onto the graphics processor. */
import { computed, signal } from '@preact/signals';
import type {
  KeptModel,
  ModelChoice,
  ModelFacts,
  PickedFile,
  PlanAnswer,
  PlanInputs,
} from '../../worker/models/protocol';
import { announce } from '../state/messages';
import { clearProblem, doing, loaded, models, progress, showProblem } from './connection';
import { defaultInputs, inputsFor, verdictWords } from './plan-inputs';

export const kind = signal<ModelChoice['kind']>('embedded');
export const hubId = signal('');
/** In memory only. */
export const hubToken = signal('');
export const inspecting = signal(false);
export const facts = signal<ModelFacts | null>(null);
export const inputs = signal<PlanInputs>(defaultInputs);
export const plan = signal<PlanAnswer | null>(null);
export const kept = signal<readonly KeptModel[]>([]);

/** Why the model cannot be loaded now, or null. */
export const loadBlocked = computed(() => {
  if (!facts.value) return 'Choose a model first.';
  if (!plan.value) return 'The memory plan is not ready yet.';
  if (!plan.value.device) return 'No graphics processor answered, so nothing can be loaded here.';
  if (plan.value.verdict === 'no') return 'It does not fit: change what the plan says, or raise the budget.';
  return null;
});

export function chooseKind(next: ModelChoice['kind']): void {
  kind.value = next;
  clearProblem('choose');
  if (next === 'embedded') void inspect({ kind: 'embedded' });
}

export function inspectFiles(files: readonly PickedFile[]): Promise<void> {
  kind.value = 'files';
  return inspect({ kind: 'files', files });
}

export function inspectHub(): Promise<void> {
  return inspect({ kind: 'hub', id: hubId.value.trim(), token: hubToken.value.trim() || undefined });
}

let asked = 0;

async function inspect(choice: ModelChoice): Promise<void> {
  const mine = ++asked;
  inspecting.value = true;
  facts.value = null;
  plan.value = null;
  clearProblem('choose');
  clearProblem('plan');
  try {
    const found = await (await models()).inspect(choice);
    if (mine !== asked) return;
    facts.value = found;
    inputs.value = inputsFor(found, inputs.value);
    announce(`${found.label}: ${found.architecture}, looked at.`);
    await replan();
  } catch (error) {
    if (mine === asked) showProblem('choose', error);
  } finally {
    if (mine === asked) inspecting.value = false;
  }
}

export function setInput<K extends keyof PlanInputs>(key: K, value: PlanInputs[K]): void {
  inputs.value = { ...inputs.value, [key]: value };
  void replan();
}

let planned = 0;

/** At once, whatever is going on; an answer to older inputs is dropped. */
async function replan(): Promise<void> {
  const mine = ++planned;
  try {
    const answer = await (await models()).plan(inputs.value);
    if (mine !== planned) return;
    if (answer.verdict !== plan.value?.verdict) announce(`Memory plan: ${verdictWords[answer.verdict]}.`);
    plan.value = answer;
    clearProblem('plan');
  } catch (error) {
    if (mine !== planned) return;
    plan.value = null;
    showProblem('plan', error);
  }
}

export async function load(): Promise<void> {
  if (loadBlocked.value) return;
  const result = await doing('load', 'load', (remote) => remote.load(inputs.value));
  if (!result) return;
  loaded.value = result;
  announce(`${result.label} is loaded.`);
  const { value } = facts;
  if (value?.download) {
    facts.value = { ...value, download: { ...value.download, fetchBytes: 0 } };
    await lookForKept();
  }
}

export async function unload(): Promise<void> {
  const done = await doing('unload', 'load', async (remote) => {
    await remote.unload();
    return true;
  });
  if (done) loaded.value = null;
}

export async function cancelLoad(): Promise<void> {
  await (await models()).cancelLoad();
}

export async function pauseOrResume(): Promise<void> {
  const remote = await models();
  await (progress.value?.paused ? remote.resumeDownload() : remote.pauseDownload());
}

export async function lookForKept(): Promise<void> {
  try {
    kept.value = await (await models()).kept();
  } catch {
    kept.value = [];
  }
}

export async function removeKept(repository: string): Promise<void> {
  const done = await doing('kept', 'kept', async (remote) => {
    await remote.removeKept(repository);
    return true;
  });
  if (!done) return;
  await lookForKept();
  if (facts.value?.download?.repository !== repository) return;
  // What was looked at is gone with its files.
  facts.value = null;
  plan.value = null;
}
