/** @file `dream train`: the loop from a terminal, kept iteration by iteration, resumable, with one JSON line at the end. */
import { mkdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { DreamError } from '../../data/errors';
import { householdDomain } from '../../dream/household';
import { DreamLoop } from '../../dream/loop';
import type { LoopParts } from '../../dream/loop-parts';
import { resolveConfig } from '../../dream/presets';
import { checkPlayable, remoteDefaults } from '../../dream/remote-domain';
import { defaultTextSettings, formerTextSettings } from '../../dream/text-household';
import {
  endpointTextModel,
  householdTextWorld,
  type OpenDream,
  type TextWorld,
  textDreams,
} from '../../dream/text-models';
import { gpuAdvantages } from '../../rl/kernels/advantages';
import { gpuTopK } from '../../rl/kernels/topk';
import type { RunConfig } from '../../worker/protocol';
import type { CommandIo } from '../command';
import { FileRunStore } from '../file-run-store';
import { openHouseholdEngine } from '../household-engine';
import { type ModelEngine, openModelEngine } from '../model-engine';
import { describeOptions, type OptionSpecs, parseOptions } from '../options';
import { leaveWorld } from '../remote-world';
import { WORLD_FACT } from '../run-adapter';
import {
  endpointOptions,
  givenEndpoint,
  givenModel,
  givenSettings,
  modelOptions,
  needsModel,
  runOptions,
  textTrainingOptions,
} from '../run-options';
import {
  checkSameWorld,
  household,
  memoriesOption,
  openSpokenWorld,
  readMemories,
  withMemories,
  worldOptions,
} from '../spoken-world';
import { percent, reporter, trainResult } from '../train-report';

const options: OptionSpecs = {
  ...worldOptions,
  ...modelOptions,
  ...textTrainingOptions,
  ...endpointOptions,
  'adapter-out': {
    type: 'string',
    value: 'DIR',
    help: 'write the trained adapter as a PEFT folder, with a GGUF for llama.cpp beside it in DIR.gguf (--model)',
  },
  ...runOptions,
  memories: memoriesOption,
  resume: { type: 'boolean', help: 'continue the run in its folder (a new one starts when there is none)' },
  run: {
    type: 'string',
    value: 'DIR',
    help: 'folder of the run (default .cache/runs/[MODEL-][ENV-]PRESET-ROLLOUTS-SEED)',
  },
  out: { type: 'string', value: 'FILE', help: 'write the run, with metrics and sample rollouts, as JSON' },
};

export const help = `Usage: dream train [options]

Trains the embedded agent on dreamed experience and measures it in the real world, which it never trains in.
With --model, an adapter of a real language model learns, and the same model without it dreams and invents the tasks.
With --env, it trains in another world than the household; eval --env examines it anywhere. With --env URL --rollouts real
that is a world on a server (OpenEnv, AgentGym): --env http://127.0.0.1:36001 --dialect textcraft --remote-tasks 0-99.
With --dream-endpoint, a server dreams: the way from one machine to many.
Every iteration is kept; Ctrl-C stops at the next safe point and --resume goes on from the last finished iteration.

${describeOptions(options)}
  --json             {"env","preset","seed","iterations","adapter","realTransitions","dreamedTransitions","tasksGenerated",
                     "bufferSize","rewardError","fidelity","loss","realSuccess","malformed","tokensPerSecond","peakGpuBytes",
                     "weightsHash","seconds"} and with --model {"model":{"label","sha256","rank","alpha",...}}`;

export async function run(args: string[], io: CommandIo): Promise<number> {
  const start = performance.now();
  const values: Readonly<Record<string, unknown>> = parseOptions(args, options);
  const { path: modelPath, choice, text } = givenModel(values);
  const adapterOut = values['adapter-out'];
  if (adapterOut !== undefined && modelPath === undefined) throw needsModel('adapter-out');
  const endpoint = givenEndpoint(values);
  const world = await openSpokenWorld(io, typeof values.env === 'string' ? values.env : undefined, modelPath, values);
  const given = remoteDefaults(world, givenSettings(values));
  const config = resolveConfig(given);
  const env = world?.name ?? household;
  const kind = `${modelPath === undefined ? '' : `${plainName(modelPath)}-`}${world ? `${env}-` : ''}`;
  const name = `${kind}${config.preset}-${config.rollouts}-${config.seed}`;
  const folder = typeof values.run === 'string' ? io.resolve(values.run) : join(io.root, '.cache', 'runs', name);
  const store = new FileRunStore(folder);
  await store.claim();
  const stored = values.resume === true ? await store.load() : null;
  if (stored) checkSameWorld(stored.model?.world, env);
  checkPlayable(world, { ...(stored?.config ?? config), ...given });

  const began = stored ? (stored.model?.text ?? formerTextSettings) : defaultTextSettings;
  const real =
    modelPath === undefined
      ? null
      : await openModelEngine(
          io,
          modelPath,
          { ...stored?.model, ...choice },
          stored?.config.seed ?? config.seed,
          {
            ...began,
            ...text,
            // What the run began with stands in its weights already.
            ...(stored ? { warmStart: began.warmStart } : {}),
          },
          world,
        );
  const engine = real ?? (await openEmbedded(io.root));
  const { gpu } = engine;
  const { domain } = engine.parts;
  // A stored run has its buffer.
  const brought =
    typeof values.memories === 'string' && !stored
      ? await readMemories(io, values.memories, domain, world, Math.floor(config.bufferCapacity / 2))
      : null;
  const parts: LoopParts = {
    ...engine.parts,
    domain: brought ? withMemories(domain, brought.memories) : domain,
    ...(endpoint ? { openDream: dreamsOf(endpoint, world?.words ?? householdTextWorld(domain), io.signal) } : {}),
    kernels: { advantages: gpuAdvantages(gpu), topK: gpuTopK(gpu) },
    store,
    adapter: gpu.adapterName,
    gpuBytes: () => gpu.memory.bytesPeak,
    emit: reporter(io),
  };
  io.print(`adapter ${gpu.adapterName}${gpu.isSoftware ? ' (software)' : ''}, run ${folder}`);
  if (real && !stored) await imitate(real, config, io);
  const loop = stored ? await DreamLoop.restore(parts, stored, given) : DreamLoop.fresh(parts, config, name);
  if (stored) io.print(`continuing after iteration ${stored.iteration} of ${loop.state.config.iterations}`);

  io.signal.addEventListener('abort', () => loop.control.stop(), { once: true });
  if (io.signal.aborted) loop.control.stop();
  await loop.run().finally(() => leaveWorld(world));
  await store.release();

  const { state } = loop;
  // A stopped run's weights may belong to a half-finished iteration.
  if (real && typeof adapterOut === 'string' && loop.phase !== 'stopped') {
    await writeAdapter(io.resolve(adapterOut), real, loop, env, io);
    io.print(`adapter written to ${adapterOut}`);
  }
  if (typeof values.out === 'string') {
    const path = io.resolve(values.out);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, `${JSON.stringify(loop.state.record())}\n`);
  }
  io.result(
    trainResult(state.config, state.metrics, state.evaluations, {
      env,
      ...(brought ? { memories: brought.memories.length } : {}),
      model: state.model,
      adapter: gpu.adapterName,
      bufferSize: state.buffer.size,
      weightsHash: state.weightsHash,
      peakGpuBytes: gpu.memory.bytesPeak,
      seconds: (performance.now() - start) / 1000,
    }),
  );
  if (!io.signal.aborted) return 0;
  io.note(`Stopped after iteration ${state.iteration}; --resume goes on from there.`);
  return 130;
}

