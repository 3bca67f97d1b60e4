/** @file `dream eval`: real success of the warm start, or of a trained run, on the fixed held-out tasks. */

import { DreamError } from '../../data/errors';
import { evaluate } from '../../dream/evaluation';
import { householdDomain } from '../../dream/household';
import type { LoopParts } from '../../dream/loop';
import { numberRanges, presets } from '../../dream/presets';
import { RunState } from '../../dream/run-state';
import { defaultTextSettings, formerTextSettings } from '../../dream/text-household';
import { weightsHash } from '../../dream/weights-hash';
import type { Gpu } from '../../gpu/device';
import type { CommandIo } from '../command';
import { FileRunStore } from '../file-run-store';
import { openHouseholdEngine } from '../household-engine';
import { openModelEngine } from '../model-engine';
import { describeOptions, type OptionSpecs, parseOptions } from '../options';
import { givenModel, modelOptions } from '../run-options';

const defaults = presets['household-tiny'];
const { seed, evalTasks, maxSteps, temperature } = numberRanges;
const { model, ...adapter } = modelOptions;
const options = {
  model: { ...model, help: 'evaluate this model: a .gguf, or a folder with config.json and weights' },
  ...adapter,
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
} as const satisfies OptionSpecs;

export const help = `Usage: dream eval [options]

Success in the real world on tasks nobody trained on, each rate with its 95 % interval (Wilson).

${describeOptions(options)}
  --json             {"adapter","policy","iteration","realSuccess":{"rate","low","high","episodes","lowTemperature"},
                     "realSteps","weightsHash","seconds"} and with --model {"model":{"label","sha256",...}}`;

export async function run(args: string[], io: CommandIo): Promise<void> {
  const start = performance.now();
  const values = parseOptions(args, options);
  const { path, choice, text } = givenModel(values);
  const stored = values.run === undefined ? null : await new FileRunStore(io.resolve(values.run)).load();
  if (values.run !== undefined && !stored)
    throw new DreamError('no-run', `There is no run in ${values.run}.`, 'Name a folder that `dream train` wrote.');
  const engine: { gpu: Gpu; parts: Parts } =
    path === undefined
      ? await openEmbedded(io.root)
      : await openModelEngine(io, path, { ...stored?.model, ...choice }, values.seed, {
          ...(stored ? (stored.model?.text ?? formerTextSettings) : defaultTextSettings),
          ...text,
        });
  const { gpu, parts } = engine;
  const { policy, domain, parallel } = parts;
  if (stored) await RunState.restore(stored, policy, {}, parts.model);
  const bar = io.progress('evaluating');
  const report = await evaluate({
    policy,
    domain,
    parallel,
    tasks: values.tasks,
    rolloutTemperature: values.temperature,
    maxSteps: values['max-steps'],
    seed: values.seed,
    onTurn: (fraction) => bar.update(fraction),
  });
  bar.clear();
  const { atRolloutTemperature: high, atLowTemperature: low } = report;
  for (const [label, { rate, low: from, high: to, episodes }] of [
    [`temperature ${values.temperature}`, high],
    ['temperature 0.4', low],
  ] as const) {
    const percent = (x: number) => `${(100 * x).toFixed(1)} %`;
    io.print(`${label}: ${percent(rate)} [${percent(from)}, ${percent(to)}] of ${episodes} tasks`);
  }
  io.result({
    adapter: gpu.adapterName,
    policy: values.run ?? 'warm start',
    ...(parts.model ? { model: parts.model } : {}),
    iteration: stored?.iteration ?? 0,
    realSuccess: { ...high, lowTemperature: low },
    realSteps: report.realSteps,
    weightsHash: await weightsHash((await policy.exportState(false)).weights),
    seconds: (performance.now() - start) / 1000,
  });
}

type Parts = Pick<LoopParts, 'policy' | 'domain' | 'parallel' | 'model'>;

async function openEmbedded(root: string): Promise<{ gpu: Gpu; parts: Parts }> {
  const { gpu, policy, tokenizer } = await openHouseholdEngine(root);
  return { gpu, parts: { policy, domain: householdDomain(tokenizer) } };
}
