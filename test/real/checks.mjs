/**
 * @file What the engine must say of a real model, against PyTorch on the same dequantised weights. Each check throws, or
 * returns what it measured.
 */
import { join } from 'node:path';
import { root } from '../../scripts/run.mjs';
import { askLlamaCpp, dream, folder, oracle, prepareLlamaCpp, prepareOnnx, readJson, writeJson } from './oracles.mjs';

/** Keys and values in f32, and in f16. */
const LOG_PROB = 2e-3;
const LOG_PROB_HALF = 3e-2;
const GRADIENT = 1e-3;
const LOSS = 0.01;
const EXPORTED = 1e-2;
const NEW_TOKENS = 48;
/** Generated alone and against PyTorch; the batch holds all prompts. */
const ALONE = 8;

const textsFile = join(root, 'test', 'real', 'texts.json');
/** @type {{texts: string[], prompts: string[]}} */
const { texts, prompts } = readJson(textsFile);

/** @typedef {(name: string, run: () => Promise<string>) => Promise<void>} Check */

/** @param {boolean} condition @param {string} message */
function must(condition, message) {
  if (!condition) throw new Error(message);
}

/** @param {readonly unknown[]} found @param {readonly unknown[]} expected @param {string} what */
function mustEqual(found, expected, what) {
  const at = expected.findIndex((value, i) => value !== found[i]);
  const first = at < 0 ? Math.min(found.length, expected.length) : at;
  must(
    found.length === expected.length && at < 0,
    `${what} differ from number ${first} on: ${found.slice(first, first + 5)} instead of ${expected.slice(first, first + 5)}`,
  );
}

/** Largest |difference|; anything that is not a number counts as infinite. @param {readonly number[]} a @param {readonly number[]} b */
function gap(a, b) {
  must(a.length === b.length, `there are ${a.length} numbers instead of ${b.length}`);
  return a.reduce((worst, value, i) => {
    const difference = Math.abs(value - b[i]);
    return Number.isFinite(difference) ? Math.max(worst, difference) : Number.POSITIVE_INFINITY;
  }, 0);
}

/** @param {number} measured @param {number} bound @param {string} what */
function within(measured, bound, what) {
  const line = `${what} ${measured.toExponential(2)} (at most ${bound})`;
  must(measured <= bound, line);
  return line;
}

/** Log-probabilities of five texts of 200 tokens and more. @param {string} model @param {Check} check */
export async function scoreChecks(model, check) {
  const out = join(folder('oracle'), 'score.json');
  await oracle('score.py', [model, textsFile, out], out, [textsFile, model]);
  const expected = readJson(out);
  for (const [i, text] of texts.entries()) {
    await check(`score: text ${i + 1} as in PyTorch`, async () => {
      const { tokens, logprobs, adapter } = await dream('score', '--model', model, '--text', text);
      mustEqual(tokens, expected.tokens[i], 'the tokens');
      must(tokens.length >= 200, `the text has only ${tokens.length} tokens`);
      const line = within(gap(logprobs, expected.logprobs[i]), LOG_PROB, 'largest difference');
      return `${line}, ${tokens.length} tokens on ${adapter}`;
    });
    await check(`score: text ${i + 1} in f16 as in PyTorch`, async () => {
      const half = ['--precision', 'f16'];
      const { tokens, logprobs, precision } = await dream('score', '--model', model, '--text', text, ...half);
      mustEqual(tokens, expected.tokens[i], 'the tokens');
      must(precision === 'f16', `the cache was in ${precision}`);
      return within(gap(logprobs, expected.logprobs[i]), LOG_PROB_HALF, 'largest difference');
    });
  }
}

