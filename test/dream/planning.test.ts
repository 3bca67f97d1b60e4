import { describe, expect, it } from 'vitest';
import { type PlanningRequest, playPlanned } from '../../src/dream/planning';
import { ReplayBuffer } from '../../src/dream/replay-buffer';
import { cpuTopK } from './cpu-top-k';
import { KnowingModel, type Manners, TableModel } from './fake-models';
import { encode, fakeDomain, id, task, words } from './fake-world';

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

  it('sees by looking ahead which of two moves leads on', async () => {
    const domain = fakeDomain();
    const { experience } = domain.dialect;
    const lookingAlike = {
      ...domain,
      told: (_task: unknown, _first: string, _turns: unknown, step: { observation: string; reward: number }) =>
        encode(`${step.observation} r${step.reward}`),
      dialect: {
        ...domain.dialect,
        // Everything seems to work, so only what comes after it tells a good first move from a bad one.
        experience: {
          ...experience,
          parse: (tokens: readonly number[]) => {
            const answer = experience.parse(tokens);
            return answer && { ...answer, valid: true };
          },
        },
      },
    };
    // It knows its colour, but would rather press it at once than open the box first.
    const policy = new TableModel();
    const state = await policy.exportState(false);
    const logits = state.weights.get('logits')!;
    const at = (goal: number, last: string, next: string) => (goal * words.length + id(last)) * words.length + id(next);
    for (const colour of ['red', 'blue']) {
      logits[at(id(colour), 'press', colour)] += 6;
      logits[at(id(colour), '\n', 'press')] += 1.5;
    }
    await policy.importState(state);
    const tasks = Array.from({ length: 40 }, (_, i) => task('a', ['red', 'blue'][i % 2]));
    // Two turns are just enough: the first must be right.
    const short = { policy, domain: lookingAlike, tasks, maxSteps: 2, candidates: 4 };
    const near = rate(await plan({ ...short, lookahead: 0 }));
    expect(rate(await plan({ ...short, lookahead: 1 }))).toBeGreaterThan(near + 0.2);
  });

  it('is the same for the same seed', async () => {
    expect(await plan()).toEqual(await plan());
  });

  it('says where a dream cannot begin in the middle', async () => {
    await expect(plan({ domain: fakeDomain() })).rejects.toMatchObject({ code: 'no-true-history' });
  });
});
