/** @file `dream score`: the log-probability of every token of a text under a real model. */
import { readFile } from 'node:fs/promises';
import { DreamError } from '../../data/errors';
import { openGpu } from '../../gpu/device';
import { adapterToEngine, loraSettings } from '../../models/adapters';
import type { CommandIo } from '../command';
import { nodeGpu } from '../node-gpu';
import {
  floatsOption,
  loadFromDisk,
  modelOption,
  openSource,
  openTokenizer,
  precisionOption,
  readPeftFolder,
} from '../open-model';
import { describeOptions, type OptionSpecs, parseOptions } from '../options';

const specs = {
  model: modelOption,
  floats: floatsOption,
  text: { type: 'string', value: 'TEXT', help: 'what to score' },
  file: { type: 'string', value: 'FILE', help: 'the same from a UTF-8 file' },
  adapter: { type: 'string', value: 'DIR', help: 'with this PEFT adapter over the model' },
  precision: precisionOption,
} as const satisfies OptionSpecs;

export const help = `Usage: dream score --model PATH --text TEXT

The log-probability of each token given those before it (the first one has none and is 0).
In f16 the text goes through a key-value cache in half precision, as a prompt does before it is continued.

${describeOptions(specs)}
  --json             {"tokens","logprobs","perplexity","precision","adapter"}`;

export async function run(args: string[], io: CommandIo): Promise<void> {
  const options = parseOptions(args, specs);
  const text = options.file === undefined ? options.text : await readFile(io.resolve(options.file), 'utf8');
  if (!text) throw new DreamError('no-text', 'There is no text to score.', 'Add --text or --file.');
  const source = await openSource(io, options.model);
  const tokenizer = await openTokenizer(source);
  const tokens = tokenizer.encode(text, { addSpecial: true });
  const gpu = await openGpu(await nodeGpu());
  const adapter = options.adapter === undefined ? null : await readPeftFolder(io, options.adapter, source.config);
  const model = await loadFromDisk(io, gpu, source, {
    contextLength: Math.max(tokens.length, 16),
    lora: adapter && loraSettings(adapter),
    precision: options.precision,
    floats: options.floats,
  });
  if (adapter) model.setWeights(adapterToEngine(adapter, model.config));
  const [scores] = await model.score([tokens]);
  const logprobs = Array.from(scores);
  const mean = logprobs.reduce((a, b) => a + b, 0) / Math.max(1, tokens.length - 1);
  for (const [i, token] of tokens.entries())
    io.print(`${logprobs[i].toFixed(4).padStart(9)}  ${JSON.stringify(tokenizer.decode([token]))}`);
  io.print(`perplexity ${Math.exp(-mean).toFixed(3)} over ${tokens.length} tokens`);
  io.result({ tokens, logprobs, perplexity: Math.exp(-mean), precision: model.precision, adapter: gpu.adapterName });
  model.dispose();
}
