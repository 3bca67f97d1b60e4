/** @file `dream train --model` and `dream eval --model` on Dawn, with small models of random weights made here. */
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readGgufLora, readPeft } from '../../src/models/adapters';
import { parallelEpisodes } from '../../src/models/base-identity';
import { toLlama } from '../../src/models/llama-names';
import { writeSafetensors } from '../../src/models/safetensors';
import { configToJson } from '../../src/nn/config';
import { DecoderModel } from '../../src/nn/decoder-model';
import { initialise } from '../../src/nn/initialise';
import { PolicyLoss } from '../../src/rl/kernels/policy-loss';
import { tokenizerSource } from '../dream/text-household/tokenizers';
import { testGpu } from '../gpu';
import '../nn/patience';
import { resultInTerminal } from './terminal';
import { tinyTextModel as config } from './tiny-text-model';

let root: string;

async function writeModel(name: string, seed: number, template = true): Promise<void> {
  const gpu = await testGpu();
  const model = await new DecoderModel(gpu, config, new PolicyLoss(gpu)).prepare();
  initialise(model, seed);
  const { weights } = await model.exportState(false);
  model.dispose();
  const { tokenizer, tokenizerConfig } = tokenizerSource('chatml');
  if (!template) delete tokenizerConfig.chat_template;
  const folder = join(root, name);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'config.json'), JSON.stringify(configToJson(config)));
  await writeFile(join(folder, 'tokenizer.json'), JSON.stringify(tokenizer));
  await writeFile(join(folder, 'tokenizer_config.json'), JSON.stringify(tokenizerConfig));
  await writeFile(join(folder, 'model.safetensors'), writeSafetensors(toLlama(config, weights)));
}

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'dream-model-'));
  await writeModel('tiny', 1);
  await writeModel('other', 2);
  await writeModel('mute', 1, false);
});

afterAll(() => rm(root, { recursive: true, force: true }));

const dream = (...argv: string[]) => resultInTerminal(argv, { folder: root });

const quick = ['--tasks-per-iteration', '2', '--group-size', '2', '--max-steps', '2', '--eval-tasks', '10'];
const train = ['train', '--seed', '7', '--buffer-capacity', '200', '--context', '4096', ...quick];
const tiny = [...train, '--model', 'tiny', '--run', 'run', '--parallel', '10'];

