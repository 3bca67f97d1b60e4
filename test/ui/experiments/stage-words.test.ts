import { describe, expect, it } from 'vitest';
import { parseExperiment } from '../../../src/dream/experiment/definition';
import { builtIns } from '../../../src/ui/experiments/built-in';
import { rowWords } from '../../../src/ui/experiments/stage-words';

const wordsOf = (definition: unknown) => {
  const { rows, settings } = parseExperiment(definition);
  return new Map(rows.map((row) => [row.name, rowWords(row, settings)]));
};

describe('what a row does, in words', () => {
  it('says world, algorithm and length of practice, and what is taken away', () => {
    const words = wordsOf(builtIns[0].definition);
    expect(words.get('Warm start')).toBe('The agent as it comes with the page.');
    expect(words.get('GRPO real')).toBe('Practice in the real world: GRPO, 12 iterations.');
    expect(words.get('DreamGym (PPO)')).toBe('Practice in the dream: PPO with a critic, 12 iterations.');
    expect(words.get('DreamGym-S2R')).toContain('the last 2 in the real world');
    expect(words.get('without replay')).toContain('without memories');
    expect(words.get('IWM + DreamGym')).toMatch(/^Learns what follows .* Then: Practice in the dream/);
  });

  it('says other settings by the form’s own labels', () => {
    const words = wordsOf({
      format: 'dreamgym-experiment',
      version: 1,
      name: 'own',
      seeds: [1],
      evaluation: { tasks: 10 },
      rows: [
        {
          name: 'a',
          stages: [{ kind: 'rl', settings: { learningRate: 0.001, goalCheck: false, sampleUnit: 'step' } }],
          planning: { candidates: 4, lookahead: 2 },
        },
      ],
    });
    expect(words.get('a')).toBe(
      'Practice in the dream: GRPO, 50 iterations, learning rate: 0.001, check dreamed successes: off, unit of learning: a single turn. In the test it plans: it weighs 4 actions in the dream, 2 turns ahead, and takes the best.',
    );
  });

  it('has words for every row that comes with the page', () => {
    for (const { definition } of builtIns)
      for (const words of wordsOf(definition).values()) expect(words).toMatch(/^[A-Z].*\.$/);
  });
});
