/** @file Training the loaded model: what can be set, and what the buttons do. */
import { signal } from '@preact/signals';
import { transfer } from 'comlink';
import { presets } from '../../dream/presets';
import { defaultTextSettings, type TextSettings } from '../../dream/text-household';
import type { DreamChoice, ExperienceTarget, RecallChoice, TrainingRequest } from '../../worker/models/protocol';
import type { RunConfig, TrainerApi } from '../../worker/protocol';
import { save } from '../state/files';
import { clearProblem, models, showProblem } from './connection';
import { chosenTarget, lend, target } from './experiencing';
import { forgetRun, takeStatus, training } from './training-state';

/** A first look at a real model: minutes to an hour, not a night. */
export const settings = signal<RunConfig>({
  ...presets['household-quick'],
  iterations: 5,
  tasksPerIteration: 4,
  groupSize: 6,
  maxSteps: 8,
  evalEvery: 5,
  evalTasks: 20,
});
export const text = signal<TextSettings>({ ...defaultTextSettings, warmStart: 20, thoughtTokens: 12, expertSteps: 6 });
export const rank = signal(8);
export const alpha = signal(16);
export const recall = signal<RecallChoice['kind']>('words');
export const encoderId = signal('Xenova/all-MiniLM-L6-v2');
/** A command is on its way to the worker. */
export const sending = signal(false);
export const lastTraining = signal<Awaited<ReturnType<TrainerApi['lastRun']>>>(null);

/** A lent model is lent as long as its run goes: a paused run may still hold what it was lent first. */
let lendings: (() => void)[] = [];

function takeBack(): void {
  for (const end of lendings) end();
  lendings = [];
}

async function dreamChoice(): Promise<DreamChoice> {
  if (!training.value) takeBack();
  const kind = recall.value;
  const chosen: RecallChoice = kind === 'encoder' ? { kind, id: encoderId.value.trim() } : { kind };
  let dream: ExperienceTarget = chosenTarget();
  if (target.value === 'built-in') {
    const lent = await lend();
    lendings.push(lent.takeBack);
    dream = lent.target;
  }
  return { dream, recall: chosen };
}

async function request(): Promise<TrainingRequest> {
  const choice = await dreamChoice();
  // What is transferred is looked for at the top of the message only.
  const message = { ...choice, settings: settings.value, text: text.value, rank: rank.value, alpha: alpha.value };
  return choice.dream.kind === 'built-in' ? transfer(message, [choice.dream.port]) : message;
}

async function command(work: (remote: Awaited<ReturnType<typeof models>>) => Promise<void>): Promise<void> {
  if (sending.value) return;
  sending.value = true;
  clearProblem('train');
  try {
    await work(await models());
  } catch (error) {
    showProblem('train', error);
  } finally {
    sending.value = false;
    await lookForLastTraining();
  }
}

export const start = () =>
  command(async (remote) => {
    forgetRun();
    await remote.startTraining(await request());
  });

/** A run that is under way keeps the dream it has; one that an error has ended gets the one that is chosen now. */
export const step = () =>
  command(async (remote) => {
    if (!training.value) forgetRun();
    await remote.stepTraining(await request());
  });

export const pause = () => command((remote) => remote.pauseTraining());

export const resume = () =>
  command(async (remote) => {
    const choice = await dreamChoice();
    await remote.resumeTraining(
      choice.dream.kind === 'built-in' ? transfer({ ...choice }, [choice.dream.port]) : choice,
    );
    takeStatus(await remote.training());
  });

export const stop = () => command((remote) => remote.stopTraining());

export async function exportRun(): Promise<void> {
  await command(async (remote) => {
    save('dreamgym-model-run.zip', (await remote.exportTraining()) as Uint8Array<ArrayBuffer>, 'application/zip');
  });
}

/** An unfinished run of an earlier visit. */
export async function lookForLastTraining(): Promise<void> {
  try {
    lastTraining.value = training.value ? null : await (await models()).lastTraining();
  } catch {
    lastTraining.value = null;
  }
}