/** The model as a q4 file of onnxruntime-genai's exporter. @param {string} model @param {Check} check */
export async function onnxChecks(model, check) {
  if (!(await prepareOnnx())) return;
  const built = folder('onnx-q4');
  const [plain, out] = [join(folder('oracle'), 'score.json'), join(folder('oracle'), 'onnx.json')];
  await oracle('score.py', [model, textsFile, plain], plain, [textsFile, model]);
  await oracle('onnx_q4.py', [model, textsFile, built, out], out, [textsFile, model]);
  const [expected, unquantised] = [readJson(out), readJson(plain).logprobs[0]];
  await check('onnx: a q4 file as in onnxruntime, and as through the GGUF up to quantisation', async () => {
    const score = async (/** @type {string} */ file) =>
      dream('score', '--model', file, '--floats', 'f32', '--text', texts[0]);
    const [onnx, gguf] = [await score(built), await score(model)];
    mustEqual(onnx.tokens, expected.tokens, 'the tokens');
    const line = within(gap(onnx.logprobs, expected.logprobs), LOG_PROB, 'largest difference');
    // Between the two files lies what the second rounding of the weights costs: by as much they differ in PyTorch.
    const cost = (/** @type {number[]} */ a, /** @type {number[]} */ b) => a.map((value, i) => value - b[i]);
    const [ours, theirs] = [cost(onnx.logprobs, gguf.logprobs), cost(expected.pytorch, unquantised)];
    const beyond = within(gap(ours, theirs), LOG_PROB, 'between the files, beyond quantisation');
    const mean = ours.reduce((sum, value) => sum + Math.abs(value), 0) / ours.length;
    return `${line}, ${onnx.tokens.length} tokens; ${beyond}; quantisation itself costs ${mean.toFixed(2)} nats a token`;
  });
}

/** Greedy continuations, alone and together. @param {string} model @param {Check} check */
export async function generateChecks(model, check) {
  const request = join(folder('oracle'), 'prompts.json');
  const out = join(folder('oracle'), 'generate.json');
  writeJson(request, { prompts, maxTokens: NEW_TOKENS });
  await oracle('generate.py', [model, request, out], out, [textsFile, model]);
  const expected = readJson(out).results;
  const settings = ['--greedy', '--ignore-end', '--max-tokens', String(NEW_TOKENS)];
  /** @type {number[][]} */
  const alone = [];
  for (const [i, prompt] of prompts.slice(0, ALONE).entries()) {
    await check(`generate: prompt ${i + 1} as in PyTorch`, async () => {
      const { tokens, promptTokens } = await dream('generate', '--model', model, '--prompt', prompt, ...settings);
      alone[i] = tokens;
      must(promptTokens === expected[i].promptTokens.length, `the prompt has ${promptTokens} tokens`);
      must(tokens.length === NEW_TOKENS, `${tokens.length} tokens were generated`);
      const lead = `PyTorch's smallest lead of a token over the next was ${expected[i].margin.toFixed(4)}`;
      mustEqual(tokens, expected[i].tokens, `${lead}; the tokens`);
      return `${tokens.length} tokens, ${lead}`;
    });
  }
  await check(`generate: a batch of ${prompts.length} ragged prompts as each alone`, async () => {
    const file = join(folder('asked'), 'prompts.json');
    writeJson(file, prompts);
    const { results } = await dream('generate', '--model', model, '--prompts', file, ...settings);
    must(results.length === prompts.length, `there are ${results.length} results`);
    for (const [i, { tokens }] of results.entries()) mustEqual(tokens, alone[i], `the tokens of prompt ${i + 1}`);
    return `prompts of ${results.map((/** @type {{promptTokens: number}} */ r) => r.promptTokens).join(', ')} tokens`;
  });
  await check('generate: the batch with its cache in f16 as in PyTorch', async () => {
    const file = join(folder('asked'), 'prompts.json');
    writeJson(file, prompts);
    const half = [...settings, '--precision', 'f16'];
    const { results, precision } = await dream('generate', '--model', model, '--prompts', file, ...half);
    must(precision === 'f16', `the cache was in ${precision}`);
    for (const [i, { tokens }] of results.entries())
      mustEqual(tokens, expected[i].tokens, `the tokens of prompt ${i + 1}`);
    return `${results.length} prompts, ${NEW_TOKENS} tokens each`;
  });
}

