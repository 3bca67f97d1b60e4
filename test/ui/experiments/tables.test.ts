/** @file The experiments panel's further tables rendered without a browser: what carries over, how true the dreams were. */
import { type ComponentChild, h, render } from 'preact';
import { describe, expect, it } from 'vitest';
import { type RunResult, tabulate } from '../../../src/dream/experiment/results';
import { DreamTruth } from '../../../src/ui/experiments/dream-truth';
import { TransferTable } from '../../../src/ui/experiments/transfer-table';
import type { ExperimentSummary } from '../../../src/worker/experiments/protocol';
import { useRoot } from '../rendered';
import { someResult } from './fake-experiments';

const page = useRoot();

function cells(shown: ComponentChild): (string | undefined)[][] {
  render(shown, page.element);
  return [...page.element.querySelectorAll('tr')].map((row) =>
    [...row.children].map((cell) => cell.textContent?.trim()),
  );
}

const byFamily = (row: string, pick: string, heat: string): RunResult => ({
  ...someResult(row, 1, 0.5),
  outcomes: pick + heat,
  byFamily: { pick_and_place_simple: pick, pick_heat_then_place_in_recep: heat },
});

const summary: ExperimentSummary = {
  name: 'transfer',
  about: '',
  baseline: 'Before',
  settings: {},
  rows: [
    { name: 'Before', stages: [], finished: 1 },
    { name: '<b>Pick', stages: [{ kind: 'rl', settings: {}, families: ['pick_and_place_simple'] }], finished: 1 },
  ],
  seeds: [1],
  runs: 2,
  finished: 2,
  hasQuick: false,
};

describe('what carries over', () => {
  it('marks what a method trained on, and holds the rest against the same tasks before', () => {
    const rows = tabulate(summary.rows, [byFamily('Before', '1000', '0000'), byFamily('<b>Pick', '1111', '0110')]);
    expect(cells(h(TransferTable, { summary, rows }))).toEqual([
      ['Trained on', 'pick and place simple', 'pick heat then place in recep', 'All it did not train on'],
      ['Before', '25%', '0%', '13%'],
      ['<b>Pick', '100%trained', '50%', '50% +50 points: may be chance'],
    ]);
  });

  it('is not there where no method is bound to a family', () => {
    const free = { ...summary, rows: [summary.rows[0]] };
    expect(cells(h(TransferTable, { summary: free, rows: tabulate(free.rows, []) }))).toEqual([]);
  });
});

describe('how true the dreams were', () => {
  it('averages over the seeds that dreamed, and leaves out methods that did not', () => {
    const dreamed = (seed: number, replayPrecision: number | null) => ({
      ...someResult('Dream', seed, 0.5),
      fidelity: { replayPrecision, rewardError: 0.1, alarmedIterations: 2 },
    });
    const rows = tabulate(
      [{ name: 'Real' }, { name: 'Dream' }],
      [someResult('Real', 1, 1), dreamed(1, 0.8), dreamed(2, null), dreamed(3, 0.9)],
    );
    const [titles, line, ...more] = cells(h(DreamTruth, { rows }));
    const shown = Object.fromEntries(titles.map((title, i) => [title, line[i]]));
    expect(shown).toMatchObject({
      Method: 'Dream',
      'True successes': '85%',
      'Reward error': '10%',
      Contradictions: '–',
      'Iterations with an alarm': '2',
    });
    expect(more).toEqual([]);
    expect(cells(h(DreamTruth, { rows: rows.slice(0, 1) }))).toEqual([]);
  });
});
