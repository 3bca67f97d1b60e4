/**
 * @file score.mjs PACKAGES MODEL.gguf IN.json OUT.json [ADAPTER.gguf]: log-probabilities of {"tokens": [[...]]} by llama.cpp.
 *
 * PACKAGES is the folder with node_modules/node-llama-cpp. Give it an f32 model (dequantise_gguf.py): with quantised weights
 * llama.cpp also rounds the activations to 8 bits, which is far coarser than what is compared here.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [packages, modelPath, request, out, adapter] = process.argv.slice(2);
const library = join(resolve(packages), 'node_modules/node-llama-cpp/dist/index.js');
const { getLlama, LlamaLogLevel } = await import(pathToFileURL(library).href);
/** @type {{tokens: number[][]}} */
const { tokens: sequences } = JSON.parse(readFileSync(request, 'utf8'));

const llama = await getLlama({ gpu: false, build: 'never', maxThreads: 2, logLevel: LlamaLogLevel.warn });
const model = await llama.loadModel({ modelPath: resolve(modelPath), gpuLayers: 0 });
const context = await model.createContext({
  contextSize: Math.max(...sequences.map((tokens) => tokens.length)) + 8,
  flashAttention: false,
  experimentalKvCacheKeyType: 'F32',
  experimentalKvCacheValueType: 'F32',
  ...(adapter ? { lora: { adapters: [{ filePath: resolve(adapter) }] } } : {}),
});
const sequence = context.getSequence();

const everyToken = { temperature: 1, topK: 0, topP: 1, minP: 0 };
const logprobs = [];
for (const tokens of sequences) {
  await sequence.clearHistory();
  const scores = [0];
  const input = tokens.map((token) => [token, { generateNext: { probabilities: true, options: everyToken } }]);
  await sequence.controlledEvaluate(input, {
    // As they come: the whole vocabulary's probabilities for every token would not fit the memory.
    onTokenResult(/** @type {number} */ index, /** @type {{next: any}} */ { next }) {
      if (index + 1 < tokens.length) scores[index + 1] = Math.log(next.probabilities.get(tokens[index + 1]) ?? 0);
      next.probabilities = undefined;
    },
  });
  logprobs.push(scores);
}
writeFileSync(out, JSON.stringify({ logprobs }));
process.exit(0);
