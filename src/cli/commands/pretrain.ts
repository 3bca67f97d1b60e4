/** @file `dream pretrain`: trains the embedded model from scratch, resumable, and writes it with its model card. */
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DreamError } from '../../data/errors';
import { evaluate } from '../../dream/evaluation';
import { householdDomain } from '../../dream/household';
import { type Fidelity, fidelityCases, measureFidelity, predictWith, type Share } from '../../dream/offline';
import { householdModelCard } from '../../dream/offline/model-card';
import {
  householdTinyConfig,
  householdTinyRecipe,
  PretrainingPlan,
  type PretrainingRecipe,
} from '../../dream/pretraining';
import { openGpu } from '../../gpu/device';
import { householdTokenizer } from '../../models/household-vocabulary';
import { toLlama } from '../../models/llama-names';
import { readSafetensors, writeSafetensors } from '../../models/safetensors';
import { configToJson, parameterCount } from '../../nn/config';
import { DecoderModel } from '../../nn/decoder-model';
import { initialise } from '../../nn/initialise';
import type { ModelState } from '../../nn/language-model';
import { PolicyLoss } from '../../rl/kernels/policy-loss';
import type { CommandIo } from '../command';
import { nodeGpu } from '../node-gpu';
import { describeOptions, parseOptions } from '../options';
import { replaceFile } from '../replace-file';

const specs = {
  out: { type: 'string', default: 'public/models/household-tiny', help: 'folder of the model, under the project' },
  seed: { type: 'integer', default: 1, min: 0, help: 'of the weights, the data and their order' },
  scale: { type: 'number', default: 1, min: 0.001, max: 10, help: 'share of the full amount of data' },
  checkpoint: { type: 'string', default: '.cache/pretrain', help: 'where to keep the state for --resume' },
  'checkpoint-every': { type: 'integer', default: 50, min: 1, help: 'steps between two checkpoints' },
  resume: { type: 'boolean', help: 'go on from the last checkpoint' },
} as const;

export const help = `dream pretrain: trains the embedded model from scratch\n\n${describeOptions(specs)}`;

export async function run(args: string[], io: CommandIo): Promise<void> {
  const options = parseOptions(args, specs);
  const scaled = (n: number): number => Math.max(8, Math.round(n * options.scale));
  const recipe: PretrainingRecipe = {
    ...householdTinyRecipe,
    seed: options.seed,
    experienceEpisodes: scaled(householdTinyRecipe.experienceEpisodes),
    policyEpisodes: scaled(householdTinyRecipe.policyEpisodes),
    generatorEpisodes: scaled(householdTinyRecipe.generatorEpisodes),
  };
  const gpu = await openGpu(await nodeGpu());
  const tokenizer = householdTokenizer(recipe.size);
  const config = householdTinyConfig(tokenizer.vocabSize);
  const plan = new PretrainingPlan(recipe);
  const { counts } = plan;
  io.note(`${gpu.adapterName}: ${parameterCount(config)} parameters, ${counts.tokens} tokens in ${counts.steps} steps`);
  const model = await new DecoderModel(gpu, config, new PolicyLoss(gpu), {
    embeddingParts: tokenizer.embeddingParts(),
  }).prepare();
  initialise(model, recipe.seed);

  const folder = io.resolve(options.checkpoint);
  let seconds = 0;
  if (options.resume) {
    const kept = await loadCheckpoint(folder, recipe);
    await model.importState(kept.state);
    seconds = kept.seconds;
    io.note(`resumed at step ${model.step}`);
  }
  const started = performance.now();
  const bar = io.progress('pretrain');
  let smoothed = 0;
  let skipped = 0;
  for (let step = model.step; step < counts.steps; step = model.step) {
    io.signal.throwIfAborted();
    const stats = await plan.train(model, step);
    if (!stats.applied && ++skipped > 2) {
      throw new DreamError(
        'training-diverged',
        `Three steps in a row were not finite (step ${step}).`,
        'Choose a smaller learning rate.',
      );
    }
    if (stats.applied) skipped = 0;
    smoothed = smoothed === 0 ? stats.loss : smoothed * 0.95 + stats.loss * 0.05;
    const spent = (performance.now() - started) / 1000;
    const speed = Math.round(model.tokensTrained / spent);
    bar.update(
      model.step / counts.steps,
      `step ${model.step}/${counts.steps} loss ${smoothed.toFixed(3)} ${speed} tok/s`,
    );
    if (model.step % 20 === 0)
      io.note(
        `step ${model.step}/${counts.steps} loss ${smoothed.toFixed(4)} norm ${stats.gradNorm.toFixed(2)} ${speed} tok/s`,
      );
    if (model.step % options['checkpoint-every'] === 0)
      await saveCheckpoint(folder, recipe, await model.exportState(true), seconds + spent);
  }
  bar.clear();
  seconds += (performance.now() - started) / 1000;
  await saveCheckpoint(folder, recipe, await model.exportState(true), seconds);

  // How good is it? Held-out rooms, tasks nobody trained on.
  const fidelity = await heldOutFidelity(model, tokenizer, recipe);
  io.note(
    `observation exact ${percent(fidelity.withRetrieval.observation)}, reward ${percent(fidelity.withRetrieval.reward)}`,
  );
  const domain = householdDomain(tokenizer, recipe.size);
  const warmStart = await evaluate({ policy: model, domain, tasks: 200, rolloutTemperature: 1, maxSteps: 16, seed: 1 });
  io.note(
    `warm start: ${warmStart.atRolloutTemperature.rate} at temperature 1, ${warmStart.atLowTemperature.rate} at 0.4`,
  );

  const out = io.resolve(options.out);
  await mkdir(out, { recursive: true });
  const { weights } = await model.exportState(false);
  const facts = {
    recipe,
    counts,
    parameters: parameterCount(config),
    adapter: gpu.adapterName,
    seconds: Math.round(seconds),
    date: new Date().toISOString().slice(0, 10),
    fidelity,
    warmStart: { atRolloutTemperature: warmStart.atRolloutTemperature, atLowTemperature: warmStart.atLowTemperature },
  };
  await writeFile(join(out, 'config.json'), `${JSON.stringify(configToJson(config), null, 2)}\n`);
  await writeFile(join(out, 'tokenizer.json'), `${JSON.stringify(tokenizer.toJSON(), null, 1)}\n`);
  await writeFile(
    join(out, 'model.safetensors'),
    writeSafetensors(toLlama(config, weights), { recipe: JSON.stringify(recipe) }),
  );
  await writeFile(join(out, 'pretraining.json'), `${JSON.stringify(facts, null, 2)}\n`);
  await writeFile(join(out, 'README.md'), householdModelCard(facts));
  io.print(`Wrote ${out}`);
  io.result(facts);
}

