/**
 * @file Our engine beside its peers, on the same adapter in the same run:
 *
 *   node bench/peers/run.mjs [--only ours,jax,tfjs,ort] [--model FILE] [--host dawn|chromium] [--size full|tiny]
 *                            [--seconds N] [--out FILE]
 *
 * 1. A training step (forward, backward, AdamW) of one float32 transformer: ours, jax-js, tfjs. The losses must agree, or the
 *    comparison is void.
 * 2. With --model (SmolLM2-135M as GGUF): decoding at batch 1, ours on the GGUF, onnxruntime-web on the same weights as ONNX.
 *
 * The peers are packages of their own (bench/peers/package.json), installed on first use.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { install } from '../../scripts/install.mjs';
import { root, run, runNode, say } from '../../scripts/run.mjs';
import { judgeLosses } from './step/judge.mjs';
import { optimizer, shapes } from './step/problem.mjs';

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    model: { type: 'string' },
    host: { type: 'string', default: 'dawn' },
    size: { type: 'string', default: 'full' },
    seconds: { type: 'string', default: '20' },
    out: { type: 'string' },
  },
});
const names = ['ours', 'jax', 'tfjs', 'ort'];
const only = values.only?.split(',') ?? names;
const unknown = only.find((name) => !names.includes(name));
if (unknown) throw new Error(`--only knows ${names.join(', ')}, not "${unknown}".`);
if (!Object.hasOwn(shapes, values.size)) throw new Error(`--size knows ${Object.keys(shapes).join(', ')}.`);

await install();
await installPeers();
if ((await runNode('node_modules/vite/bin/vite.js', ['build', '--config', 'bench/peers/vite.config.mjs'])) !== 0)
  throw new Error('The contestants could not be built; the messages above say why.');
const build = '.cache/peers/build';
const model = values.model ? await prepareModel(resolve(values.model)) : null;

const host =
  values.host === 'chromium'
    ? await (await import('./host/chromium-host.mjs')).chromiumHost()
    : await (await import('./host/dawn-host.mjs')).dawnHost();
/** @type {Record<string, any>} */
const result = {
  command: `node bench/peers/run.mjs ${process.argv.slice(2).join(' ')}`
    .replace(values.model ?? '\0', 'MODEL.gguf')
    .trim(),
  commit: git('rev-parse', '--short', 'HEAD'),
  uncommittedChanges: git('status', '--porcelain', 'src', 'shaders') !== '',
  date: new Date().toISOString(),
  host: host.name,
  versions: versions(),
};

/** @type {Record<string, any>} */
const steps = {};
for (const name of ['ours', 'jax', 'tfjs'].filter((each) => only.includes(each))) {
  say(`training step: ${name} ...`);
  const module = `${build}/step-${name}.mjs`;
  steps[name] = await host.run({ kind: 'step', module, size: values.size, seconds: Number(values.seconds) });
  const { error, medianMs, tokensPerSecond, adapter } = steps[name];
  result.adapter ??= adapter;
  say(error ? `  ${error}` : `  ${medianMs.toFixed(0)} ms, ${tokensPerSecond.toFixed(0)} tokens/s`);
}
if (Object.keys(steps).length > 0) {
  const judged = judgeLosses(steps);
  result.step = { shape: shapes[values.size], optimizer, ...judged, contestants: steps };
  say(judged.comparable ? `losses agree: ${judged.says}` : `VOID: ${judged.says}`);
}

if (model) {
  /** @type {Record<string, any>} */
  const decodes = {};
  for (const [name, { who, module, files, what }] of Object.entries(model.contestants)) {
    if (!only.includes(who)) continue;
    say(`decoding: ${name} (${what}) ...`);
    decodes[name] = { what, ...(await host.run({ kind: 'decode', module, files, prompt: model.prompt, tokens: 64 })) };
    const { error, tokensPerSecond, promptMs, adapter } = decodes[name];
    result.adapter ??= adapter;
    say(error ? `  ${error}` : `  ${tokensPerSecond.toFixed(2)} tokens/s, prompt ${promptMs} ms`);
  }
  result.decode = { batch: 1, promptTokens: model.prompt.length, tokens: 64, contestants: decodes };
}
await host.close();

const text = `${JSON.stringify(result, null, 1)}\n`;
if (values.out) writeFileSync(values.out, text);
else process.stdout.write(text);
process.exit(result.step && !result.step.comparable ? 1 : 0);

/** `npm ci` here, unless what is installed is what package-lock.json says. */
async function installPeers() {
  const folder = join(root, 'bench/peers');
  const installed = join(folder, 'node_modules/.package-lock.json');
  const lock = join(folder, 'package-lock.json');
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(lock).mtimeMs) return;
  say('peers: installing (npm ci in bench/peers, about 220 MB) ...');
  const code = await run('npm', ['ci', '--no-audit', '--no-fund', '--ignore-scripts', '--prefix', folder], {
    shell: process.platform === 'win32',
  });
  if (code !== 0) throw new Error('The peers could not be installed; npm says why above.');
}

/** The GGUF and its ONNX twin below .cache, where both hosts reach them; who decodes which. @param {string} path */
async function prepareModel(path) {
  const folder = '.cache/peers/model';
  mkdirSync(join(root, folder), { recursive: true });
  const gguf = join(root, folder, 'model.gguf');
  const done = join(root, folder, 'source.json');
  const source = JSON.stringify({ size: statSync(path).size, changed: statSync(path).mtimeMs, writer: 1 });
  if (!existsSync(done) || readFileSync(done, 'utf8') !== source) {
    say('writing the ONNX model ...');
    copyFileSync(path, gguf);
    await (await import('./decode/files.mjs')).writeOnnxModel(
      pathToFileURL(join(root, build, 'write-model.mjs')).href,
      gguf,
      join(root, folder),
    );
    writeFileSync(done, source);
  }
  const onnx = (/** @type {string} */ graph) =>
    ['config.json', 'model.onnx_data', graph].map((name) => `${folder}/${name}`);
  const ort = { who: 'ort', module: 'bench/peers/decode/ort.mjs' };
  const ours = { who: 'ours', module: `${build}/decode-ours.mjs` };
  return {
    // "The capital of France is Paris. The capital of Germany is Berlin. The capital" in SmolLM2's tokens.
    prompt: [504, 3575, 282, 4649, 314, 7042, 30, 378, 3575, 282, 5446, 314, 10978, 30, 378, 3575],
    contestants: {
      'ours-gguf': { ...ours, files: [`${folder}/model.gguf`], what: 'our engine, the GGUF' },
      ort: { ...ort, files: onnx('model_q4.onnx'), what: 'onnxruntime-web, q4 as published' },
      'ort-level4': { ...ort, files: onnx('model_q4_level4.onnx'), what: 'onnxruntime-web, q4, accuracy_level 4' },
      'ours-onnx': { ...ours, files: onnx('model_q4.onnx'), what: "our engine, onnxruntime's file" },
    },
  };
}

function versions() {
  const version = (/** @type {string} */ path) =>
    JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8')).version;
  return {
    '@jax-js/jax': version('bench/peers/node_modules/@jax-js/jax'),
    '@tensorflow/tfjs-core': version('bench/peers/node_modules/@tensorflow/tfjs-core'),
    '@tensorflow/tfjs-backend-webgpu': version('bench/peers/node_modules/@tensorflow/tfjs-backend-webgpu'),
    'onnxruntime-web': version('bench/peers/node_modules/onnxruntime-web'),
    webgpu: version('node_modules/webgpu'),
  };
}

/** @param {string[]} args */
function git(...args) {
  try {
    return execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
  } catch {
    return 'unknown';
  }
}
