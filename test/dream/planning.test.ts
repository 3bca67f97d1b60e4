import { describe, expect, it } from 'vitest';
import { type PlanningRequest, playPlanned } from '../../src/dream/planning';
import { ReplayBuffer } from '../../src/dream/replay-buffer';
import { cpuTopK } from './cpu-top-k';
import { KnowingModel, type Manners, TableModel } from './fake-models';
import { encode, fakeDomain, task } from './fake-world';

function plan(changes: Partial<PlanningRequest> = {}, manners: Manners = {}) {
  const domain = {
    ...fakeDomain(),
    told: (_task: unknown, _first: string, _turns: unknown, step: { observation: string; reward: number }) =>
      encode(`${step.observation} r${step.reward}`),
  };
  return playPlanned({
    policy: new TableModel(),
    dream: {
      model: new KnowingModel(manners),
      buffer: new ReplayBuffer(10),
      topK: cpuTopK,
      retrievalTopK: 0,
      temperature: 1,
      goalCheck: false,
      stepCheck: false,
    },
    domain,
    tasks: Array.from({ length: 24 }, (_, i) => task('a', ['red', 'blue'][i % 2])),
    candidates: 4,
    lookahead: 1,
    maxSteps: 4,
    temperature: 1,
    seed: 3,
    ...changes,
  });
}
const rate = ({ episodes }: Awaited<ReturnType<typeof plan>>) =>
  episodes.filter((episode) => episode.success).length / episodes.length;

describe('planning with the dream', () => {
  it('acts better than the policy alone when the dream knows the world', async () => {
    const alone = await plan({ candidates: 1, lookahead: 0 });
    const planned = await plan();
    expect(rate(planned)).toBeGreaterThan(rate(alone) + 0.2);
    expect(planned.changed).toBeGreaterThan(0);
    expect(planned.imaginedSteps).toBeGreaterThan(planned.realSteps);
    expect(alone.changed).toBe(0);
  });

  it('is the same for the same seed', async () => {
    expect(await plan()).toEqual(await plan());
  });

  it('says where a dream cannot begin in the middle', async () => {
    await expect(plan({ domain: fakeDomain() })).rejects.toMatchObject({ code: 'no-true-history' });
  });
});
