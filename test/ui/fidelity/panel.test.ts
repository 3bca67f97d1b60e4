/** @file The fidelity panel rendered without a browser: linkedom's document, Preact's own renderer. */
import { h, render } from 'preact';
import { describe, expect, it } from 'vitest';
import type { Trajectory } from '../../../src/data/trajectory';
import { fidelityOf } from '../../../src/dream/fidelity/summary';
import { FidelityPanel } from '../../../src/ui/fidelity/fidelity-panel';
import { fidelityValues, sparkline } from '../../../src/ui/fidelity/values';
import { difference, worstMistakes } from '../../../src/ui/fidelity/worst';
import type { IterationMetrics, RunRecord } from '../../../src/worker/protocol';
import { fixtureRun } from '../fixture';
import { useRoot } from '../rendered';

const page = useRoot();

const measured: Partial<IterationMetrics> = {
  ...{ nextWordAccuracy: 0.93, replaySuccess: 0.4, admissibility: 0.99, factTruth: 0.9, departed: 0.5 },
  ...{ epsilonReward: 0.01, epsilonState: 0.01, successClaims: 0.06, realSuccessesPerStep: 0.05 },
  ...{ contradictionRate: 0.04, lostShare: 0.01 },
};
const healthy: Partial<IterationMetrics> = { ...measured, replayTrue: 36, replayFalse: 4, replayPrecision: 0.9 };

/** The fixture's run with other numbers from iteration `from` on. */
function runWith(change: Partial<IterationMetrics>, from = 1): RunRecord {
  const record = fixtureRun(12, 3);
  record.metrics = record.metrics.map((m) => ({
    ...m,
    ...healthy,
    trainReward: 0.4,
    ...(m.iteration >= from ? change : {}),
  }));
  return record;
}

function show({ metrics, evaluations, config }: RunRecord, rollouts = new Map<number, readonly Trajectory[]>()) {
  render(h(FidelityPanel, { metrics, evaluations, rollouts, config }), page.element);
  return page.element;
}

const mistake = (over: Partial<Trajectory> = {}, dreamed = 'at shelf 1 see cup 1 mug 2'): Trajectory => {
  const [{ trajectories }] = fixtureRun(1, 3).rollouts;
  const episode = structuredClone(trajectories[0]);
  episode.turns[0] = { ...episode.turns[0], action: 'go to shelf 1', observation: dreamed };
  episode.replay = { success: false, firstMismatch: 0, observation: 'at shelf 1 see cup 1', reward: 0 };
  return { ...episode, ...over };
};

