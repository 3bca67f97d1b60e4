/** @file `dream experience`: what N offline transitions make of an experience model: the data-efficiency curve. */
import { mkdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DreamError } from '../../data/errors';
import { type EfficiencyPoint, efficiencyPoint } from '../../dream/data-efficiency';
import { householdTinyConfig, householdTinyRecipe } from '../../dream/pretraining';
import { openGpu } from '../../gpu/device';
import { assertDevicePasses, runSelfTest } from '../../gpu/self-test';
import { householdTokenizer } from '../../models/household-vocabulary';
import { DecoderModel } from '../../nn/decoder-model';
import { initialise } from '../../nn/initialise';
import { PolicyLoss } from '../../rl/kernels/policy-loss';
import type { CommandIo } from '../command';
import { nodeGpu } from '../node-gpu';
import { describeOptions, type OptionSpecs, parseOptions, UsageError } from '../options';
import { replaceFile } from '../replace-file';

const options = {
  transitions: {
    type: 'string',
    value: 'N,...',
    default: '5000',
    help: 'offline transitions, one model for each number',
  },
  updates: { type: 'integer', default: 150, min: 1, max: 20_000, help: 'the same for every number' },
  tokens: { type: 'integer', default: 3072, min: 64, max: 65_536, help: 'of an update' },
  rate: { type: 'number', default: householdTinyRecipe.learningRate, min: 0, max: 0.01, help: 'learning rate' },
  seed: { type: 'integer', default: 1, min: 0, max: 0xffff_ffff, help: 'of weights, episodes and their order' },
  cases: { type: 'integer', default: 600, min: 10, max: 10_000, help: 'questions in rooms never seen' },
  out: { type: 'string', value: 'FILE', help: 'keep the result here; numbers it has already are not trained again' },
} as const satisfies OptionSpecs;

export const help = `Usage: dream experience --transitions 500,2000,5000,20000 [options]

Trains the embedded shape from random weights on so many offline transitions and asks it about unseen rooms.

${describeOptions(options)}
  --json             {"adapter","updates",...,"points":[{"transitions","observationExact","deterministicExact",
                     "rewardAccuracy","falseSuccesses","trueSuccesses","loss","fidelity","seconds",...}]}`;

interface Curve {
  command: string;
  adapter: string;
  date: string;
  updates: number;
  tokensPerUpdate: number;
  learningRate: number;
  seed: number;
  cases: number;
  points: (EfficiencyPoint & { asked: number })[];
}

export async function run(args: string[], io: CommandIo): Promise<void> {
  const values = parseOptions(args, options);
  const asked = numbersOf(values.transitions);
  const gpu = await openGpu(await nodeGpu());
  assertDevicePasses(await runSelfTest(gpu));
  const settings = {
    updates: values.updates,
    tokensPerUpdate: values.tokens,
    learningRate: values.rate,
    seed: values.seed,
    cases: values.cases,
  };
  const path = values.out === undefined ? null : io.resolve(values.out);
  const curve: Curve = {
    command: `dream experience --transitions ${asked.join(',')} --updates ${values.updates} --tokens ${values.tokens} --rate ${values.rate} --seed ${values.seed} --cases ${values.cases}`,
    adapter: gpu.adapterName,
    date: new Date().toISOString().slice(0, 10),
    ...settings,
    points: path === null ? [] : await keptPoints(path, { adapter: gpu.adapterName, ...settings }),
  };
  const tokenizer = householdTokenizer(householdTinyRecipe.size);
  for (const transitions of asked) {
    if (curve.points.some((point) => point.asked === transitions)) continue;
    const model = await new DecoderModel(gpu, householdTinyConfig(tokenizer.vocabSize), new PolicyLoss(gpu), {
      embeddingParts: tokenizer.embeddingParts(),
    }).prepare();
    const bar = io.progress(`${transitions} transitions`);
    try {
      initialise(model, values.seed);
      const point = await efficiencyPoint(model, { ...settings, transitions }, (fraction, detail) => {
        io.signal.throwIfAborted();
        bar.update(fraction, detail);
      });
      curve.points.push({ asked: transitions, ...point });
    } finally {
      bar.clear();
      model.dispose();
    }
    curve.points.sort((a, b) => a.asked - b.asked);
    if (path !== null) await keep(path, curve);
  }
  for (const point of curve.points) io.print(line(point));
  io.result(curve);
}

function numbersOf(text: string): number[] {
  const numbers = text.split(',').map((word) => Number(word.trim()));
  if (numbers.every((n) => Number.isSafeInteger(n) && n >= 50 && n <= 200_000)) return [...new Set(numbers)];
  throw new UsageError(
    'bad-value',
    `--transitions cannot be "${text}".`,
    'Give whole numbers from 50 to 200000, separated by commas.',
  );
}

function line(point: EfficiencyPoint): string {
  const percent = (x: number) => `${(100 * x).toFixed(1)} %`.padStart(7);
  return `${String(point.transitions).padStart(6)} transitions: observation ${percent(point.observationExact)}, where decided ${percent(point.deterministicExact)}, reward ${percent(point.rewardAccuracy)}, false successes ${percent(point.falseSuccesses)}, true ${percent(point.trueSuccesses)}`;
}

/** What an earlier call with the same settings found. Throws `other-settings` rather than mix two curves in one file. */
async function keptPoints(path: string, wanted: Partial<Curve>): Promise<Curve['points']> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch {
    return [];
  }
  let kept: Partial<Curve> | null = null;
  try {
    kept = JSON.parse(text) as Partial<Curve>;
  } catch {
    // Said below.
  }
  const same = Object.entries(wanted).every(([key, value]) => kept?.[key as keyof Curve] === value);
  if (same && Array.isArray(kept?.points)) return kept.points;
  throw new DreamError(
    'other-settings',
    `${path} holds something else than this curve: other settings, another device or another kind of file.`,
    'Name another file with --out, or remove this one.',
  );
}

async function keep(path: string, curve: Curve): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await replaceFile(path, `${JSON.stringify(curve, null, 1)}\n`);
}