async function heldOutFidelity(
  model: DecoderModel,
  tokenizer: ReturnType<typeof householdTokenizer>,
  recipe: PretrainingRecipe,
): Promise<{ withRetrieval: Fidelity; withoutRetrieval: Fidelity }> {
  const measure = (retrieval: boolean): Promise<Fidelity> =>
    measureFidelity(
      fidelityCases(recipe.size, { cases: 600, seed: 1, retrieval }),
      tokenizer,
      predictWith(model, tokenizer),
    );
  return { withRetrieval: await measure(true), withoutRetrieval: await measure(false) };
}

function percent({ right, of }: Share): string {
  return `${((100 * right) / Math.max(1, of)).toFixed(1)} % of ${of}`;
}

// --- checkpoints: one safetensors file, replaced by rename -------------------------------------------------------------

async function saveCheckpoint(
  folder: string,
  recipe: PretrainingRecipe,
  state: ModelState,
  seconds: number,
): Promise<void> {
  const tensors = new Map<string, { shape: number[]; data: Float32Array }>();
  for (const kind of ['weights', 'moments1', 'moments2'] as const) {
    for (const [name, data] of state[kind] ?? []) tensors.set(`${kind}/${name}`, { shape: [data.length], data });
  }
  const metadata = { recipe: JSON.stringify(recipe), step: String(state.step), seconds: String(seconds) };
  await mkdir(folder, { recursive: true });
  const file = join(folder, 'state.safetensors');
  await replaceFile(file, writeSafetensors(tensors, metadata));
}

async function loadCheckpoint(
  folder: string,
  recipe: PretrainingRecipe,
): Promise<{ state: ModelState; seconds: number }> {
  const file = join(folder, 'state.safetensors');
  if (!existsSync(file)) {
    throw new DreamError('no-checkpoint', `There is no checkpoint in ${folder}.`, 'Start without --resume.');
  }
  const { tensors, metadata } = readSafetensors(await readFile(file));
  if (metadata.recipe !== JSON.stringify(recipe)) {
    throw new DreamError(
      'other-recipe',
      'The checkpoint was made with other settings.',
      'Use the same options as before, or start without --resume.',
    );
  }
  const pick = (kind: string): Map<string, Float32Array> =>
    new Map(
      [...tensors]
        .filter(([name]) => name.startsWith(`${kind}/`))
        .map(([name, t]) => [name.slice(kind.length + 1), t.data]),
    );
  const state = {
    step: Number(metadata.step),
    weights: pick('weights'),
    moments1: pick('moments1'),
    moments2: pick('moments2'),
  };
  return { state, seconds: Number(metadata.seconds) };
}
