/** @file `dream eval`: real success of the warm start, or of a trained run, on the fixed held-out tasks. */

import { DreamError } from '../../data/errors';
import { evaluate } from '../../dream/evaluation';
import { householdDomain } from '../../dream/household';
import type { LoopParts } from '../../dream/loop-parts';
import { numberRanges, presets } from '../../dream/presets';
import { ReplayBuffer } from '../../dream/replay-buffer';
import { RunState } from '../../dream/run-state';
import { defaultTextSettings, formerTextSettings } from '../../dream/text-household';
import { type ExperienceEnvironment, engineDreams } from '../../dream/text-models';
import { weightsHash } from '../../dream/weights-hash';
import type { Gpu } from '../../gpu/device';
import { type LoraAdapter, loraSettings, readPeft } from '../../models/adapters';
import type { LanguageModel } from '../../nn/language-model';
import { gpuTopK } from '../../rl/kernels/topk';
import type { CommandIo } from '../command';
import { FileRunStore } from '../file-run-store';
import { openHouseholdEngine } from '../household-engine';
import { openModelEngine } from '../model-engine';
import { readFolder } from '../open-model';
import { describeOptions, type OptionSpecs, parseOptions, UsageError } from '../options';
import { mayPlan, planned, planOptions } from '../planned-eval';
import { leaveWorld } from '../remote-world';
import { worldOnCard } from '../run-adapter';
import { givenModel, modelOptions, needsModel } from '../run-options';
import { household, openSpokenWorld, worldOptions } from '../spoken-world';

const defaults = presets['household-tiny'];
const { seed, evalTasks, maxSteps, temperature } = numberRanges;
const { model, ...adapterSettings } = modelOptions;
const options = {
  ...worldOptions,
  model: { ...model, help: 'evaluate this model: a .gguf, or a folder with config.json and weights' },
  ...adapterSettings,
  adapter: { type: 'string', value: 'DIR', help: 'evaluate this adapter of the model: a PEFT folder (--model)' },
  run: { type: 'string', value: 'DIR', help: 'evaluate the policy of this run instead of the warm start' },
  tasks: {
    type: 'integer',
    help: 'held-out tasks',
    default: defaults.evalTasks,
    min: evalTasks.min,
    max: evalTasks.max,
  },
  seed: { type: 'integer', help: 'of the sampling', default: defaults.seed, min: seed.min, max: seed.max },
  'max-steps': {
    type: 'integer',
    help: 'turns until an episode is cut off',
    default: defaults.maxSteps,
    min: maxSteps.min,
    max: maxSteps.max,
  },
  temperature: {
    type: 'number',
    help: 'the first of the two; the other is 0.4',
    default: defaults.temperature,
    min: temperature.min,
    max: temperature.max,
  },
  ...planOptions,
} as const satisfies OptionSpecs;

export const help = `Usage: dream eval [options]

Success in the real world on tasks nobody trained on, each rate with its 95 % interval (Wilson).
With --env, a policy that was trained in one world is examined in another: transfer. A world that exists in dreams alone
is examined in its dream, which the result says.

${describeOptions(options)}
  --json             {"env","trainedOn","examinedIn","adapter","policy","iteration","realSuccess":{"rate","low","high","episodes","lowTemperature"},
                     "realSteps","weightsHash","seconds"} and with --model {"model":{"label","sha256",...}};
                     with --plan also {"planned":{"candidates","lookahead","rate":{...},"changed","realSteps",
                     "imaginedSteps","outcomes"}}`;