describe('dream train --model', () => {
  it('dreams an iteration, keeps the adapter alone and exports it', async () => {
    const { code, result, err } = await dream(
      ...tiny,
      '--iterations',
      '1',
      '--adapter-out',
      'adapter',
      '--out',
      'run.json',
      '--warm-start',
      '1',
      '--thought-tokens',
      '4',
      '--precision',
      'f16',
    );
    expect(code, err).toBe(0);
    expect(err).toMatch(/warm start: 1 steps of imitation, loss \d/);
    expect(result).toMatchObject({
      iterations: 1,
      rollouts: 'dream',
      model: {
        label: 'tiny',
        sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
        rank: 8,
        alpha: 16,
        contextLength: 4096,
        parallel: 10,
        precision: 'f16',
        text: { constrain: 'admissible', thoughtTokens: 4, dreamForm: 'guided', warmStart: 1, expertSteps: 0 },
      },
      weightsHash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    // Random weights speak no English, but they are led: every turn is an action, every dreamed answer a sentence.
    expect(result.malformed).toEqual({ actions: [0], answers: [0], lostEpisodes: [0] });
    const record = JSON.parse(await readFile(join(root, 'run.json'), 'utf8'));
    expect(record.model).toEqual(result.model);

    const commit = JSON.parse(await readFile(join(root, 'run', 'run.json'), 'utf8'));
    const names: string[] = commit.policy.tensors.map(({ name }: { name: string }) => name);
    expect(new Set(names)).toEqual(
      new Set(['qkv', 'out', 'gate_up', 'down'].flatMap((part) => ['A', 'B'].map((h) => `layer.0.${part}.lora_${h}`))),
    );

    const files = new Map<string, Uint8Array>();
    for (const name of await readdir(join(root, 'adapter')))
      files.set(name, await readFile(join(root, 'adapter', name)));
    const adapter = readPeft(files, config, result.model.sha256);
    expect(adapter).toMatchObject({ rank: 8, alpha: 16, baseModel: 'tiny' });
    expect(new TextDecoder().decode(files.get('README.md'))).toContain('held-out tasks');
    const gguf = await readGgufLora(await readFile(join(root, 'adapter.gguf')), config);
    expect(gguf.adapter).toMatchObject({ rank: 8, alpha: 16 });
  });

  it('goes on with the settings of its adapter, in the real world if asked, and is evaluated there', async () => {
    const resumed = await dream(...tiny, '--resume', '--iterations', '2', '--rollouts', 'real');
    expect(resumed.code, resumed.err).toBe(0);
    // What a run began with is not done again, and shapes it to its end.
    expect(resumed.err).not.toContain('warm start');
    const text = { thoughtTokens: 4, warmStart: 1 };
    expect(resumed.result).toMatchObject({
      iterations: 2,
      rollouts: 'real',
      model: { rank: 8, precision: 'f16', text },
    });
    const evaluated = await dream('eval', '--model', 'tiny', '--run', 'run', '--tasks', '10', '--max-steps', '1');
    expect(evaluated.code, evaluated.err).toBe(0);
    expect(evaluated.result).toMatchObject({ iteration: 2, weightsHash: resumed.result.weightsHash });
    expect(evaluated.result.model).toEqual(resumed.result.model);
  });

  it('refuses another model, in words', async () => {
    const with_ = (model: string) => [...train, '--model', model, '--run', 'run', '--resume'];
    expect((await dream(...with_('other'))).result.error).toMatchObject({ code: 'other-model' });
    expect((await dream(...with_('tiny'), '--rank', '4')).result.error).toMatchObject({ code: 'other-model' });
    const words = ['--constrain', 'none', '--rollouts', 'real', '--max-steps', '1'];
    const free = await dream(...tiny, '--run', 'free', '--iterations', '1', ...words);
    expect(free.result.malformed.actions[0], free.err).toBeGreaterThan(0);
    const short = await dream(...train, '--model', 'tiny', '--run', 'short', '--context', '512');
    expect(short.result.error).toMatchObject({ code: 'context-too-short' });
    const mute = await dream(...train, '--model', 'mute');
    expect(mute.result.error).toMatchObject({ code: 'no-chat-template' });
    expect((await dream(...train, '--model', 'tiny', '--rank', '6')).result.error.code).toBe('bad-model-config');
    expect((await dream(...train, '--model', 'nowhere')).code).toBe(1);
    for (const option of [
      ['--rank', '8'],
      ['--parallel', '2'],
      ['--adapter-out', 'x'],
      ['--warm-start', '1'],
      ['--constrain', 'none'],
    ])
      expect(await dream(...train, ...option)).toMatchObject({ code: 2, result: { error: { code: 'bad-option' } } });
  });
});

it('as many episodes generate together as two gibibytes of caches hold', () => {
  const limits = { maxBufferSize: 2 ** 30, maxStorageBufferBindingSize: 2 ** 27 };
  expect(parallelEpisodes({ limits }, config)).toBe(128);
  const smol = { ...config, layers: 30, kvHeads: 3, headDim: 64, contextLength: 2048 };
  expect(parallelEpisodes({ limits }, smol)).toBe(11);
  expect(parallelEpisodes({ limits }, smol, 'f16')).toBe(22);
  // One layer's cache must fit into one binding.
  expect(parallelEpisodes({ limits }, { ...smol, layers: 2, contextLength: 8192 })).toBe(10);
  expect(parallelEpisodes({ limits }, { ...smol, layers: 80, kvHeads: 64, headDim: 128 })).toBe(1);
});
