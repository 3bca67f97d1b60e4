import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseExperiment, plannedRuns, quickened, runConfig } from '../../../src/dream/experiment/definition';

const base = {
  format: 'dreamgym-experiment',
  version: 1,
  name: 'small',
  seeds: [1, 2],
  settings: { iterations: 10, tasksPerIteration: 4 },
  evaluation: { tasks: 100 },
  baseline: 'Warm start',
  quick: { seeds: [1], scale: 0.3, tasks: 40 },
  rows: [
    { name: 'Warm start', stages: [] },
    { name: 'SFT', stages: [{ kind: 'sft', updates: 50 }] },
    { name: 'Real', stages: [{ kind: 'rl', settings: { rollouts: 'real' } }] },
  ],
};
const code = (change: object) => {
  try {
    parseExperiment({ ...base, ...change });
    return null;
  } catch (error) {
    return (error as { code?: string }).code;
  }
};

describe('the experiments in bench/experiments', () => {
  const read = (name: string) =>
    parseExperiment(
      JSON.parse(readFileSync(new URL(`../../../bench/experiments/${name}.json`, import.meta.url), 'utf8')) as unknown,
      name,
    );

  it('each counter-measure is off in one row, and all of them in the last', () => {
    const { rows, ...experiment } = read('countermeasures');
    const states = rows.map(({ stages: [data, loop] }) => {
      if (data.kind !== 'experience' || loop.kind !== 'rl') throw new Error('other stages');
      const { goalCheck, stepCheck, minReplayPrecision, refreshEvery } = runConfig(experiment, loop, 1);
      return [goalCheck, stepCheck, minReplayPrecision > 0, refreshEvery > 0, data.negatives! > 0];
    });
    expect(states[0]).toEqual([true, true, true, true, true]);
    for (const state of states.slice(1, -1)) expect(state.filter((on) => !on)).toHaveLength(1);
    expect(new Set(states.map(String)).size).toBe(states.length);
    expect(states.at(-1)).toEqual([false, false, false, false, false]);
  });

  it('a refresh is paid from the real budget', () => {
    const { rows: _, ...experiment } = read('countermeasures');
    const text = readFileSync(new URL('../../../bench/experiments/countermeasures.json', import.meta.url), 'utf8');
    expect(experiment.maxRealTransitions).toBe(400);
    expect(() => parseExperiment({ ...JSON.parse(text), maxRealTransitions: 399 })).toThrow(/may need 400 real/);
  });
});

describe('an experiment’s definition', () => {
  it('expands to rows x seeds, seed by seed', () => {
    const runs = plannedRuns(parseExperiment(base));
    expect(runs.map((run) => run.id)).toEqual([
      '01-warm-start-seed1',
      '02-sft-seed1',
      '03-real-seed1',
      '01-warm-start-seed2',
      '02-sft-seed2',
      '03-real-seed2',
    ]);
    expect(new Set(runs.map((run) => run.fingerprint)).size).toBe(6);
  });

  it('gives every rl stage the shared settings, its own and the seed', () => {
    const experiment = parseExperiment(base);
    const config = runConfig(experiment, { kind: 'rl', settings: { rollouts: 'real', groupSize: 3 } }, 7);
    expect(config).toMatchObject({ seed: 7, iterations: 10, tasksPerIteration: 4, groupSize: 3, rollouts: 'real' });
    // One examination at the end, no curve, unless one is asked for.
    expect(config.evalEvery).toBe(10);
  });

  it.each([
    ['an unknown key', { surprise: 1 }],
    ['an unknown key of a row', { rows: [{ name: 'A', stages: [], speed: 2 }] }],
    ['an unknown kind of stage', { rows: [{ name: 'A', stages: [{ kind: 'magic' }] }] }],
    ['an unknown setting', { settings: { learningRates: 1 } }],
    ['a seed among the settings', { settings: { seed: 3 } }],
    ['two rows of one name', { rows: [base.rows[0], base.rows[0]] }],
    ['a baseline that is no row', { baseline: 'Nothing' }],
    ['a seed twice', { seeds: [1, 1] }],
    ['no rows', { rows: [], baseline: undefined }],
    ['an impossible budget', { maxRealTransitions: 100 }],
    ['a name that is no name', { name: '../up' }],
    ['another version', { version: 2 }],
  ])('refuses %s before anything runs', (_, change) => {
    expect(code(change)).toBe('bad-experiment');
  });

  it('refuses settings out of range', () => {
    expect(code({ settings: { groupSize: 1 } })).toBe('config-invalid');
  });

  it('has a quick version at a fraction of the updates', () => {
    const quick = quickened(parseExperiment(base));
    expect(quick).toMatchObject({ name: 'small-quick', seeds: [1], evaluation: { tasks: 40 } });
    expect(quick.settings.iterations).toBe(3);
    expect(quick.rows[1].stages[0]).toMatchObject({ updates: 15 });
    // A part that did not shrink would outgrow the whole: two real iterations of three, not of twelve.
    const settings = { realIterations: 2, realBudget: 1900 };
    const stages = [
      { kind: 'rl', settings },
      { kind: 'dpo', updates: 10, tasks: 100 },
    ];
    const small = quickened(parseExperiment({ ...base, baseline: undefined, rows: [{ name: 'A', stages }] }));
    expect(small.rows[0].stages).toMatchObject([
      { settings: { realIterations: 1, realBudget: 570 } },
      { updates: 3, tasks: 30 },
    ]);
    // A budget that a tenth of would not even pay for one group.
    const tight = { ...base, quick: { ...base.quick, scale: 0.05 }, baseline: undefined };
    expect(code({ ...tight, rows: [{ name: 'A', stages: [{ kind: 'rl', settings }] }] })).toBe('config-invalid');
  });
});