export async function run(args: string[], io: CommandIo): Promise<void> {
  const start = performance.now();
  const values = parseOptions(args, options);
  const { path, choice, text } = givenModel(values);
  const stored = values.run === undefined ? null : await new FileRunStore(io.resolve(values.run)).load();
  if (values.run !== undefined && !stored)
    throw new DreamError('no-run', `There is no run in ${values.run}.`, 'Name a folder that `dream train` wrote.');
  if (values.adapter !== undefined && path === undefined) throw needsModel('adapter');
  if (values.adapter !== undefined && stored)
    throw new UsageError('bad-option', '--run and --adapter are two policies.', 'Give one of them.');
  const trainedWorld = stored ? (stored.model?.world ?? household) : undefined;
  const world = await openSpokenWorld(io, values.env ?? trainedWorld, path, values);
  const adapter = values.adapter === undefined ? null : await readAdapter(io, values.adapter);
  const engine: { gpu: Gpu; parts: Parts; importAdapter?(weights: LoraAdapter): Promise<void> } =
    path === undefined
      ? await openEmbedded(io.root)
      : await openModelEngine(
          io,
          path,
          { ...stored?.model, ...(adapter ? loraSettings(adapter.weights) : {}), ...choice },
          values.seed,
          { ...(stored ? (stored.model?.text ?? formerTextSettings) : defaultTextSettings), ...text },
          world,
        );
  const { gpu, parts } = engine;
  const { policy, domain, parallel } = parts;
  mayPlan(values, domain);
  const state = stored ? await RunState.restore(stored, policy, {}, parts.model) : null;
  if (adapter) await engine.importAdapter?.(adapter.weights);
  const dream = domain.dreamedOnly ? dreamFor(gpu, parts) : undefined;
  const bar = io.progress('evaluating');
  const report = await evaluate({
    policy,
    domain,
    environment: dream,
    parallel,
    tasks: values.tasks,
    rolloutTemperature: values.temperature,
    maxSteps: values['max-steps'],
    seed: values.seed,
    onTurn: (fraction) => bar.update(fraction),
  });
  bar.clear();
  dream?.dispose();
  const { atRolloutTemperature: high, atLowTemperature: low } = report;
  for (const [label, { rate, low: from, high: to, episodes }] of [
    [`temperature ${values.temperature}`, high],
    ['temperature 0.4', low],
  ] as const) {
    const percent = (x: number) => `${(100 * x).toFixed(1)} %`;
    io.print(`${label}: ${percent(rate)} [${percent(from)}, ${percent(to)}] of ${episodes} tasks`);
  }
  const run = { config: state?.config ?? defaults, buffer: state?.buffer ?? null };
  const plan = await planned(io, gpu, { ...parts, experience: parts.experience ?? policy }, values, run);
  await leaveWorld(world);
  const success = { ...high, lowTemperature: low };
  io.result({
    env: world?.name ?? household,
    // An untrained model was trained nowhere; the embedded one comes from the household.
    trainedOn: trainedWorld ?? (adapter ? adapter.world : path === undefined ? household : null),
    examinedIn: dream ? 'dream' : 'real world',
    adapter: gpu.adapterName,
    policy: values.run ?? values.adapter ?? 'warm start',
    ...(parts.model ? { model: parts.model } : {}),
    iteration: stored?.iteration ?? 0,
    ...(dream ? { realSuccess: null, dreamedSuccess: success } : { realSuccess: success }),
    ...(plan ? { planned: plan } : {}),
    realSteps: report.realSteps + (plan?.realSteps ?? 0),
    weightsHash: await weightsHash((await policy.exportState(false)).weights),
    seconds: (performance.now() - start) / 1000,
  });
}

type Parts = Pick<LoopParts, 'policy' | 'domain' | 'parallel' | 'model'> & { experience?: LanguageModel };

/** The weights, checked when they are put in, and the world that their card names. */
async function readAdapter(io: CommandIo, path: string): Promise<{ weights: LoraAdapter; world: string | null }> {
  const files = await readFolder(io, path);
  const card = files.get('README.md');
  return { weights: readPeft(files), world: card ? worldOnCard(new TextDecoder().decode(card)) : null };
}

/** The examination of a world that has no truth: what a new run of it would dream. */
function dreamFor(gpu: Gpu, { experience, policy, domain }: Parts): ExperienceEnvironment {
  const { bufferCapacity, retrievalTopK, experienceTemperature, goalCheck, stepCheck } = defaults;
  const buffer = new ReplayBuffer(bufferCapacity);
  buffer.add(domain.offlineTransitions(bufferCapacity));
  const needs = { buffer, topK: gpuTopK(gpu), retrievalTopK, temperature: experienceTemperature, goalCheck, stepCheck };
  return engineDreams(experience ?? policy, domain)(needs);
}

async function openEmbedded(root: string): Promise<{ gpu: Gpu; parts: Parts }> {
  const { gpu, policy, experience, tokenizer } = await openHouseholdEngine(root);
  return { gpu, parts: { policy, experience, domain: householdDomain(tokenizer) } };
}