/** Gradients, steps, and the exported adapter in peft and llama.cpp. @param {string} model @param {Check} check */
export async function loraChecks(model, check) {
  const known = folder('oracle/lora');
  const caseFile = join(known, 'case.json');
  await oracle('lora.py', ['prepare', model, textsFile, known], join(known, 'expected.json'), [textsFile, model]);
  const expected = readJson(join(known, 'expected.json'));
  const found = folder('found');
  const [gradients, exported] = [join(found, 'gradients.safetensors'), join(found, 'adapter')];
  /** @type {Promise<any> | null} */
  let asked = null;
  const steps = () => {
    asked ??= dream('lora-gradients', '--model', model, '--case', caseFile, '--out', gradients, '--export', exported);
    return asked;
  };

  await check('lora: gradients of the GRPO loss as by autograd', async () => {
    await steps();
    const out = join(found, 'errors.json');
    await oracle('lora.py', ['compare', join(known, 'gradients.safetensors'), gradients, out], out, [gradients]);
    const errors = Object.entries(/** @type {Record<string, number>} */ (readJson(out)));
    const [name, worst] = errors.reduce((a, b) => (b[1] > a[1] || Number.isNaN(b[1]) ? b : a));
    return `${within(worst, GRADIENT, 'largest relative error')}, of ${errors.length} tensors: ${name}`;
  });
  await check("lora: AdamW steps follow PyTorch's loss", async () => {
    const { losses } = await steps();
    gap(losses, expected.losses);
    const errors = expected.losses.map((/** @type {number} */ loss, /** @type {number} */ i) =>
      Math.abs(losses[i] / loss - 1),
    );
    const line = within(Math.max(...errors), LOSS, 'largest relative difference');
    return `${line}, ${losses.length} steps from ${losses[0].toFixed(4)} to ${losses[losses.length - 1].toFixed(4)}`;
  });

  /** @type {{tokens: number[], logprobs: number[]}[]} */
  const ours = [];
  await check('export: the PEFT folder in peft as in the engine', async () => {
    await steps();
    const out = join(found, 'peft.json');
    await oracle('score.py', [model, textsFile, out, exported], out, [
      textsFile,
      join(exported, 'adapter_model.safetensors'),
    ]);
    const { logprobs } = readJson(out);
    const plain = readJson(join(folder('oracle'), 'score.json')).logprobs;
    let [worst, effect] = [0, 0];
    for (const [i, text] of texts.slice(0, 2).entries()) {
      ours[i] = await dream('score', '--model', model, '--text', text, '--adapter', exported);
      worst = Math.max(worst, gap(ours[i].logprobs, logprobs[i]));
      effect = Math.max(effect, gap(ours[i].logprobs, plain[i]));
    }
    must(effect > 10 * EXPORTED, `the adapter changes nothing that could be seen (${effect})`);
    return `${within(worst, EXPORTED, 'largest difference')}; the adapter changes up to ${effect.toFixed(2)}`;
  });
  if (!(await prepareLlamaCpp())) return;
  await check('export: the GGUF LoRA in llama.cpp as in the engine', async () => {
    must(ours.length === 2, 'the engine did not score with the adapter');
    const f32 = join(folder('models'), 'f32.gguf');
    await oracle('dequantise_gguf.py', [model, f32], f32, [model]);
    const first = ours.map(({ tokens }) => tokens.slice(0, 96));
    const logprobs = await askLlamaCpp(f32, first, join(exported, 'adapter.gguf'));
    const worst = Math.max(...logprobs.map((scores, i) => gap(scores, ours[i].logprobs.slice(0, 96))));
    return within(worst, EXPORTED, 'largest difference');
  });
}
