import { describe, expect, test } from 'vitest';
import { changedConfig, checkConfig, presets, resolveConfig, withAlgorithm } from '../../src/dream/presets';
import { algorithmNames, algorithms } from '../../src/rl/algorithms';

describe('names are settings', () => {
  test.each(algorithmNames)('%s resolves to what its row says', (algorithm) => {
    const config = resolveConfig({ algorithm });
    expect(config).toMatchObject({ ...algorithms[algorithm], algorithm });
    expect(checkConfig(config)).toEqual(config);
  });

  test('grpo is the preset as it always was', () => {
    expect(resolveConfig({ algorithm: 'grpo' })).toEqual(presets['household-tiny']);
    expect(resolveConfig({})).toMatchObject({
      advantage: 'group',
      importanceLevel: 'token',
      dualClip: 3,
      klEstimator: 'k3',
      klPlacement: 'loss',
      epochs: 1,
      resampleRounds: 0,
      maskTruncated: false,
      importanceCorrection: 'off',
    });
  });

  test('what is given counts more than the name', () => {
    const config = resolveConfig({ algorithm: 'dapo', aggregation: 'sequence-mean', resampleRounds: 0 });
    expect(config).toMatchObject({
      algorithm: 'dapo',
      aggregation: 'sequence-mean',
      resampleRounds: 0,
      clipHigh: 0.28,
    });
  });

  test('a configuration of before these settings existed is GRPO', () => {
    const old: Record<string, unknown> = { ...presets['household-quick'] };
    for (const key of Object.keys(old))
      if (['algorithm', 'advantage', 'epochs', 'klPlacement', 'valueClip', 'discount'].includes(key)) delete old[key];
    expect(checkConfig(old)).toEqual(presets['household-quick']);
  });

  test('continuing under another algorithm brings its settings and keeps those of the run’s own', () => {
    const config = resolveConfig({ learningRate: 1e-3 });
    expect(changedConfig(config, { algorithm: 'ppo', gaeLambda: 0.9 })).toMatchObject({
      advantage: 'gae',
      gaeLambda: 0.9,
      aggregation: 'token-mean',
      learningRate: 1e-3,
    });
    expect(changedConfig(config, { iterations: 3 })).toEqual({ ...config, iterations: 3 });
  });

  test('trying another algorithm keeps what was changed by hand, and coming back is coming back', () => {
    const mine = { ...presets['household-tiny'], temperature: 0.7, clipHigh: 0.5 };
    const there = withAlgorithm(mine, 'gspo');
    expect(there).toMatchObject({ temperature: 0.7, clipHigh: 0.5, clipLow: 3e-4, importanceLevel: 'sequence' });
    expect(withAlgorithm(there, 'grpo')).toEqual(mine);
  });

  test.each([
    [{ algorithm: 'a2c' }, /algorithm must be one of grpo/],
    [{ groupSize: 1 }, /groupSize must be at least 2 for the advantage "group"/],
    [{ algorithm: 'rloo', groupSize: 1 }, /leave-one-out/],
    [{ klTarget: 0.1 }, /klCoef must be above 0/],
    [{ gaeLambda: 1.5 }, /gaeLambda must be a number from 0 to 1/],
    [{ epochs: 0 }, /epochs must be a whole number/],
  ])('refuses %j', (settings, message) => {
    expect(() => resolveConfig(settings)).toThrow(expect.objectContaining({ code: 'config-invalid' }));
    expect(() => resolveConfig(settings)).toThrow(message);
  });

  test.each(['ppo', 'reinforce++'])('%s may play each task once', (algorithm) => {
    expect(resolveConfig({ algorithm, groupSize: 1 }).groupSize).toBe(1);
  });
});
