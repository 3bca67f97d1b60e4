/** @file `dream bench`: how fast this machine is at what training needs, against its own measured peak. */

import { householdDomain } from '../../dream/household';
import { DreamLoop } from '../../dream/loop';
import { policySequences } from '../../dream/offline';
import { resolveConfig } from '../../dream/presets';
import type { Gpu } from '../../gpu/device';
import { bestMilliseconds, measurePeak } from '../../gpu/peak';
import { SHAPES } from '../../models/random-source';
import type { DecoderModel } from '../../nn/decoder-model';
import { Matmul } from '../../nn/matmul';
import { gpuAdvantages } from '../../rl/kernels/advantages';
import { gpuTopK } from '../../rl/kernels/topk';
import { attentionSpeeds } from '../bench-attention';
import { benchEnvironments } from '../bench-envs';
import { languageModelDecode, quantisedSpeeds } from '../bench-quantised';
import { benchShape } from '../bench-shape';
import type { CommandIo } from '../command';
import { openHouseholdEngine } from '../household-engine';
import { precisionOption } from '../open-model';
import { describeOptions, type OptionSpecs, parseOptions } from '../options';

const specs = {
  shape: {
    type: 'string',
    value: 'NAME',
    help: `a GRPO step of this shape on random 4-bit weights: ${Object.keys(SHAPES).join(', ')}`,
  },
  envs: { type: 'boolean', help: 'the built-in worlds instead: episodes, steps and snapshots per second; no GPU' },
  tokens: { type: 'integer', help: 'tokens of that step', default: 64, min: 36, max: 8192 },
  precision: precisionOption,
} as const satisfies OptionSpecs;

export const help = `Usage: dream bench [options]

Measures the adapter's multiply-add peak, the matrix kernels at m = 1, 16, 256 and 2048 rows, those on 4-bit and 8-bit
weights, attention against a cache in f32 and f16, decoding at batch 1, 16 and 64, a 135-million-weight model in 4 bits
at batch 1 to 32 (its cache in --precision), training, and how much of an iteration's wall time the kernels take.

${describeOptions(specs)}
  --json             {"adapter","peakGflops","kernels":[{"name","m","gflops","fractionOfPeak"}],
                     "decode":[{"batch","tokensPerSecond"}],"languageModel":{"shape","precision","decode"},"train":{"tokensPerSecond"},"kernelTimeShare","kernelTimes"}
  --envs --json      {"envs":[{"name","episodesPerSecond","stepsPerSecond","snapshotMicroseconds"}]}`;

export async function run(args: string[], io: CommandIo): Promise<void> {
  const options = parseOptions(args, specs);
  if (options.envs) {
    await benchEnvironments(io);
    return;
  }
  if (options.shape !== undefined) return benchShape(io, options.shape, options.tokens, options.precision);
  const { gpu, policy, experience, tokenizer } = await openHouseholdEngine(io.root);
  io.print(`adapter ${gpu.adapterName}${gpu.isSoftware ? ' (software)' : ''}`);
  const peakGflops = await measurePeak(gpu);
  io.print(`multiply-add peak ${peakGflops.toFixed(1)} GFLOP/s`);

  const kernels = await kernelSpeeds(gpu, peakGflops);
  for (const k of kernels)
    io.print(`${k.name} m=${k.m}: ${k.gflops.toFixed(2)} GFLOP/s, ${(100 * k.fractionOfPeak).toFixed(0)} % of peak`);

  const quantised = await quantisedSpeeds(gpu, peakGflops, [1, 16, 256]);
  for (const k of [...quantised, ...(await attentionSpeeds(gpu, peakGflops, [1, 16]))]) {
    kernels.push(k);
    io.print(`${k.name} m=${k.m}: ${k.gflops.toFixed(2)} GFLOP/s, ${(100 * k.fractionOfPeak).toFixed(0)} % of peak`);
  }

  const decode = [];
  for (const batch of [1, 16, 64]) {
    const tokensPerSecond = await decodeSpeed(policy, batch);
    decode.push({ batch, tokensPerSecond });
    io.print(`decode at batch ${batch}: ${tokensPerSecond.toFixed(0)} tokens/s`);
  }
  const shape = 'smollm2-135m';
  const languageModel = { shape, ...(await languageModelDecode(gpu, [1, 8, 16, 32], options.precision)) };
  for (const { batch, tokensPerSecond } of languageModel.decode)
    io.print(`SmolLM2-135M in 4 bits, decode at batch ${batch}: ${tokensPerSecond.toFixed(1)} tokens/s`);
  const train = { tokensPerSecond: await trainSpeed(policy) };
  io.print(`training: ${train.tokensPerSecond.toFixed(0)} tokens/s`);

  // The weights were changed by the step above; speed does not mind, and nothing is saved.
  gpu.profiling = 'passes';
  gpu.takeGpuTimes();
  const config = resolveConfig({
    preset: 'household-tiny',
    iterations: 1,
    tasksPerIteration: 8,
    evalTasks: 10,
    minReplayPrecision: 0,
  });
  const loop = DreamLoop.fresh(
    {
      policy,
      experience,
      domain: householdDomain(tokenizer),
      kernels: { advantages: gpuAdvantages(gpu), topK: gpuTopK(gpu) },
      store: null,
      adapter: gpu.adapterName,
      gpuBytes: () => gpu.memory.bytesPeak,
      emit: () => {},
    },
    config,
    'bench',
  );
  const start = performance.now();
  await loop.run();
  await gpu.finish();
  const wall = (performance.now() - start) * 1e6;
  const times = gpu.takeGpuTimes();
  gpu.profiling = 'off';
  const inKernels = [...times.values()].reduce((a, b) => a + b, 0);
  const kernelTimeShare = times.size > 0 ? inKernels / wall : null;
  io.print(
    kernelTimeShare === null
      ? 'share of wall time in kernels: not measured (this adapter has no timestamp queries)'
      : `share of an iteration's wall time in kernels: ${(100 * kernelTimeShare).toFixed(0)} %`,
  );
  io.result({
    adapter: gpu.adapterName,
    peakGflops,
    kernels,
    decode,
    languageModel,
    train,
    kernelTimeShare,
    kernelTimes: Object.fromEntries([...times].map(([label, ns]) => [label, ns / wall])),
    date: new Date().toISOString().slice(0, 10),
  });
}