describe('the panel', () => {
  it('an honest run: every number with its words, a curve, and no alarm', () => {
    const page = show(runWith({}));
    expect(page.querySelector('[role=status]')!.textContent).toContain('No sign that the agent is fooling the dream');
    expect(page.querySelector('[role=alert]')).toBeNull();
    const labels = [...page.querySelectorAll('dt')].map((dt) => dt.textContent);
    // Its dreamed success never moves, so nothing can be said of its ranks.
    expect(labels).toEqual([
      ...['True successes', 'Reward error', 'Answers that are right', 'Words that are right'],
      ...['Things that can be there', 'Things that are there', 'Contradictions', 'Lost episodes'],
      ...['Episodes that part ways', 'Gap at most'],
    ]);
    expect(page.textContent).toContain('90%');
    expect(page.textContent).toMatch(/17% \(measured: \d+%\)/);
    expect(page.querySelectorAll('polyline').length).toBeGreaterThan(8);
  });

  it('a dream that praises everything is an alarm, in the first place and in words', () => {
    const page = show(runWith({ successClaims: 1, realSuccessesPerStep: 0.02 }));
    const alert = page.querySelector('[role=alert]')!;
    expect(alert.textContent).toContain('Do not believe this dream');
    expect(alert.textContent).toContain('calls 100 % of all valid steps a success');
    expect(page.querySelector('[role=status]')).toBeNull();
    expect(page.innerHTML.indexOf('role="alert"')).toBeLessThan(page.innerHTML.indexOf('<dl'));
  });

  it('an alarm that is over is not forgotten', () => {
    const record = runWith({ successClaims: 1 });
    record.metrics = record.metrics.map((m) => (m.iteration > 5 ? { ...m, successClaims: 0.05 } : m));
    expect(show(record).textContent).toContain('there was one in 5 of the iterations so far, first in iteration 1');
  });

  it('a run in the real world has no panel, nor has one without a configuration', () => {
    const record = fixtureRun(3, 1);
    record.metrics = record.metrics.map((m) => ({ ...m, rewardError: null }));
    expect(show(record).innerHTML).toBe('');
    render(h(FidelityPanel, { ...record, rollouts: new Map(), config: null }), page.element);
    expect(page.element.innerHTML).toBe('');
  });

  it('runs of before these numbers existed show what they have', () => {
    const page = show(fixtureRun(6, 1));
    expect(page.textContent).toContain('True successes');
    expect(page.textContent).not.toContain('Things that can be there');
  });

  it('mistakes stand beside the truth as text, whatever they contain', () => {
    const hostile = mistake({}, 'at shelf 1 see <img src=x onerror=alert(1)> \u202ecup');
    const page = show(runWith({}), new Map([[12, [hostile]]]));
    expect(page.querySelector('img')).toBeNull();
    expect(page.querySelector('del')!.textContent).toContain('<img');
    expect(page.textContent).toContain('‹U+202E›');
    expect(page.querySelector('ins')!.textContent).toMatch(/^\[.*\]$/);
  });
});

describe('the worst mistakes', () => {
  it('wrong rewards come first, then the most wrong words; no two alike, newest iterations only', () => {
    const small = mistake();
    const large = mistake({}, 'nothing happens');
    const paid = mistake();
    paid.turns[0].reward = 1;
    paid.turns[0].action = 'use lamp 1';
    const old = mistake({}, 'an old one');
    const rollouts = new Map([
      [1, [old]],
      [10, [small, small]],
      [11, [large]],
      [12, [paid, mistake({ replay: { success: true, firstMismatch: -1 } }), mistake({ replay: undefined })]],
      [13, [mistake({}, 'of the future')]],
    ]);
    const found = worstMistakes(rollouts, 12);
    expect(found.map(({ dreamed, reward }) => [dreamed, reward])).toEqual([
      [paid.turns[0].observation, 'invented'],
      ['nothing happens', null],
      [small.turns[0].observation, null],
    ]);
    expect(worstMistakes(rollouts, 12, 1)).toHaveLength(1);
  });

  it('runs that did not keep the real text have none to show', () => {
    expect(worstMistakes(new Map([[1, [mistake({ replay: { success: false, firstMismatch: 0 } })]]]), 1)).toEqual([]);
  });
});

describe('pieces', () => {
  it('two texts become one, word by word', () => {
    expect(difference('at shelf 1 see cup 1 mug 2', 'at shelf 1 open see cup 1')).toEqual([
      { text: 'at shelf 1', of: 'both' },
      { text: 'open', of: 'real' },
      { text: 'see cup 1', of: 'both' },
      { text: 'mug 2', of: 'dream' },
    ]);
    expect(difference('', 'a b')).toEqual([{ text: 'a b', of: 'real' }]);
    expect(difference('x '.repeat(500), 'y')).toHaveLength(2);
  });

  it('a small curve breaks where nothing was measured', () => {
    expect(sparkline([0, 0.5, null, 1, 2], 1, 40, 10)).toEqual(['0.0,10.0 10.0,5.0', '30.0,0.0 40.0,0.0']);
    expect(sparkline([], 1, 40, 10)).toEqual([]);
  });

  it('no value is ever shown as NaN or undefined', () => {
    for (const record of [fixtureRun(1, 1), runWith({}), runWith({ nextWordAccuracy: null })]) {
      const values = fidelityValues(fidelityOf(record)!, record.metrics, record.config.maxSteps);
      for (const { text } of values) expect(text ?? '').not.toMatch(/NaN|undefined|\?/);
    }
  });
});
