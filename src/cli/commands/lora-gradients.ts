/**
 * @file `dream lora-gradients`: gradients and steps of a LoRA on given sequences, for comparison with another program
 * (test/real does so with PyTorch), and its export.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as v from 'valibot';
import { DreamError } from '../../data/errors';
import { openGpu } from '../../gpu/device';
import { adapterFromEngine, adapterToEngine, loraSettings, writeGgufLora, writePeft } from '../../models/adapters';
import type { CommandIo } from '../command';
import { nodeGpu } from '../node-gpu';
import { loadFromDisk, modelOption, openSource, readPeftFolder } from '../open-model';
import { describeOptions, type OptionSpecs, parseOptions } from '../options';

const specs = {
  model: modelOption,
  case: {
    type: 'string',
    value: 'FILE',
    help: 'JSON: init, sequences, clipLow, clipHigh, optimizer, steps (test/real/lora.py)',
  },
  out: { type: 'string', value: 'FILE', help: 'where to write the first gradients, by the names of a PEFT file' },
  export: { type: 'string', value: 'DIR', help: 'where to write the stepped adapter: a PEFT folder and adapter.gguf' },
} as const satisfies OptionSpecs;

export const help = `Usage: dream lora-gradients --model PATH --case FILE [--out FILE] [--export DIR]

${describeOptions(specs)}
  --json             {"losses","gradNorms","adapter"}`;

const numbers = v.array(v.number());
const caseSchema = v.object({
  init: v.string(),
  steps: v.optional(v.number(), 0),
  clipLow: v.number(),
  clipHigh: v.number(),
  dualClip: v.optional(v.number(), 3),
  klCoef: v.optional(v.number(), 0),
  entropyCoef: v.optional(v.number(), 0),
  optimizer: v.object({
    learningRate: v.number(),
    beta1: v.number(),
    beta2: v.number(),
    eps: v.number(),
    weightDecay: v.number(),
    maxGradNorm: v.number(),
  }),
  sequences: v.array(v.object({ tokens: numbers, weights: numbers, oldLogProbs: numbers, advantages: numbers })),
});

export async function run(args: string[], io: CommandIo): Promise<void> {
  const options = parseOptions(args, specs);
  if (options.case === undefined) throw new DreamError('no-case', 'No case was named.', 'Add --case with a JSON file.');
  const given = v.parse(caseSchema, JSON.parse(await readFile(io.resolve(options.case), 'utf8')));
  const source = await openSource(io, options.model);
  const start = await readPeftFolder(io, dirname(given.init), source.config);
  const settings = loraSettings(start);
  const gpu = await openGpu(await nodeGpu());
  const longest = Math.max(...given.sequences.map(({ tokens }) => tokens.length));
  const model = await loadFromDisk(io, gpu, source, { contextLength: longest, lora: settings });
  model.setWeights(adapterToEngine(start, model.config));
  const { clipLow, clipHigh, dualClip, klCoef, entropyCoef, optimizer, sequences } = given;
  const loss = { kind: 'policy', clipLow, clipHigh, dualClip, klCoef, entropyCoef } as const;
  const base = { baseModel: start.baseModel, baseHash: start.baseHash };

  if (options.out !== undefined) {
    await model.accumulateGradients(sequences, loss);
    const gradients = new Map<string, Float32Array>();
    for (const p of model.decoder.adapters) gradients.set(p.name, await gpu.readF32(p.gradient!, p.count));
    const files = writePeft(adapterFromEngine(gradients, model.config, settings, base));
    await writeFile(io.resolve(options.out), files.get('adapter_model.safetensors')!);
  }
  const losses: number[] = [];
  const gradNorms: number[] = [];
  for (let step = 0; step < given.steps; step++) {
    const stats = await model.trainStep(sequences, loss, optimizer);
    losses.push(stats.loss);
    gradNorms.push(stats.gradNorm);
    io.note(`step ${step}: loss ${stats.loss.toFixed(6)}, gradient norm ${stats.gradNorm.toFixed(6)}`);
  }
  if (options.export !== undefined) {
    const { weights } = await model.exportState(false);
    const adapter = adapterFromEngine(weights, model.config, settings, base);
    const folder = io.resolve(options.export);
    await mkdir(folder, { recursive: true });
    for (const [name, bytes] of writePeft(adapter)) await writeFile(join(folder, name), bytes);
    await writeFile(join(folder, 'adapter.gguf'), writeGgufLora(adapter, source.architecture, model.config));
  }
  io.result({ losses, gradNorms, adapter: gpu.adapterName });
  model.dispose();
}
