/** @file `dream model inspect|plan`: what a model file holds, and whether it will fit, before a byte of weights is read. */
import { openGpu } from '../../gpu/device';
import { planLoad } from '../../models/load-model';
import { planMemory } from '../../models/memory-plan';
import { parameterCount } from '../../nn/config';
import type { CommandIo } from '../command';
import { nodeGpu } from '../node-gpu';
import { modelOption, openSource } from '../open-model';
import { describeOptions, type OptionSpecs, parseOptions, UsageError } from '../options';

const inspectSpecs = { model: modelOption } as const satisfies OptionSpecs;
const planSpecs = {
  model: modelOption,
  rank: { type: 'integer', help: 'LoRA rank; 0 = no training', default: 16, min: 0, max: 1024 },
  context: { type: 'integer', help: 'longest sequence in tokens', default: 2048, min: 16, max: 131072 },
  streams: { type: 'integer', help: 'episodes that generate together', default: 8, min: 0, max: 256 },
  tokens: { type: 'integer', help: 'tokens of a training pass', default: 2048, min: 16, max: 65536 },
  precision: {
    type: 'string',
    choices: ['f32', 'f16'],
    default: 'f32',
    help: 'of the cached keys and values',
  },
  budget: { type: 'number', help: 'GiB of GPU memory you are ready to give', default: 4, min: 0.1, max: 1024 },
} as const satisfies OptionSpecs;

export const help = `Usage: dream model inspect --model PATH
       dream model plan --model PATH [options]

inspect reads the headers only: architecture, dimensions, how the tensors are stored, tokenizer and chat template.
plan counts the GPU memory of training and generation, buffer by buffer, against this device's limits.

${describeOptions(planSpecs)}
  --json             inspect: {"label","architecture","config","parameters","bytes","stored","tokenizer","chatTemplate"}
                     plan: {"plannedGpuBytes","weights","adapter","tables","keyValueCache","generation","training",
                     "largestBuffer","verdict","advice","fileBytes"}`;

export async function run(args: string[], io: CommandIo): Promise<void> {
  const [verb, ...rest] = args;
  if (verb === 'inspect') return inspect(rest, io);
  if (verb === 'plan') return plan(rest, io);
  const problem = verb === undefined ? 'model needs a verb.' : `model does not know "${verb}".`;
  throw new UsageError('unknown-command', problem, 'Type: model inspect, or model plan');
}

const mebi = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MiB`;

async function inspect(args: string[], io: CommandIo): Promise<void> {
  const source = await openSource(io, parseOptions(args, inspectSpecs).model);
  const stored: Record<string, { tensors: number; bytes: number }> = {};
  let bytes = 0;
  for (const tensor of source.tensors.values()) {
    stored[tensor.stored] ??= { tensors: 0, bytes: 0 };
    stored[tensor.stored].tensors++;
    stored[tensor.stored].bytes += tensor.bytes;
    bytes += tensor.bytes;
  }
  const tokenizer = await source.tokenizer();
  const template = tokenizer?.tokenizerConfig.chat_template;
  const parameters = parameterCount(source.config);
  io.print(
    `${source.label}: ${source.architecture}, ${(parameters / 1e6).toFixed(1)} million parameters, ${mebi(bytes)}`,
  );
  for (const [key, value] of Object.entries(source.config)) io.print(`  ${key.padEnd(14)} ${JSON.stringify(value)}`);
  for (const [type, { tensors, bytes: size }] of Object.entries(stored))
    io.print(`  ${type.padEnd(14)} ${tensors} tensors, ${mebi(size)}`);
  io.print(`  tokenizer ${tokenizer ? 'yes' : 'no'}, chat template ${template ? 'yes' : 'no'}`);
  io.result({
    label: source.label,
    architecture: source.architecture,
    config: source.config,
    parameters,
    bytes,
    stored,
    tokenizer: tokenizer !== null,
    chatTemplate: template ?? null,
  });
  source.close();
}

async function plan(args: string[], io: CommandIo): Promise<void> {
  const options = parseOptions(args, planSpecs);
  const source = await openSource(io, options.model);
  const { config, forms } = planLoad(source, { contextLength: options.context });
  const gpu = await openGpu(await nodeGpu());
  const result = planMemory(
    config,
    forms,
    {
      rank: options.rank,
      contextLength: options.context,
      streams: options.streams,
      passTokens: options.tokens,
      promptTokens: 2048,
      precision: options.precision,
    },
    { ...limitsOf(gpu.limits), budgetBytes: options.budget * 2 ** 30 },
  );
  const fileBytes = [...source.tensors.values()].reduce((sum, tensor) => sum + tensor.bytes, 0);
  for (const part of ['weights', 'adapter', 'tables', 'generation', 'training'] as const)
    io.print(`  ${part.padEnd(12)} ${mebi(result[part]).padStart(12)}`);
  io.print(`  most at once ${mebi(result.plannedGpuBytes).padStart(12)}`);
  io.print(`${result.verdict}: ${result.advice}`);
  io.result({ ...result, fileBytes, adapterName: gpu.adapterName });
  source.close();
}

const limitsOf = (
  limits: Readonly<Record<string, number>>,
): { maxBufferSize: number; maxStorageBufferBindingSize: number } => ({
  maxBufferSize: limits.maxBufferSize,
  maxStorageBufferBindingSize: limits.maxStorageBufferBindingSize,
});
