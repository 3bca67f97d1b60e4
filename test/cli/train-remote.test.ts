/** @file `dream train --env URL` and `dream eval --env URL` on Dawn: a small model of random weights, a server on a real socket. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { toLlama } from '../../src/models/llama-names';
import { writeSafetensors } from '../../src/models/safetensors';
import { configToJson } from '../../src/nn/config';
import { DecoderModel } from '../../src/nn/decoder-model';
import { initialise } from '../../src/nn/initialise';
import { PolicyLoss } from '../../src/rl/kernels/policy-loss';
import { tokenizerSource } from '../dream/text-household/tokenizers';
import { mockAgentGym } from '../envs/remote/mock-agentgym';
import { testGpu } from '../gpu';
import '../nn/patience';
import { resultInTerminal } from './terminal';
import { tinyTextModel as config } from './tiny-text-model';

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'dream-remote-'));
  const model = await new DecoderModel(await testGpu(), config, new PolicyLoss(await testGpu())).prepare();
  initialise(model, 1);
  const { weights } = await model.exportState(false);
  model.dispose();
  const { tokenizer, tokenizerConfig } = tokenizerSource('chatml');
  const folder = join(root, 'tiny');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'config.json'), JSON.stringify(configToJson(config)));
  await writeFile(join(folder, 'tokenizer.json'), JSON.stringify(tokenizer));
  await writeFile(join(folder, 'tokenizer_config.json'), JSON.stringify(tokenizerConfig));
  await writeFile(join(folder, 'model.safetensors'), writeSafetensors(toLlama(config, weights)));
});
afterAll(() => rm(root, { recursive: true, force: true }));

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

async function server() {
  const mock = await mockAgentGym('alfworld');
  ends.push(() => mock.close());
  return mock;
}

const dream = (...argv: string[]) => resultInTerminal(argv, { folder: root });
const model = ['--model', 'tiny', '--context', '4096', '--thought-tokens', '2'];

describe('a server’s world', () => {
  it('is trained in for real, in waves of its sessions, and examined in', async () => {
    const mock = await server();
    const env = ['--env', mock.url, '--dialect', 'alfworld', '--remote-tasks', '0-9', '--sessions', '2'];
    const size = ['--tasks-per-iteration', '2', '--group-size', '2', '--max-steps', '2', '--eval-tasks', '10'];
    const args = ['train', ...env, ...model, ...size, '--iterations', '1', '--seed', '7', '--run', 'run'];
    const { code, result, err } = await dream(...args, '--rollouts', 'real');
    expect(err).toContain('agentgym-alfworld: 8 tasks to train on, 2 held out, 2 at once');
    expect(code).toBe(0);
    expect(result).toMatchObject({
      env: 'agentgym-alfworld',
      rollouts: 'real',
      dreamedTransitions: 0,
      tasksGenerated: 0,
      malformed: { actions: [0], lostEpisodes: [0] },
      realSuccess: { after: { episodes: 2 } },
    });
    expect(result.realTransitions).toBeGreaterThanOrEqual(4);
    // ALFWorld's server cannot close sessions: no more than were asked for are ever made.
    expect(mock.sessions.size).toBe(2);

    const examined = await dream(
      'eval',
      ...env,
      '--model',
      'tiny',
      '--run',
      'run',
      '--max-steps',
      '2',
      '--tasks',
      '10',
    );
    expect(examined.result).toMatchObject({
      trainedOn: 'agentgym-alfworld',
      examinedIn: 'real world',
      realSuccess: { episodes: 2 },
    });
  });

  it('is not dreamed of unless described; what goes with a server goes with nothing else', async () => {
    const mock = await server();
    const env = ['--env', mock.url, '--dialect', 'alfworld'];
    const undreamed = await dream('train', ...env, '--remote-tasks', '0-9', ...model, '--run', 'undreamed');
    expect([undreamed.code, undreamed.result.error]).toMatchObject([1, { code: 'no-dream' }]);
    expect(mock.asked).toHaveLength(0);
    const vague = await dream('train', ...env, ...model, '--run', 'vague');
    expect([vague.code, vague.result.error]).toMatchObject([2, { code: 'bad-option' }]);
    const astray = await dream('train', '--sessions', '2', '--run', 'astray');
    expect([astray.code, astray.result.error]).toMatchObject([2, { code: 'bad-option' }]);
    const bare = await dream('train', ...env, '--remote-tasks', '0-9', '--run', 'bare');
    expect([bare.code, bare.result.error]).toMatchObject([2, { code: 'bad-option' }]);
  });
});
