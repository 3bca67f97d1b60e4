/** @file `dream train` and `dream eval` on Dawn, with a model of random weights in a project folder of its own. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { main } from '../../src/cli/main';
import { householdModelFolder } from '../../src/models/embedded';
import { householdTokenizer } from '../../src/models/household-vocabulary';
import { toLlama } from '../../src/models/llama-names';
import { writeSafetensors } from '../../src/models/safetensors';
import { configToJson } from '../../src/nn/config';
import { DecoderModel } from '../../src/nn/decoder-model';
import { initialise } from '../../src/nn/initialise';
import { PolicyLoss } from '../../src/rl/kernels/policy-loss';
import { testGpu } from '../gpu';

let root: string;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'dream-train-'));
  const gpu = await testGpu();
  const tokenizer = householdTokenizer('small');
  const config = {
    vocabSize: tokenizer.vocabSize,
    width: 16,
    layers: 1,
    heads: 1,
    kvHeads: 1,
    headDim: 16,
    ffn: 16,
    ropeTheta: 10_000,
    normEps: 1e-5,
    contextLength: 256,
  };
  const model = await new DecoderModel(gpu, config, new PolicyLoss(gpu)).prepare();
  initialise(model, 1);
  const { weights } = await model.exportState(false);
  const folder = join(root, 'public', householdModelFolder);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'config.json'), JSON.stringify(configToJson(config)));
  await writeFile(join(folder, 'tokenizer.json'), JSON.stringify(tokenizer.toJSON()));
  await writeFile(join(folder, 'model.safetensors'), writeSafetensors(toLlama(config, weights)));
  model.dispose();
});

afterAll(() => rm(root, { recursive: true, force: true }));

async function dream(argv: string[], interruptAfter = Number.POSITIVE_INFINITY) {
  const out: string[] = [];
  const err: string[] = [];
  let interrupt = () => {};
  const code = await main(argv, {
    stdout: { write: (text) => out.push(text) },
    stderr: {
      write(text) {
        err.push(text);
        if (err.join('').includes(`  ${interruptAfter}  reward`)) interrupt();
      },
    },
    root,
    folder: root,
    onInterrupt: (handler) => {
      interrupt = handler;
    },
  });
  const last = out.join('').trim().split('\n').at(-1) ?? '';
  return { code, err: err.join(''), result: argv.includes('--json') ? JSON.parse(last) : null };
}

const quick = ['--tasks-per-iteration', '2', '--group-size', '2', '--max-steps', '2', '--eval-tasks', '10'];
const train = ['train', '--preset', 'household-quick', '--seed', '7', '--buffer-capacity', '200', '--json', ...quick];

describe('dream train', () => {
  it('ends with the promised JSON, the same every time, and writes the run', async () => {
    const { code, result, err } = await dream([...train, '--iterations', '2', '--out', 'out/run.json']);
    expect(code, err).toBe(0);
    const rate = {
      rate: expect.any(Number),
      low: expect.any(Number),
      high: expect.any(Number),
      episodes: 10,
    };
    expect(result).toMatchObject({
      preset: 'household-quick',
      seed: 7,
      iterations: 2,
      adapter: expect.any(String),
      realTransitions: 0,
      tasksGenerated: expect.any(Number),
      loss: [expect.any(Number), expect.any(Number)],
      realSuccess: { before: { ...rate, lowTemperature: rate }, after: { ...rate, lowTemperature: rate } },
      tokensPerSecond: { generate: expect.any(Number), train: expect.any(Number) },
      weightsHash: expect.stringMatching(/^[0-9a-f]{64}$/),
      seconds: expect.any(Number),
    });
    expect(result).toHaveProperty('dreamedTransitions');
    expect(result).toHaveProperty('rewardError');
    expect(result.bufferSize).toBeGreaterThan(0);
    expect(result.peakGpuBytes).toBeGreaterThan(0);

    const record = JSON.parse(await readFile(join(root, 'out', 'run.json'), 'utf8'));
    expect(record).toMatchObject({ format: 'dreamgym-run', version: 1, weightsHash: result.weightsHash });
    expect(record.metrics).toHaveLength(2);
    expect(record.config.seed).toBe(7);

    const again = await dream([...train, '--iterations', '2', '--run', 'elsewhere']);
    const { seconds: _s, tokensPerSecond: _t, peakGpuBytes: _p, ...rest } = again.result;
    expect(result).toMatchObject(rest);
  });

  it('stopped by Ctrl-C keeps what is finished; --resume goes on', async () => {
    const stopped = await dream([...train, '--iterations', '3', '--run', 'run'], 1);
    expect(stopped.code).toBe(130);
    expect(stopped.err).toContain('--resume');
    expect(stopped.result.iterations).toBe(1);
    const resumed = await dream([...train, '--iterations', '3', '--run', 'run', '--resume']);
    expect(resumed.code).toBe(0);
    expect(resumed.err).toContain('continuing after iteration 1 of 3');
    expect(resumed.result.iterations).toBe(3);

    const other = await dream([...train, '--seed', '8', '--run', 'run', '--resume']);
    expect(other).toMatchObject({ code: 1, result: { error: { code: 'other-run' } } });
    const evaluated = await dream(['eval', '--run', 'run', '--tasks', '10', '--max-steps', '2', '--json']);
    expect(evaluated.result).toMatchObject({ iteration: 3, weightsHash: resumed.result.weightsHash });
  });

  it('refuses what it cannot do with a message that helps', async () => {
    expect((await dream([...train, '--group-size', '0'])).result.error.code).toBe('bad-value');
    // A group of one is something to a critic, and nothing to those who compare within a group.
    expect((await dream([...train, '--group-size', '1'])).result.error.code).toBe('config-invalid');
    expect((await dream(['eval', '--run', 'nowhere', '--json'])).result.error.code).toBe('no-run');
    await writeFile(join(root, 'run', 'run.json'), 'not json');
    expect((await dream([...train, '--run', 'run', '--resume'])).result.error.code).toBe('corrupt-run');
  });
});
