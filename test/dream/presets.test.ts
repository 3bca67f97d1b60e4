import { describe, expect, it } from 'vitest';
import { checkConfig, presets, resolveConfig } from '../../src/dream/presets';

describe('presets', () => {
  it('are valid themselves', () => {
    for (const preset of Object.values(presets)) expect(checkConfig(preset)).toEqual(preset);
  });

  it('fill what was not given', () => {
    const config = resolveConfig({ preset: 'household-quick', seed: 7, lambda: undefined });
    expect(config).toEqual({ ...presets['household-quick'], seed: 7 });
  });

  it.each([
    [{ iterations: 0 }, 'iterations must be a whole number from 1 to 1000'],
    [{ groupSize: 1 }, 'groupSize must be'],
    [{ seed: 1.5 }, 'seed must be a whole number'],
    [{ learningRate: Number.NaN }, 'learningRate must be a number'],
    [{ learningRate: '3e-4' }, 'learningRate must be a number'],
    [{ rollouts: 'both' }, 'rollouts must be one of dream, real'],
    [{ preset: 'toString' }, 'preset must be one of'],
    [{ tempature: 1 }, '"tempature" is not a setting'],
    [null, 'must be an object'],
    [[1], 'must be an object'],
  ])('refuse %j by name', (settings, message) => {
    try {
      resolveConfig(settings);
      expect.unreachable();
    } catch (error) {
      expect(error).toMatchObject({ code: 'config-invalid' });
      expect((error as Error).message).toContain(message);
    }
  });

  it('report every problem at once, and missing settings in files', () => {
    const { seed: _, ...partial } = presets['household-tiny'];
    expect(() => checkConfig({ ...partial, clipLow: 2 })).toThrow(/seed is missing.*|clipLow must be.*/);
    expect(() => checkConfig({ ...partial, clipLow: 2 })).toThrow(/clipLow must be/);
  });
});
