/** @file Broken experience models in the household: each is flagged within two iterations, and the page is told. */
import { describe, expect, it } from 'vitest';
import { fidelityFlags } from '../../../src/dream/fidelity';
import { householdDomain } from '../../../src/dream/household';
import { DreamLoop } from '../../../src/dream/loop';
import type { LoopParts } from '../../../src/dream/loop-parts';
import { resolveConfig } from '../../../src/dream/presets';
import { policyAnswer } from '../../../src/dream/transcripts';
import { householdTokenizer } from '../../../src/models/household-vocabulary';
import type { Generated, Sessions, TrainStats } from '../../../src/nn/language-model';
import type { RunConfig, RunEvent } from '../../../src/worker/protocol';
import { cpuAdvantages } from '../../rl/cpu-advantages';
import { cpuTopK } from '../cpu-top-k';
import { KnowingModel } from '../fake-models';

const tokenizer = householdTokenizer('small');
const { special } = tokenizer;

/** Answers each stream from its own text; "learns" without changing. */
class Speaker extends KnowingModel {
  constructor(private readonly say: (tokens: readonly number[]) => number[]) {
    super();
  }
  override sessions(count: number): Sessions {
    const streams: number[][] = Array.from({ length: count }, () => []);
    return {
      count,
      contextLength: 1024,
      length: (i) => streams[i].length,
      append: (i, tokens) => void streams[i].push(...tokens),
      generate: async (which) =>
        which.map((i): Generated => {
          const tokens = this.say(streams[i]);
          streams[i].push(...tokens);
          return { tokens, logProbs: tokens.map(() => -0.5), stopped: true };
        }),
      copy: async (from, to) => {
        for (const i of to) streams[i] = [...streams[from]];
      },
      clear: (i) => {
        streams[i] = [];
      },
      dispose: () => {},
    };
  }
  override async trainStep(): Promise<TrainStats> {
    const numbers = { loss: 0, gradNorm: 0, entropy: 0, kl: 0, clipFraction: 0, logProbGap: 0, tokens: 0 };
    return { ...numbers, applied: true };
  }
}

/** Walks around the room it is told of. */
const walker = new Speaker((tokens) => {
  const places = tokenizer
    .decode(tokens)
    .match(/room ((?:[a-z]+ \d+ ?)+)/)![1]
    .match(/[a-z]+ \d+/g)!;
  return policyAnswer(tokenizer, 'hold nothing object nothing', `go to ${places[tokens.length % places.length]}`);
});

/** @param place what it shows when somebody goes there. @param reward what it always says of it. */
const dreamer = (place: (asked: string) => string, reward: 0 | 1) =>
  new Speaker((tokens) => {
    const question = tokens.slice(tokens.lastIndexOf(special['>']) + 1);
    const action = tokenizer.decode(question.slice(0, question.indexOf(special['\n'])));
    const seen = tokenizer.encode(`at ${place(action.replace('go to ', ''))} see mug 3 plate 3`);
    return [...tokenizer.encode('valid'), special['</t>'], ...seen, special[reward === 1 ? '<r1>' : '<r0>']];
  });

async function run(experience: Speaker, checks: Partial<RunConfig>) {
  const warnings: string[] = [];
  const parts: LoopParts = {
    policy: walker,
    experience,
    domain: householdDomain(tokenizer),
    kernels: { advantages: cpuAdvantages, topK: cpuTopK },
    store: null,
    adapter: 'plain code',
    gpuBytes: () => 0,
    emit: (event: RunEvent) => {
      if (event.type === 'notice' && event.level === 'warning') warnings.push(event.message);
    },
  };
  const config = resolveConfig({
    ...{ seed: 1, iterations: 2, tasksPerIteration: 4, groupSize: 4, maxSteps: 6, lambda: 0 },
    ...{ evalEvery: 10, evalTasks: 10, bufferCapacity: 200 },
    ...checks,
  });
  const loop = DreamLoop.fresh(parts, config, 'run');
  await loop.run();
  const { metrics } = loop.state;
  return { metrics, warnings, kinds: fidelityFlags(metrics.slice(0, 2)).map(({ kind }) => kind) };
}

const off = { goalCheck: false, stepCheck: false, minReplayPrecision: 0 };
const on = { goalCheck: true, stepCheck: true, minReplayPrecision: 0.4 };

describe('a dream that always says success', () => {
  it('unchecked pays for everything, and is found out', async () => {
    const { metrics, kinds, warnings } = await run(
      dreamer((asked) => asked, 1),
      off,
    );
    expect(metrics[0]).toMatchObject({ trainReward: 1, replayPrecision: 0, rewardError: 1, successClaims: 1 });
    expect(kinds).toEqual(expect.arrayContaining(['always-success', 'false-successes']));
    expect(warnings.filter((message) => message.startsWith('The dream calls 100 %'))).toHaveLength(1);
    expect(warnings.some((message) => message.startsWith('Only 0 of 16 dreamed successes'))).toBe(true);
  });

  it('checked pays for nothing, and is found out all the same', async () => {
    const { metrics, kinds, warnings } = await run(
      dreamer((asked) => asked, 1),
      on,
    );
    expect(metrics[0]).toMatchObject({ trainReward: 0, successClaims: 1 });
    expect(metrics[0].rejectedSuccesses).toBeGreaterThan(10);
    expect(kinds).toContain('always-success');
    expect(warnings.some((message) => message.startsWith('The dream calls 100 %'))).toBe(true);
  });
});

it('a dream that shows another room is flagged by what it shows', async () => {
  const { metrics, kinds, warnings } = await run(
    dreamer(() => 'fridge 3', 0),
    off,
  );
  expect(metrics[0].admissibility).toBeLessThan(0.5);
  expect(metrics[0].factTruth).toBeLessThan(0.2);
  expect(metrics[0].epsilonState).toBeGreaterThan(0.9);
  expect(kinds).toContain('foreign-observations');
  expect(warnings.some((message) => message.includes('cannot be in this room'))).toBe(true);
});
