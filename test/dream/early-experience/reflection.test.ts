import { describe, expect, it } from 'vitest';
import type { Branch } from '../../../src/dream/early-experience';
import {
  reflectionLeaks,
  reflectionOf,
  reflectionSequences,
  worldModellingSequences,
} from '../../../src/dream/early-experience';
import { playEpisode } from '../../../src/dream/offline';
import { Belief, policyAnswer, policyPrompt, policyTurn } from '../../../src/dream/transcripts';
import { TRAINING_ROOM_SEEDS } from '../../../src/envs/household';
import { householdTokenizer } from '../../../src/models/household-vocabulary';

const tokenizer = householdTokenizer('small');

function branch(): Branch {
  const play = { size: 'small' as const, seed: 5, rooms: TRAINING_ROOM_SEEDS, mixture: { clumsy: 1 }, maxSteps: 24 };
  const episode = playEpisode(play, 0);
  const { task, steps } = episode;
  const [{ action, observation, reward, valid }] = steps;
  const said = (text: string) => policyAnswer(tokenizer, 'hold nothing object nothing', text);
  return {
    episode,
    turn: 0,
    prefix: [...policyPrompt(tokenizer, task.firstObservation, task.instruction), ...policyTurn(tokenizer)],
    belief: new Belief(task.firstObservation),
    demonstrated: { action, words: said(action), observation, reward, valid },
    alternatives: [
      { action: 'inventory', words: said('inventory'), observation: 'carry nothing', reward: 0, valid: true },
      {
        action: 'take cup 1 from shelf 1',
        words: said('take cup 1 from shelf 1'),
        observation: 'nothing happens',
        reward: 0,
        valid: false,
      },
    ],
  };
}

describe('the embedded model’s reflection', () => {
  it('names an alternative and the fact that speaks against it, then the demonstrated action', () => {
    const text = reflectionOf(branch())!;
    expect(text).toMatch(/^hold nothing object \S+.* no (inventory|take cup 1 from shelf 1)/);
    const [sequence] = reflectionSequences([branch()]);
    const learned = Array.from(sequence.tokens).filter((_, t) => sequence.weights[t] > 0);
    expect(tokenizer.decode(learned)).toContain(branch().demonstrated.action);
  });

  it('is not made where the alternative only might be worse', () => {
    const good = branch();
    good.alternatives = [{ ...good.alternatives[0], action: 'go to shelf 1', valid: true }];
    expect(reflectionOf(good)).toBeNull();
    good.alternatives = [{ ...good.alternatives[1], reward: 1 }];
    expect(reflectionOf(good)).toBeNull();
  });
});

describe('world modelling', () => {
  it('learns the answer of the world and nothing else, with few failures', () => {
    const sequences = worldModellingSequences([branch(), branch()]);
    const said = sequences.map(({ tokens, weights }) =>
      tokenizer.decode(Array.from(tokens).filter((_, t) => weights[t] > 0)),
    );
    expect(said).toContain('carry nothing\n');
    // One failure in six outcomes may stay (30 %, rounded down).
    expect(said.filter((text) => text.startsWith('nothing happens'))).toHaveLength(1);
  });
});

describe('leaks', () => {
  const chosen = { action: 'open drawer 1', outcome: 'You open the drawer 1. In it, you see a cup 1.' };
  it.each([
    ['As an expert would, I open it.', 'verdict-word'],
    ['This is the correct way.', 'verdict-word'],
    ['Action 2 leads nowhere.', 'label'],
    ['Opened, it shows: you open the drawer 1. In it, you see a cup 1.', 'outcome'],
    ['I should look into the drawer. I should look into the drawer.', 'doubled'],
  ])('%s', (text, kind) => {
    expect(reflectionLeaks(text, chosen).map((leak) => leak.kind)).toContain(kind);
  });

  it('are not found where there are none', () => {
    expect(reflectionLeaks('A cup may be in the drawer, so I open drawer 1 rather than look around.', chosen)).toEqual(
      [],
    );
    expect(
      reflectionLeaks('hold nothing object nothing no inventory', { action: 'look', outcome: 'nothing happens' }),
    ).toEqual([]);
  });
});