/** The warm start, if one is asked for. Ctrl-C ends it: nothing is kept yet. */
async function imitate(engine: ModelEngine, { maxSteps }: RunConfig, io: CommandIo): Promise<void> {
  const bar = io.progress('imitating');
  const start = performance.now();
  const losses = await engine.warmStart({
    maxSteps,
    onStep(done, total, { loss }) {
      bar.update(done / total, `loss ${loss.toFixed(3)}`);
      io.signal.throwIfAborted();
    },
  });
  bar.clear();
  if (losses.length === 0) return;
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  const range = `loss ${losses[0].toFixed(3)} to ${losses[losses.length - 1].toFixed(3)} nats a token`;
  io.print(`warm start: ${losses.length} steps of imitation, ${range}, ${seconds} s`);
}

/** Someone else's dream of the world, in words. */
function dreamsOf(endpoint: { baseUrl: string; model: string }, world: TextWorld, signal: AbortSignal): OpenDream {
  const model = endpointTextModel({ ...endpoint, key: process.env.DREAM_ENDPOINT_KEY });
  return textDreams({ model, world, signal });
}

async function openEmbedded(root: string) {
  const { gpu, policy, experience, tokenizer } = await openHouseholdEngine(root);
  return { gpu, parts: { policy, experience, domain: householdDomain(tokenizer) } };
}

/** A model's name as a part of a folder's. */
function plainName(path: string): string {
  const name = basename(path).replace(/\.gguf$/i, '');
  return name.replace(/[^\w.-]+/g, '_').slice(0, 80);
}

async function writeAdapter(
  folder: string,
  engine: ModelEngine,
  { state }: DreamLoop,
  env: string,
  io: CommandIo,
): Promise<void> {
  const { config, evaluations } = state;
  const rates = evaluations.map(({ iteration, imagined, atRolloutTemperature: { rate, low, high, episodes } }) => {
    const value = `${percent(rate)} [${percent(low)}, ${percent(high)}] of ${episodes} held-out tasks`;
    return [`${imagined ? 'dreamed' : 'real'} success after ${iteration} iterations`, value] as const;
  });
  const files = await engine.exportPeft([
    [WORLD_FACT, env],
    ['preset', config.preset],
    ['seed', config.seed],
    ['rollouts', config.rollouts],
    ['iterations', state.iteration],
    ...rates,
  ]);
  await mkdir(folder, { recursive: true });
  for (const [name, bytes] of files) await writeFile(join(folder, name), bytes);
  try {
    await writeFile(`${folder}.gguf`, await engine.exportGguf());
  } catch (error) {
    if (!(error instanceof DreamError && error.code === 'unsupported-architecture')) throw error;
    io.note(`No GGUF beside it: ${error.message}`);
  }
}
