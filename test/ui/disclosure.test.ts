/** Which settings are shown: few at first, none that would change nothing, and always what was changed. */
import { describe, expect, it } from 'vitest';
import { baseConfig, presets } from '../../src/dream/presets';
import { algorithmNames } from '../../src/rl/algorithms';
import { disclose, hasEffect } from '../../src/ui/settings/disclosure';
import { fieldOf, type GroupId, groups, type Key } from '../../src/ui/settings/fields';

const none: ReadonlySet<Key> = new Set();
const keys = (fields: readonly { key: Key }[]) => fields.map(({ key }) => key);
const critic: readonly Key[] = ['gaeLambda', 'valueLevel', 'valueClip', 'valueCoef', 'criticLearningRate'];

describe('what a beginner meets', () => {
  it('is at most four settings a group', () => {
    for (const { id } of groups)
      for (const name of algorithmNames)
        expect(disclose(id, baseConfig('household-tiny', name), none).first.length, id).toBeLessThanOrEqual(4);
  });

  it('is the algorithm alone in “The method”, and each algorithm has its sentence', () => {
    expect(keys(disclose('method', presets['household-tiny'], none).first)).toEqual(['algorithm']);
    const field = fieldOf('algorithm');
    if (field?.kind !== 'choice') throw new Error('no choice');
    expect(field.options.map(({ value }) => value)).toEqual(algorithmNames);
    for (const { about } of field.options) expect(about).toMatch(/^[A-Z].*\.$/);
  });
});

describe('what would change nothing', () => {
  it('is hidden: the critic’s settings belong to PPO', () => {
    const grpo = keys(disclose('method', baseConfig('household-tiny', 'grpo'), none).onRequest);
    const ppo = keys(disclose('method', baseConfig('household-tiny', 'ppo'), none).onRequest);
    for (const key of critic) {
      expect(grpo).not.toContain(key);
      expect(ppo).toContain(key);
    }
    expect(grpo).not.toContain('stepWeight');
    expect(keys(disclose('method', baseConfig('household-tiny', 'gigpo'), none).onRequest)).toContain('stepWeight');
  });

  it('appears with the choice it belongs to, and is counted until then', () => {
    const free = presets['household-tiny'];
    const pulled = { ...free, klCoef: 0.01 };
    expect(hasEffect('klPlacement', free)).toBe(false);
    expect(hasEffect('klPlacement', pulled)).toBe(true);
    expect(hasEffect('klHorizon', pulled)).toBe(false);
    expect(hasEffect('klHorizon', { ...pulled, klTarget: 0.02 })).toBe(true);
    const everything = new Set(Object.keys(free) as Key[]);
    const shown = (id: GroupId, changed: ReadonlySet<Key>) => {
      const { first, onRequest } = disclose(id, free, changed);
      return first.length + onRequest.length;
    };
    for (const { id } of groups)
      expect(shown(id, none) + disclose(id, free, none).hidden, id).toBe(shown(id, everything));
  });

  it('is shown nevertheless once it was changed', () => {
    const config = { ...presets['household-tiny'], valueClip: 0.2 };
    expect(keys(disclose('method', config, new Set(['valueClip'])).onRequest)).toContain('valueClip');
    expect(hasEffect('valueClip', config)).toBe(false);
  });
});
