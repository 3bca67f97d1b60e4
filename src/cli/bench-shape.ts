/**
 * @file A whole GRPO step of a published model's exact shape on random 4-bit weights: does it run, how fast, and does the
 * memory plan tell the truth?
 */
import { openGpu } from '../gpu/device';
import { loadModel, planLoad } from '../models/load-model';
import { planMemory } from '../models/memory-plan';
import { randomSource } from '../models/random-source';
import { parameterCount } from '../nn/config';
import { initialise } from '../nn/initialise';
import { choosePrecision, type PrecisionChoice } from '../nn/precision';
import type { CommandIo } from './command';
import { nodeGpu } from './node-gpu';

const RANK = 16;
const STREAMS = 2;
const NEW_TOKENS = 16;

/** @param tokens in all sequences together, prompts included */
export async function benchShape(
  io: CommandIo,
  shape: string,
  tokens: number,
  choice: PrecisionChoice = 'f32',
): Promise<void> {
  const started = performance.now();
  const gpu = await openGpu(await nodeGpu());
  io.print(`adapter ${gpu.adapterName}${gpu.isSoftware ? ' (software)' : ''}`);
  const source = randomSource(shape);
  const length = Math.max(NEW_TOKENS + 2, Math.floor(tokens / STREAMS));
  const precision = await choosePrecision(gpu, choice);
  const load = {
    contextLength: length,
    precision,
    lora: { rank: RANK, alpha: 2 * RANK },
    tokensPerPass: length * STREAMS,
  };
  const { config, forms } = planLoad(source, load);
  const plan = planMemory(
    config,
    forms,
    {
      rank: RANK,
      contextLength: length,
      streams: STREAMS,
      passTokens: length * STREAMS,
      promptTokens: (length - NEW_TOKENS) * STREAMS,
      precision,
    },
    { maxBufferSize: gpu.limits.maxBufferSize, maxStorageBufferBindingSize: gpu.limits.maxStorageBufferBindingSize },
  );
  io.print(
    `${shape}: ${(parameterCount(config) / 1e9).toFixed(2)} billion weights, planned ${mebi(plan.plannedGpuBytes)}`,
  );
  const seconds: Record<string, number> = {};
  const timed = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    const start = performance.now();
    const result = await work();
    seconds[name] = (performance.now() - start) / 1000;
    io.print(`${name} ${seconds[name].toFixed(1)} s, ${mebi(gpu.memory.bytesPeak)} at most`);
    return result;
  };
  const bar = io.progress('load');
  const model = await timed('load', () =>
    loadModel(gpu, source, {
      ...load,
      signal: io.signal,
      onProgress: ({ bytes, total, tensor }) => bar.update(bytes / total, tensor),
    }),
  );
  bar.clear();
  initialise(model, 1, 'adapters');

  const prompts = Array.from({ length: STREAMS }, (_, s) =>
    Array.from({ length: length - NEW_TOKENS }, (_, i) => 100 + ((s * 7919 + i * 104_729) % (config.vocabSize - 200))),
  );
  const rollouts = await timed('rollout', async () => {
    const sessions = model.sessions(STREAMS);
    prompts.forEach((prompt, s) => {
      sessions.append(s, prompt);
    });
    const generated = await sessions.generate(
      prompts.map((_, s) => s),
      { temperature: 1, seed: 1, stopTokens: [], maxNewTokens: NEW_TOKENS },
    );
    sessions.dispose();
    gpu.memory.trim(); // the two phases of an iteration need different buffers
    return generated;
  });
  const sequences = rollouts.map(({ tokens: own, logProbs }, s) => ({
    tokens: [...prompts[s], ...own],
    weights: [...prompts[s].map(() => 0), ...own.map(() => 1 / (own.length * STREAMS))],
    oldLogProbs: [...prompts[s].map(() => 0), ...logProbs],
    advantages: [...prompts[s], ...own].map(() => (s % 2 === 0 ? 1 : -1)), // a group of one success and one failure
  }));
  const loss = { kind: 'policy', clipLow: 0.2, clipHigh: 0.28, klCoef: 0, entropyCoef: 0, dualClip: 3 } as const;
  const optimizer = { learningRate: 1e-4, beta1: 0.9, beta2: 0.95, eps: 1e-8, weightDecay: 0, maxGradNorm: 1 };
  const stats = await timed('train step', () => model.trainStep(sequences, loss, optimizer));
  const peakGpuBytes = gpu.memory.bytesPeak;
  io.print(
    `peak ${mebi(peakGpuBytes)}, ${((100 * peakGpuBytes) / plan.plannedGpuBytes - 100).toFixed(1)} % off the plan`,
  );
  io.result({
    adapter: gpu.adapterName,
    shape,
    parameters: parameterCount(config),
    tokens: sequences.reduce((sum, sequence) => sum + sequence.tokens.length, 0),
    rank: RANK,
    precision,
    plannedGpuBytes: plan.plannedGpuBytes,
    peakGpuBytes,
    plan,
    stats,
    tokensPerSecond: {
      generate: (STREAMS * NEW_TOKENS) / seconds.rollout,
      train: (length * STREAMS) / seconds['train step'],
    },
    seconds: { ...seconds, all: (performance.now() - started) / 1000 },
    date: new Date().toISOString().slice(0, 10),
  });
  model.dispose();
}

const mebi = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(0)} MiB`;
