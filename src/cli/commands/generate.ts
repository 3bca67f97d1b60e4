/** @file `dream generate`: a real model continues one prompt, or many at once. */
import { readFile } from 'node:fs/promises';
import { DreamError } from '../../data/errors';
import { openGpu } from '../../gpu/device';
import type { TextTokenizer } from '../../models/text-tokenizer';
import { generateAll } from '../../nn/continuous-batch';
import type { CommandIo } from '../command';
import { nodeGpu } from '../node-gpu';
import { floatsOption, loadFromDisk, modelOption, openSource, openTokenizer, precisionOption } from '../open-model';
import { describeOptions, type OptionSpecs, parseOptions } from '../options';

const specs = {
  model: modelOption,
  floats: floatsOption,
  prompt: { type: 'string', value: 'TEXT', help: 'what to continue' },
  prompts: { type: 'string', value: 'FILE', help: 'a JSON list of prompts, continued in one batch' },
  chat: { type: 'boolean', help: "the prompt is a user's message: write it into the model's chat template" },
  greedy: { type: 'boolean', help: 'always the likeliest token' },
  temperature: { type: 'number', help: 'of the sampling', default: 1, min: 0, max: 5 },
  'top-k': { type: 'integer', help: 'sample among so many; 0 = all', default: 0, min: 0 },
  'top-p': { type: 'number', help: 'nucleus; 1 = all', default: 1, min: 0, max: 1 },
  'min-p': { type: 'number', help: 'least share of the likeliest token; 0 = off', default: 0, min: 0, max: 1 },
  stop: { type: 'string', value: 'TEXT', help: 'end at this text, which is left out' },
  batch: { type: 'integer', help: 'prompts that decode together', default: 16, min: 1, max: 256 },
  seed: { type: 'integer', help: 'of the sampling', default: 1, min: 0 },
  'max-tokens': { type: 'integer', help: 'new tokens at most', default: 128, min: 1, max: 4096 },
  'ignore-end': { type: 'boolean', help: 'go on after the end of a turn' },
  precision: precisionOption,
} as const satisfies OptionSpecs;

export const help = `Usage: dream generate --model PATH --prompt TEXT

Batches are ragged: prompts of any length decode together, each as it would alone.

${describeOptions(specs)}
  --json             {"tokens","text","logprobs","promptTokens","stopped","tokensPerSecond","precision","adapter"}
                     (--prompts: {"results":[{...}],"tokensPerSecond","precision","adapter"})`;

export async function run(args: string[], io: CommandIo): Promise<void> {
  const options = parseOptions(args, specs);
  const prompts = options.prompts === undefined ? [options.prompt] : await readPrompts(io.resolve(options.prompts));
  if (!prompts.every((prompt): prompt is string => typeof prompt === 'string' && prompt !== '')) {
    throw new DreamError('no-text', 'There is no prompt.', 'Add --prompt, or --prompts with a JSON list of texts.');
  }
  const { stop } = options;
  const source = await openSource(io, options.model);
  const tokenizer = await openTokenizer(source);
  const encoded = prompts.map((prompt) => encode(tokenizer, prompt, options.chat));
  const gpu = await openGpu(await nodeGpu());
  const longest = Math.max(...encoded.map((tokens) => tokens.length));
  const model = await loadFromDisk(io, gpu, source, {
    contextLength: longest + options['max-tokens'],
    floats: options.floats,
    precision: options.precision,
  });
  const start = performance.now();
  const bar = io.progress('generate');
  let finished = 0;
  const generated = await generateAll(model, encoded, {
    streams: options.batch,
    temperature: options.greedy ? 0 : options.temperature,
    topK: options['top-k'],
    topP: options['top-p'],
    minP: options['min-p'],
    seed: options.seed,
    stopTokens: options['ignore-end'] ? [] : tokenizer.stopIds.slice(0, 4),
    maxNewTokens: options['max-tokens'],
    signal: io.signal,
    onFinished: () => bar.update(++finished / encoded.length, `${finished} of ${encoded.length}`),
    onTokens:
      stop === undefined ? undefined : (_, drawn) => tokenizer.decode(drawn, { skipSpecial: true }).includes(stop),
  });
  bar.clear();
  const seconds = (performance.now() - start) / 1000;
  const results = generated.map(({ tokens, logProbs, stopped }, i) => ({
    tokens,
    text: until(tokenizer.decode(tokens, { skipSpecial: true }), stop),
    logprobs: logProbs,
    promptTokens: encoded[i].length,
    stopped,
  }));
  for (const { text } of results) io.print(text);
  const tokensPerSecond = generated.reduce((sum, { tokens }) => sum + tokens.length, 0) / seconds;
  io.note(`${tokensPerSecond.toFixed(1)} tokens/s, reading the prompt included`);
  const rest = { tokensPerSecond, precision: model.precision, adapter: gpu.adapterName };
  io.result(options.prompts === undefined ? { ...results[0], ...rest } : { results, ...rest });
  model.dispose();
}

/** The text before the stop string. */
function until(text: string, stop: string | undefined): string {
  const at = stop === undefined ? -1 : text.indexOf(stop);
  return at < 0 ? text : text.slice(0, at);
}

function encode(tokenizer: TextTokenizer, prompt: string, chat: boolean): number[] {
  if (!chat) return tokenizer.encode(prompt, { addSpecial: true });
  return tokenizer.chatTokens([{ role: 'user', content: prompt }], { addGenerationPrompt: true });
}

async function readPrompts(path: string): Promise<unknown[]> {
  let list: unknown;
  try {
    list = JSON.parse(await readFile(path, 'utf8'));
  } catch (cause) {
    throw new DreamError('bad-file', `${path} is not JSON.`, 'Write a list of texts: ["...", "..."].', { cause });
  }
  return Array.isArray(list) ? list : [list];
}
