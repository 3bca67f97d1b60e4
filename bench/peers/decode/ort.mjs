/**
 * @file onnxruntime-web's decoding, as transformers.js drives it: the cache stays on the GPU, the logits come to the CPU, the
 * likeliest token is found there.
 */
import * as ort from 'onnxruntime-web/webgpu';
import { acceptSharedMemory } from '../host/shared-memory.mjs';

/** What onnxruntime asks of an adapter for itself. */
const wishedLimits = /** @type {const} */ ([
  ...['maxBufferSize', 'maxStorageBufferBindingSize', 'maxComputeWorkgroupStorageSize'],
  ...['maxComputeInvocationsPerWorkgroup', 'maxComputeWorkgroupSizeX', 'maxComputeWorkgroupSizeY'],
  ...['maxComputeWorkgroupSizeZ', 'maxComputeWorkgroupsPerDimension', 'maxStorageBuffersPerShaderStage'],
]);

/**
 * @param {import('./rounds.mjs').ModelFile[]} files
 * @param {{subgroups?: boolean}} [options] subgroups: onnxruntime takes them where it can, but with the small ones of software
 *   adapters its attention over prompts of 32 tokens and more is wrong; ours here is shorter.
 * @returns {Promise<import('./rounds.mjs').Contestant>}
 */
export async function prepare(files, { subgroups = false } = {}) {
  const adapter = await navigator.gpu.requestAdapter({ powerPreference: 'high-performance' });
  if (!adapter) throw new Error('There is no adapter.');
  /** @type {Record<string, number>} */
  const requiredLimits = {};
  for (const name of wishedLimits) {
    const value = /** @type {any} */ (adapter.limits)[name];
    if (typeof value === 'number') requiredLimits[name] = value;
  }
  const wished = /** @type {GPUFeatureName[]} */ (subgroups ? ['shader-f16', 'subgroups'] : ['shader-f16']);
  const requiredFeatures = wished.filter((name) => adapter.features.has(name));
  const device = acceptSharedMemory(await adapter.requestDevice({ requiredFeatures, requiredLimits }));

  ort.env.wasm.numThreads = 1;
  ort.env.wasm.wasmBinary = await wasm();
  ort.env.logLevel = 'error';
  /** @param {(name: string) => boolean} wanted */
  const bytes = async (wanted) => {
    const file = files.find(({ name }) => wanted(name));
    if (!file) throw new Error('A file of the model is missing.');
    return { path: file.name, data: new Uint8Array(await file.blob.arrayBuffer()) };
  };
  const config = JSON.parse(new TextDecoder().decode((await bytes((name) => name === 'config.json')).data));
  const kvHeads = config.num_key_value_heads;
  const headDim = config.head_dim;
  const cacheNames = Array.from({ length: config.num_hidden_layers }, (_, l) => [`${l}.key`, `${l}.value`]).flat();
  const graph = await bytes((name) => name.endsWith('.onnx'));
  const session = await ort.InferenceSession.create(graph.data, {
    executionProviders: [/** @type {any} */ ({ name: 'webgpu', device })],
    externalData: [await bytes((name) => name.endsWith('.onnx_data'))],
    preferredOutputLocation: Object.fromEntries(
      cacheNames.map((name) => [`present.${name}`, /** @type {const} */ ('gpu-buffer')]),
    ),
  });

  /** @type {Record<string, ort.Tensor>} */
  let cache = {};
  let length = 0;
  let last = 0;
  const forget = () => {
    for (const tensor of Object.values(cache)) tensor.dispose();
    cache = {};
    for (const name of cacheNames)
      cache[`past_key_values.${name}`] = new ort.Tensor('float32', new Float32Array(0), [1, kvHeads, 0, headDim]);
    length = 0;
  };
  /** @param {readonly number[]} tokens @returns {Promise<number>} */
  const run = async (tokens) => {
    length += tokens.length;
    const ids = new ort.Tensor('int64', BigInt64Array.from(tokens, BigInt), [1, tokens.length]);
    const mask = new ort.Tensor('int64', new BigInt64Array(length).fill(1n), [1, length]);
    const outputs = await session.run({ input_ids: ids, attention_mask: mask, ...cache });
    for (const name of cacheNames) {
      cache[`past_key_values.${name}`].dispose();
      cache[`past_key_values.${name}`] = outputs[`present.${name}`];
    }
    const logits = /** @type {Float32Array} */ (outputs.logits.data);
    const first = logits.length - outputs.logits.dims[2];
    let best = first;
    for (let i = first + 1; i < logits.length; i++) if (logits[i] > logits[best]) best = i;
    last = best - first;
    return last;
  };
  return {
    start(prompt) {
      forget();
      return run(prompt);
    },
    async more(count) {
      const tokens = [];
      while (tokens.length < count) tokens.push(await run([last]));
      return tokens;
    },
  };
}

/** The module's WebAssembly, where the package keeps it. @returns {Promise<ArrayBuffer>} */
async function wasm() {
  const name = 'ort-wasm-simd-threaded.asyncify.wasm';
  if (typeof process === 'undefined')
    return (await fetch(`/bench/peers/node_modules/onnxruntime-web/dist/${name}`)).arrayBuffer();
  const { readFile } = await import('node:fs/promises');
  const bytes = await readFile(new URL(`../node_modules/onnxruntime-web/dist/${name}`, import.meta.url));
  return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
}
