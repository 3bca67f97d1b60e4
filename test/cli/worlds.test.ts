/** @file `dream train --env` and `dream eval --env` on Dawn, with a small model of random weights: transfer, memories, dreams. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { main } from '../../src/cli/main';
import { toLlama } from '../../src/models/llama-names';
import { writeSafetensors } from '../../src/models/safetensors';
import { configToJson, type DecoderConfig } from '../../src/nn/config';
import { DecoderModel } from '../../src/nn/decoder-model';
import { initialise } from '../../src/nn/initialise';
import { PolicyLoss } from '../../src/rl/kernels/policy-loss';
import { tokenizerSource } from '../dream/text-household/tokenizers';
import { testGpu } from '../gpu';
import '../nn/patience';
import { tinyTextModel } from './tiny-text-model';

const config: DecoderConfig = { ...tinyTextModel, contextLength: 8192 };

let root: string;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'dream-worlds-'));
  const gpu = await testGpu();
  const model = await new DecoderModel(gpu, config, new PolicyLoss(gpu)).prepare();
  initialise(model, 1);
  const { weights } = await model.exportState(false);
  model.dispose();
  const { tokenizer, tokenizerConfig } = tokenizerSource('chatml');
  await mkdir(join(root, 'tiny'));
  await writeFile(join(root, 'tiny', 'config.json'), JSON.stringify(configToJson(config)));
  await writeFile(join(root, 'tiny', 'tokenizer.json'), JSON.stringify(tokenizer));
  await writeFile(join(root, 'tiny', 'tokenizer_config.json'), JSON.stringify(tokenizerConfig));
  await writeFile(join(root, 'tiny', 'model.safetensors'), writeSafetensors(toLlama(config, weights)));
});

afterAll(() => rm(root, { recursive: true, force: true }));

async function dream(...argv: string[]) {
  const out: string[] = [];
  const err: string[] = [];
  const code = await main([...argv, '--json'], {
    stdout: { write: (text) => out.push(text) },
    stderr: { write: (text) => err.push(text) },
    root,
    folder: root,
    onInterrupt: () => {},
  });
  return { code, err: err.join(''), result: JSON.parse(out.join('').trim().split('\n').at(-1) ?? '') };
}

const quick = [
  ...['--model', 'tiny', '--seed', '7', '--iterations', '1', '--tasks-per-iteration', '1', '--group-size', '2'],
  ...['--max-steps', '1', '--eval-tasks', '10', '--buffer-capacity', '100', '--kl-coef', '0', '--lambda', '0'],
  ...['--context', '5120', '--parallel', '10', '--thought-tokens', '2'],
];
const exam = ['--model', 'tiny', '--tasks', '10', '--max-steps', '1'];

/** A shop episode as WebShop's harnesses log it, in a shop of somebody else. */
const shopping = JSON.stringify({
  conversations: [
    { from: 'human', loss: null, value: 'You are web shopping.' },
    { from: 'gpt', loss: false, value: 'Ok.' },
    {
      from: 'human',
      loss: null,
      value: 'WebShop [SEP] Instruction: [SEP] Find me a lamp, and price lower than 30.00 dollars [SEP] Search',
    },
    { from: 'gpt', loss: true, value: 'Thought:\nI search.\n\nAction:\nsearch[lamp]' },
    {
      from: 'human',
      loss: null,
      value:
        'Instruction: [SEP] Find me a lamp, and price lower than 30.00 dollars [SEP] Back to Search [SEP] Page 1 (Total results: 1) [SEP] Next > [SEP] B00LAMP001 [SEP] A lamp [SEP] $12.99',
    },
    { from: 'gpt', loss: true, value: 'Thought:\nI open it.\n\nAction:\nclick[b00lamp001]' },
    {
      from: 'human',
      loss: null,
      value: 'Instruction: [SEP] Find me a lamp [SEP] Back to Search [SEP] < Prev [SEP] A lamp',
    },
    { from: 'gpt', loss: true, value: 'Thought:\nI buy it.\n\nAction:\nclick[buy now]' },
  ],
  item_id: 'webshop_1',
});

