import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseExperiment, plannedRuns, quickened } from '../../../src/dream/experiment/definition';
import { type ExperimentParts, type FinishedStage, runOne } from '../../../src/dream/experiment/run';
import { cpuAdvantages } from '../../rl/cpu-advantages';
import { cpuTopK } from '../cpu-top-k';
import { KnowingModel, TableModel } from '../fake-models';
import { encode, fakeDomain } from '../fake-world';
import { MemoryStore } from '../memory-store';

const definition = {
  format: 'dreamgym-experiment',
  version: 1,
  name: 'plans',
  seeds: [1],
  settings: { maxSteps: 4, retrievalTopK: 0 },
  evaluation: { tasks: 40, temperature: 1 },
  rows: [
    { name: 'Warm start', stages: [] },
    { name: 'Planned', stages: [], planning: { candidates: 4, lookahead: 1 } },
  ],
};

async function results() {
  const policy = new TableModel();
  const experience = new KnowingModel();
  const parts: ExperimentParts = {
    policy,
    experience,
    domain: { ...fakeDomain(), told: (_t, _f, _b, step) => encode(`${step.observation} r${step.reward}`) },
    kernels: { advantages: cpuAdvantages, topK: cpuTopK },
    adapter: 'plain code',
    gpuBytes: () => 0,
    stages: {} as ExperimentParts['stages'],
    dpo: (() => {
      throw new Error('no stage asks for it');
    }) as unknown as ExperimentParts['dpo'],
    warmStart: { policy: await policy.exportState(false), experience: await experience.exportState(false) },
  };
  const experiment = parseExperiment(definition);
  const details: string[] = [];
  const found = [];
  for (const run of plannedRuns(experiment)) {
    const done: FinishedStage[] = [];
    const keeper = { finished: async () => done, finish: async () => {}, store: () => new MemoryStore() };
    found.push(await runOne(parts, experiment, run, keeper, { onProgress: (_s, _n, _f, d) => void details.push(d) }));
  }
  return { found, details };
}

describe('a row that plans', () => {
  it('is examined with its plan on the same tasks, and says what it imagined', async () => {
    const { found, details } = await results();
    const [plain, planned] = found.map((result) => result!);
    expect(planned.realSuccess).toBeGreaterThan(plain.realSuccess);
    expect(planned.outcomes).toHaveLength(40);
    expect(planned.facts.imaginedSteps).toBeGreaterThan(0);
    expect(planned.facts.planOverruled).toBeGreaterThan(0);
    expect(plain.facts).toEqual({});
    // The other rate is without the plan, as in every row.
    expect(planned.atRolloutTemperature).toBe(plain.atRolloutTemperature);
    expect(planned.weightsHash).toBe(plain.weightsHash);
    expect(details).toContain('planning in the real world');
    expect((await results()).found.map((r) => r!.outcomes)).toEqual([plain.outcomes, planned.outcomes]);
  });

  it('is in bench/experiments beside the same rows without a plan', () => {
    const text = readFileSync(new URL('../../../bench/experiments/planning.json', import.meta.url), 'utf8');
    const runs = plannedRuns(quickened(parseExperiment(JSON.parse(text) as unknown)));
    expect(runs.map(({ planning }) => planning?.lookahead)).toEqual([undefined, 0, 1, undefined, 0]);
  });

  it('leaves the fingerprints of other rows alone', () => {
    const [plain, planned] = plannedRuns(parseExperiment(definition));
    expect(plain.fingerprint).not.toContain('planning');
    expect(planned.fingerprint).toContain('"planning":{"candidates":4,"lookahead":1}');
    for (const planning of [{ candidates: 1 }, { candidates: 4, depth: 2 }, { candidates: 4, lookahead: 9 }])
      expect(() => parseExperiment({ ...definition, rows: [{ name: 'x', stages: [], planning }] })).toThrow(
        /rows.0.planning/,
      );
  });
});
