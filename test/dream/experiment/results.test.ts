import { describe, expect, it } from 'vitest';
import { resultsMarkdown } from '../../../src/dream/experiment/markdown';
import {
  band,
  meanInterval,
  pairedDifference,
  type RunResult,
  resultsCsv,
  tabulate,
} from '../../../src/dream/experiment/results';

const result = (row: string, seed: number, outcomes: string, curve: RunResult['curve'] = []): RunResult => ({
  row,
  seed,
  realSuccess: [...outcomes].filter((o) => o === '1').length / outcomes.length,
  atRolloutTemperature: 0,
  outcomes,
  realTransitions: 10,
  dreamedTransitions: 0,
  measurementSteps: 0,
  rewardError: null,
  fidelity: null,
  curve,
  updates: 1,
  facts: {},
  seconds: 1,
  weightsHash: 'h',
  adapter: 'a',
  date: '2026-01-01',
});

describe('what an experiment found', () => {
  it('gives a mean its Student interval, and one value none', () => {
    // t(2, 97.5 %) = 4.303, s = .1, n = 3.
    const { mean, low, high } = meanInterval([0.4, 0.5, 0.6]);
    expect(mean).toBeCloseTo(0.5, 12);
    expect(high! - mean).toBeCloseTo((4.303 * 0.1) / Math.sqrt(3), 6);
    expect(mean - low!).toBeCloseTo(high! - mean, 12);
    expect(meanInterval([0.3])).toEqual({ mean: 0.3, low: null, high: null });
  });

  it('compares task by task: what is hard for both rows is no noise', () => {
    const hard = '0'.repeat(50);
    const same = pairedDifference([`${hard}${'1'.repeat(50)}`], [`${hard}${'1'.repeat(50)}`])!;
    expect(same).toMatchObject({ mean: 0, low: 0, high: 0, tasks: 100 });
    const better = pairedDifference([`${'1'.repeat(20)}${'0'.repeat(80)}`], ['0'.repeat(100)])!;
    expect(better.mean).toBeCloseTo(0.2, 12);
    expect(better.low).toBeGreaterThan(0.1);
  });

  it('compares only seeds that both rows have', () => {
    const rows = tabulate(
      [{ name: 'A' }, { name: 'B' }, { name: 'C' }],
      [result('A', 1, '1100'), result('A', 2, '1111'), result('B', 1, '1100')],
      'B',
    );
    expect(rows.map((row) => row.name)).toEqual(['A', 'B']);
    expect(rows[0].difference!.mean).toBe(0);
    expect(rows[1].difference).toBeNull();
    expect(rows[0].seeds.map((s) => s.seed)).toEqual([1, 2]);
    // 50 % and 100 %: Student's interval would go from -2.4 to 3.9.
    expect([rows[0].mean, rows[0].low, rows[0].high]).toEqual([0.75, 0, 1]);
  });

  it('draws a band where every seed has a point', () => {
    const point = (iteration: number, realSuccess: number) => ({ iteration, realSuccess, atRolloutTemperature: 0 });
    const curve = band([result('A', 1, '1', [point(0, 0.2), point(4, 0.4)]), result('A', 2, '1', [point(0, 0.4)])]);
    expect(curve).toHaveLength(1);
    expect(curve[0].mean).toBeCloseTo(0.3, 12);
  });

  it('writes a table that no spreadsheet takes for formulas', () => {
    const [, line] = resultsCsv([result('=1+"2"', 3, '10')]).split('\n');
    expect(line).toBe('"\'=1+""2""",3,0.5,0,10,0,,1,1,h');
  });

  it('writes a table for a report, in which a name is no markup', () => {
    const names = [{ name: 'A|<b>', paper: '61.7' }, { name: 'B' }];
    const rows = tabulate(names, [result('A|<b>', 1, '1100'), result('A|<b>', 2, '1110'), result('B', 1, '1000')], 'B');
    expect(resultsMarkdown(rows, 'B').split('\n')).toEqual([
      '| method | paper | real success, % | of each seed | real steps | dreamed steps | against B |',
      '| --- | --- | --- | --- | --- | --- | --- |',
      '| A\\|\\<b\\> | 61.7 | 62.5 [0.0, 100.0] | 50.0, 75.0 | 10 | 0 | +25.0 [-54.5, +104.6] |',
      '| B |  | 25.0 | 25.0 | 10 | 0 |  |',
      '',
    ]);
  });
});