describe('train --env shop', () => {
  it('dreams, learns and is examined there, with memories that were brought', async () => {
    await writeFile(join(root, 'logs.json'), `[${shopping}]`);
    const imported = await dream('import', 'logs.json', '--out', 'memories.jsonl');
    expect(imported.result, imported.err).toMatchObject({ episodes: 1 });
    const options = ['--env', 'shop', ...quick, '--run', 'shop', '--warm-start', '1'];
    const trained = await dream('train', ...options, '--memories', 'memories.jsonl', '--adapter-out', 'adapter');
    expect(trained.code, trained.err).toBe(0);
    expect(trained.err).toMatch(/warm start: 1 steps of imitation, loss \d/);
    expect(trained.result).toMatchObject({
      env: 'shop',
      memories: expect.any(Number),
      model: { world: 'shop' },
      malformed: { actions: [0], answers: [0], lostEpisodes: [0] },
      realSuccess: { before: { episodes: 10 }, after: { episodes: 10 } },
    });
    expect(trained.result.memories).toBeGreaterThan(0);
    const run = await readFile(join(root, 'shop', 'run.json'), 'utf8');
    expect(JSON.parse(run).model.world).toBe('shop');
    expect(await readFile(join(root, 'adapter', 'README.md'), 'utf8')).toContain('| world | shop |');
  });

  it('what was trained there can be examined elsewhere, as a run and as an adapter', async () => {
    const there = await dream('eval', ...exam, '--run', 'shop');
    expect(there.result, there.err).toMatchObject({ env: 'shop', trainedOn: 'shop', examinedIn: 'real world' });
    const moved = await dream('eval', ...exam, '--run', 'shop', '--env', 'web');
    expect(moved.result, moved.err).toMatchObject({ env: 'web', trainedOn: 'shop', realSuccess: { episodes: 10 } });
    expect(moved.result.weightsHash).toBe(there.result.weightsHash);
    const adapter = await dream('eval', ...exam, '--context', '5120', '--adapter', 'adapter', '--env', 'household');
    expect(adapter.result, adapter.err).toMatchObject({ env: 'household', trainedOn: 'shop' });
    expect(adapter.result.weightsHash).toBe(there.result.weightsHash);
  });

  it('refuses what makes no sense', async () => {
    const code = async (...argv: string[]) => (await dream(...argv)).result.error.code;
    expect(await code('train', '--env', 'shop')).toBe('bad-option');
    expect(await code('train', '--env', 'shopp', ...quick)).toBe('bad-value');
    expect(await code('train', ...quick, '--run', 'shop', '--resume')).toBe('other-world');
    expect(await code('train', '--env', 'web', ...quick, '--run', 'w', '--memories', 'memories.jsonl')).toBe(
      'no-memories',
    );
    expect(await code('train', '--env', 'shop', ...quick, '--run', 'h', '--head-start', '2')).toBe('world-setting');
    expect(await code('eval', ...exam, '--run', 'shop', '--adapter', 'adapter')).toBe('bad-option');
    expect(await code('eval', '--adapter', 'adapter')).toBe('bad-option');
  });
});

it('a world without code is dreamed, and examined in the dream', async () => {
  const definition = {
    ...{ format: 'dreamed-world', version: 1, name: 'doors', systemPrompt: 'A corridor with doors.' },
    actions: ['open door <number>', 'wait'],
    tasks: [{ instruction: 'open door 2', firstObservation: 'a corridor' }],
    transitions: [{ state: 'a corridor', action: 'wait', nextState: 'a corridor' }],
  };
  await writeFile(join(root, 'doors.json'), JSON.stringify(definition));
  const trained = await dream('train', '--env', 'doors.json', ...quick, '--run', 'doors');
  expect(trained.code, trained.err).toBe(0);
  expect(trained.result).toMatchObject({ env: 'doors', realSuccess: null, rewardError: null });
  expect(trained.result.dreamedSuccess.after.episodes).toBe(1);
  const examined = await dream('eval', ...exam, '--run', 'doors', '--env', 'doors.json');
  expect(examined.result, examined.err).toMatchObject({ env: 'doors', trainedOn: 'doors', examinedIn: 'dream' });
  expect(await dream('train', '--env', 'doors.json', ...quick, '--run', 'd', '--rollouts', 'real')).toMatchObject({
    result: { error: { code: 'no-real-world' } },
  });
});
