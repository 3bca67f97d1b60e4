import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseExperiment, plannedRuns, quickened } from '../../../src/dream/experiment/definition';
import type { RunResult } from '../../../src/dream/experiment/results';
import { outcomesByFamily, transferOf } from '../../../src/dream/experiment/transfer';
import { FAMILIES } from '../../../src/envs/household';

const result = (row: string, seed: number, byFamily: Record<string, string>): RunResult =>
  ({ row, seed, outcomes: Object.values(byFamily).join(''), byFamily }) as RunResult;
const [pick, look, clean] = FAMILIES;
const rows = [
  { name: 'Start', stages: [] },
  { name: 'Pick', stages: [{ kind: 'rl' as const, settings: {}, families: [pick] }] },
  { name: 'All', stages: [{ kind: 'rl' as const, settings: {} }] },
];

describe('transfer between families', () => {
  it('keeps outcomes by the family of their task', () => {
    const tasks = [pick, look, pick, clean, look].map((family) => ({ family }));
    expect(outcomesByFamily(tasks, '10110')).toEqual({ [pick]: '11', [look]: '00', [clean]: '1' });
    expect(outcomesByFamily([], '')).toEqual({});
  });

  it('compares with the baseline on the families that a row never trained on', () => {
    const results = [
      result('Start', 1, { [pick]: '0000', [look]: '1000', [clean]: '0000' }),
      result('Start', 2, { [pick]: '0000', [look]: '1000', [clean]: '0000' }),
      result('Pick', 1, { [pick]: '1111', [look]: '1100', [clean]: '1000' }),
      result('Pick', 2, { [pick]: '1110', [look]: '1100', [clean]: '0000' }),
      result('All', 1, { [pick]: '1111', [look]: '1111', [clean]: '1111' }),
    ];
    const [start, own, all] = transferOf({ rows, baseline: 'Start' }, results);
    expect(start).toMatchObject({ trainedOn: [], seen: null, unseen: 1 / 12, difference: null });
    expect(own).toMatchObject({ trainedOn: [pick], seen: 0.875, unseen: 5 / 16 });
    expect(own.families).toEqual({ [pick]: 0.875, [look]: 0.5, [clean]: 0.125 });
    expect(own.difference).toMatchObject({ mean: 3 / 16, tasks: 8 });
    expect(own.difference!.low).toBeLessThan(own.difference!.mean);
    expect(all).toMatchObject({ trainedOn: null, seen: 1, unseen: null, difference: null });
  });

  it('has nothing to say of experiments without families, or of results without them', () => {
    expect(transferOf({ rows: [rows[0], rows[2]], baseline: 'Start' }, [result('All', 1, { [pick]: '1' })])).toEqual(
      [],
    );
    const old = { row: 'Pick', seed: 1, outcomes: '1' } as RunResult;
    expect(transferOf({ rows, baseline: 'Start' }, [old])).toEqual([]);
  });
});

describe('bench/experiments/transfer.json', () => {
  const text = readFileSync(new URL('../../../bench/experiments/transfer.json', import.meta.url), 'utf8');
  const experiment = parseExperiment(JSON.parse(text) as unknown);

  it('trains every family alone and examines all of them', () => {
    const alone = experiment.rows.flatMap(({ stages: [stage] }) =>
      stage?.kind === 'rl' && stage.families?.length === 1 ? stage.families : [],
    );
    expect(alone).toEqual([...FAMILIES]);
    expect(experiment.evaluation.families).toBeUndefined();
    expect(experiment.baseline).toBe('Warm start');
    expect(plannedRuns(experiment)).toHaveLength(experiment.rows.length * 3);
    expect(plannedRuns(quickened(experiment))).toHaveLength(experiment.rows.length);
  });

  it('refuses a family that does not exist before anything runs', () => {
    const changed = text.replace('"pick_heat_then_place_in_recep"', '"pick_heat"');
    expect(() => parseExperiment(JSON.parse(changed) as unknown)).toThrow(/families/);
  });
});
