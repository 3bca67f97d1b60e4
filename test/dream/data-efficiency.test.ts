import { describe, expect, it } from 'vitest';
import { type EfficiencyRequest, efficiencyPoint, offlineData, upTo } from '../../src/dream/data-efficiency';
import { experienceEpisodes } from '../../src/dream/offline';
import { Belief, experienceAnswer, experienceThought, failureObservation } from '../../src/dream/transcripts';
import { parseInstruction } from '../../src/envs/household';
import { householdTokenizer } from '../../src/models/household-vocabulary';
import type { LanguageModel, Sessions, TrainSequence } from '../../src/nn/language-model';

describe('data efficiency of the experience model', () => {
  it('takes whole episodes up to the number asked for, fewer rooms for fewer', () => {
    for (const asked of [50, 300, 1000]) {
      const { sequences, transitions, rooms } = offlineData(asked, 3);
      expect(transitions).toBeGreaterThanOrEqual(asked);
      // The last episode is not cut, and none has more than 16 steps.
      expect(transitions).toBeLessThan(asked + 16);
      expect(rooms).toBe(Math.ceil(asked / 40));
      expect(sequences.length).toBeGreaterThan(asked / 16);
    }
    expect(offlineData(300, 3)).toEqual(offlineData(300, 3));
    expect(offlineData(300, 3).sequences).not.toEqual(offlineData(300, 4).sequences);
  });

  it('counts the steps that the episodes have', () => {
    const { sequences, transitions } = offlineData(200, 3);
    const rooms = [1, 2, 3, 4, 5];
    const { episodes } = experienceEpisodes('small', { episodes: sequences.length, seed: 3, rooms });
    const steps = episodes.reduce((sum, { steps }) => sum + steps.length, 0);
    expect(transitions).toBe(steps);
  });

  it('stops at once where nothing is wanted', () => {
    expect(upTo(0, offlineData(50, 1).sequences)).toEqual([]);
  });

  it('trains for the budget and reports what the held-out questions show', async () => {
    const tokenizer = householdTokenizer('small');
    const trained: TrainSequence[][] = [];
    // Answers "nothing happens" to everything, with the right form.
    const goal = parseInstruction('put a cup in cabinet')!;
    const thought = experienceThought(new Belief('room cabinet 1'), goal, '');
    const refusal = experienceAnswer(tokenizer, thought, failureObservation, 0).tokens;
    const model = {
      async trainStep(batch: readonly TrainSequence[]) {
        trained.push([...batch]);
        return { loss: 2, gradNorm: 1, entropy: 0, kl: 0, clipFraction: 0, logProbGap: 0, tokens: 1, applied: true };
      },
      sessions: (count: number): Sessions => ({
        count,
        contextLength: 640,
        length: () => 0,
        append() {},
        generate: async (streams) => streams.map(() => ({ tokens: refusal, logProbs: [], stopped: true })),
        copy: async () => {},
        clear() {},
        dispose() {},
      }),
    } as unknown as LanguageModel;
    const request: EfficiencyRequest = {
      transitions: 60,
      updates: 20,
      tokensPerUpdate: 400,
      learningRate: 1e-3,
      seed: 1,
      cases: 40,
    };
    const said: string[] = [];
    const point = await efficiencyPoint(model, request, (_, detail) => {
      said.push(detail);
    });
    expect(trained).toHaveLength(20);
    for (const batch of trained) {
      expect(batch.reduce((sum, one) => sum + one.tokens.length, 0)).toBeGreaterThanOrEqual(400);
      const weight = batch.flatMap((one) => [...(one.weights as Float32Array)]).reduce((a, b) => a + b, 0);
      expect(weight).toBeCloseTo(1, 4);
    }
    expect(point).toMatchObject({ loss: 2, trueSuccesses: 0, falseSuccesses: 0, rooms: 2 });
    expect(point.fidelity.cases).toBe(40);
    expect(point.rewardAccuracy).toBe(point.fidelity.reward.right / 40);
    expect(point.trainedTokens).toBeGreaterThanOrEqual(8000);
    expect(said.at(-1)).toMatch(/unseen rooms/);
  });
});
