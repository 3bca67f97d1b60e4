/**
 * @file Our engine beside its peers, on the same adapter in the same run:
 *
 *   node bench/peers/run.mjs [--only ours,jax,tfjs,ort] [--model FILE] [--host dawn|chromium] [--size full|tiny]
 *                            [--rounds N] [--out FILE]
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
    rounds: { type: 'string' },
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
  command: commandLine(),
  commit: git('rev-parse', '--short', 'HEAD'),
  uncommittedChanges: git('status', '--porcelain', 'src', 'shaders') !== '',
  date: new Date().toISOString(),
  host: host.name,
  versions: versions(),
};

const wanted = (/** @type {string} */ who) => only.includes(who);
// --only ours,ort with a model asks for decoding alone.
if (wanted('jax') || wanted('tfjs') || (wanted('ours') && !model)) {
  const tasks = Object.fromEntries(
    ['ours', 'jax', 'tfjs']
      .filter(wanted)
      .map((name) => [name, { kind: 'step', module: `${build}/step-${name}.mjs`, size: values.size }]),
  );
  const shape = shapes[values.size];
  const contestants = await alternate('training step', host, tasks, Number(values.rounds ?? 9));
  for (const each of Object.values(contestants)) {
    each.losses?.push(...each.rounds.map((/** @type {any} */ { loss }) => loss));
    if (each.medianMs) each.tokensPerSecond = (shape.batch * shape.length * 1000) / each.medianMs;
    delete each.rounds;
  }
  const judged = judgeLosses(contestants);
  result.step = { shape, optimizer, ...judged, contestants };
  say(judged.comparable ? `losses agree: ${judged.says}` : `VOID: ${judged.says}`);
}

if (model) {
  const tasks = Object.fromEntries(
    Object.entries(model.contestants)
      .filter(([, { who }]) => wanted(who))
      .map(([name, { who, what, ...rest }]) => [name, { kind: 'decode', ...rest, prompt: model.prompt, tokens: 64 }]),
  );
  const contestants = await alternate('decoding', host, tasks, Number(values.rounds ?? 3));
  for (const [name, each] of Object.entries(contestants)) {
    each.what = model.contestants[/** @type {keyof typeof model.contestants} */ (name)].what;
    each.drawn = each.rounds?.at(-1)?.drawn;
    each.promptMs = median(each.rounds?.map((/** @type {any} */ { promptMs }) => promptMs) ?? []);
    if (each.medianMs) each.tokensPerSecond = (64 * 1000) / each.medianMs;
    delete each.rounds;
  }
  result.decode = { batch: 1, promptTokens: model.prompt.length, tokens: 64, contestants };
}
await host.close();

result.adapter = adapterOf(result);
const text = `${JSON.stringify(result, null, 1)}\n`;
if (values.out) writeFileSync(values.out, text);
else process.stdout.write(text);
process.exit(result.step && !result.step.comparable ? 1 : 0);

/**
 * All contestants warm, then rounds in turn.
 * @param {string} title @param {import('./host/dawn-host.mjs').Host} host @param {Record<string, object>} tasks @param {number} rounds
 * @returns {Promise<Record<string, any>>} By name: what warming up showed, `rounds` and their `medianMs`; or `error`.
 */
async function alternate(title, host, tasks, rounds) {
  /** @type {[string, import('./host/dawn-host.mjs').Runner][]} */
  const runners = [];
  /** @type {Record<string, any>} */
  const results = {};
  for (const [name, task] of Object.entries(tasks)) {
    const runner = await host.open(task);
    results[name] = { ...runner.first, rounds: [] };
    say(`${title}: ${name}: ${runner.first.error ?? `warm after ${(runner.first.warmUpMs / 1000).toFixed(1)} s`}`);
    if (runner.first.error) await runner.close();
    else runners.push([name, runner]);
  }
  for (let round = 0; round < rounds; round++) {
    for (const [name, runner] of runners) {
      const taken = await runner.round();
      if (taken.error) results[name].error = taken.error;
      else results[name].rounds.push(taken);
    }
    const last = runners.map(([name]) => `${name} ${results[name].rounds.at(-1)?.ms.toFixed(0)}`);
    say(`${title}, round ${round + 1} of ${rounds}, ms: ${last.join(', ')}`);
  }
  for (const [name, runner] of runners) {
    results[name].timesMs = results[name].rounds.map((/** @type {{ms: number}} */ { ms }) => Math.round(ms * 10) / 10);
    results[name].medianMs = median(results[name].timesMs);
    await runner.close();
  }
  return results;
}

/** @param {number[]} list */
function median(list) {
  return [...list].sort((a, b) => a - b)[list.length >> 1];
}

/** @param {Record<string, any>} result */
function adapterOf({ step, decode }) {
  return [step, decode].flatMap((part) => Object.values(part?.contestants ?? {})).find(({ adapter }) => adapter)
    ?.adapter;
}

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
    prompt: [504, 3575, 282, 4649, 314, 7042, 30, 378, 3575, 282, 4521, 314, 11452, 30, 378, 3575],
    contestants: {
      'ours-gguf': { ...ours, files: [`${folder}/model.gguf`], what: 'our engine, the GGUF' },
      'ours-onnx': { ...ours, files: onnx('model_q4.onnx'), what: "our engine, onnxruntime's file" },
      ort: { ...ort, files: onnx('model_q4.onnx'), what: 'onnxruntime-web, q4 as published' },
      'ort-level4': {
        ...ort,
        files: onnx('model_q4_level4.onnx'),
        what: 'onnxruntime-web, products in 8-bit integers (accuracy_level 4)',
      },
      'ort-subgroups': {
        ...{ ...ort, files: onnx('model_q4.onnx'), options: { subgroups: true } },
        what: 'onnxruntime-web, with subgroups',
      },
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

/** Where the model lies and the result goes is this machine's business. */
function commandLine() {
  const given = process.argv.slice(2).map((word) => (word === values.model ? 'MODEL.gguf' : word));
  const out = given.indexOf('--out');
  if (out >= 0) given.splice(out, 2);
  return ['node bench/peers/run.mjs', ...given].join(' ');
}

/** @param {string[]} args */
function git(...args) {
  try {
    return execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
  } catch {
    return 'unknown';
  }
}