/** The feed-forward shape of the embedded model: the largest of its products. */
const K = 128;
const N = 1024;

async function kernelSpeeds(
  gpu: Gpu,
  peak: number,
): Promise<{ name: string; m: number; gflops: number; fractionOfPeak: number }[]> {
  const matmul = new Matmul(gpu);
  await matmul.tune();
  const result = [];
  for (const m of [1, 16, 256, 2048]) {
    const a = gpu.alloc(m * K * 4, 'bench a');
    const b = gpu.alloc(K * N * 4, 'bench b');
    const y = gpu.alloc(m * N * 4, 'bench y');
    const w = gpu.alloc(K * N * 4, 'bench dw');
    const operations = 2 * m * K * N;
    const repeats = Math.max(1, Math.min(256, Math.round(2e8 / operations)));
    const cases: [string, (rec: ReturnType<Gpu['record']>) => void][] = [
      ['matmul_nn', (rec) => matmul.nn(rec, a, b, y, m, K, N)],
      ['matmul_tn', (rec) => matmul.tn(rec, y, a, w, N, m, K)],
    ];
    for (const [name, work] of cases) {
      const milliseconds = await bestMilliseconds(gpu, () => {
        const rec = gpu.record(name);
        for (let i = 0; i < repeats; i++) work(rec);
        rec.submit();
      });
      const gflops = (operations * repeats) / milliseconds / 1e6;
      result.push({ name, m, gflops, fractionOfPeak: gflops / peak });
    }
    for (const buffer of [a, b, y, w]) buffer.release();
  }
  return result;
}

async function decodeSpeed(model: DecoderModel, batch: number): Promise<number> {
  const sessions = model.sessions(batch);
  const streams = Array.from({ length: batch }, (_, i) => i);
  const prompt = policySequences('small', { episodes: 1, seed: 1 })[0].tokens.slice(0, 48);
  // Stop tokens outside the vocabulary: every stream runs its full length.
  const options = { temperature: 1, seed: 1, stopTokens: [model.vocabSize], maxNewTokens: 32 };
  let best = 0;
  for (let round = 0; round < 3; round++) {
    for (const stream of streams) {
      sessions.clear(stream);
      sessions.append(stream, Array.from(prompt));
    }
    await sessions.generate(streams, { ...options, maxNewTokens: 1 }); // the prompt is not decoding
    const start = performance.now();
    await sessions.generate(streams, options);
    if (round > 0) best = Math.max(best, (batch * options.maxNewTokens) / ((performance.now() - start) / 1000));
  }
  sessions.dispose();
  return best;
}

async function trainSpeed(model: DecoderModel): Promise<number> {
  const sequences = policySequences('small', { episodes: 16, seed: 2 }).map((s) => ({
    tokens: Array.from(s.tokens),
    weights: Float32Array.from(s.weights, (w) => w / 1000),
  }));
  const tokens = sequences.reduce((sum, s) => sum + s.tokens.length, 0);
  const settings = { learningRate: 0, beta1: 0.9, beta2: 0.95, eps: 1e-8, weightDecay: 0, maxGradNorm: 1 };
  let best = 0;
  for (let round = 0; round < 4; round++) {
    const start = performance.now();
    await model.trainStep(sequences, { kind: 'sft' }, settings);
    if (round > 0) best = Math.max(best, tokens / ((performance.now() - start) / 1000));
  }
  return best;
}
