/** @file The task pool rendered without a browser: linkedom's document, Preact's own renderer. */
import { h, render } from 'preact';
import { afterEach, describe, expect, it } from 'vitest';
import { TaskPool } from '../../../src/ui/panels/task-pool';
import { emptyView, shown, view } from '../../../src/ui/state/view';
import type { PoolTask } from '../../../src/worker/protocol';
import { useRoot } from '../rendered';

const page = useRoot();
afterEach(() => {
  view.value = emptyView;
  shown.value = Number.POSITIVE_INFINITY;
});

const task = (instruction: string, over: Partial<PoolTask> = {}): PoolTask => ({
  id: `a: ${instruction}`,
  instruction,
  room: 'a',
  family: 'pick',
  parent: null,
  generated: false,
  visits: 0,
  lastSuccess: null,
  variance: null,
  ...over,
});
const visit = (iteration: number, success: number) => ({ iteration, success, variance: success * (1 - success) });

/** The cells of each row: text, and points of its curve. */
function rows(tasks: PoolTask[]) {
  view.value = { ...emptyView, kind: 'recorded', tasks };
  render(h(TaskPool, {}), page.element);
  return [...page.element.querySelectorAll('tbody tr')].map((row) => ({
    cells: [...row.children].map((cell) => cell.textContent?.trim()),
    points: row.querySelector('polyline')?.getAttribute('points') ?? null,
    hidden: row.querySelector('svg')?.getAttribute('aria-hidden') ?? null,
  }));
}

describe('the task pool', () => {
  it('shows a task’s parent, its share of the practice and its variance over time', () => {
    const history = [visit(1, 0.5), visit(4, 0.75), visit(9, 1)];
    const found = rows([
      task('put a cup', { visits: 3, lastSuccess: 1, variance: 0.1, history }),
      task('heat a cup', { visits: 1, lastSuccess: 0.5, variance: 0.25, generated: true, parent: 'a: put a cup' }),
      task('cool a cup'),
    ]);
    const [heat, put, cool] = found;
    expect(put.cells).toEqual([
      ...['put a cup', 'a', 'given', '–', '3', '75%', '100%', '0.1'],
      '3 visits: variance 0.25 in iteration 1, 0 in iteration 9, at most 0.25',
    ]);
    expect(put.points).toBe('0.0,0.0 36.0,4.5 72.0,18.0');
    expect(put.hidden).toBe('true');
    expect(heat.cells.slice(2, 6)).toEqual(['invented', 'a: put a cup', '1', '25%']);
    // A run of before visits were kept one by one, and a task that nobody tried.
    expect([heat.points, heat.cells.at(-1)]).toEqual([null, '–']);
    expect(cool.cells.slice(4)).toEqual(['0', '–', '–', '–', '–']);
  });

  it('draws a replayed run no further than it is shown', () => {
    const history = [visit(1, 0.5), visit(4, 0.75), visit(9, 1)];
    shown.value = 4;
    expect(rows([task('x', { visits: 3, history })])[0].cells.at(-1)).toMatch(/^2 visits: .* in iteration 4/);
    shown.value = 1;
    expect(rows([task('x', { visits: 3, history })])[0].cells.at(-1)).toBe('once, in 1');
  });

  it('takes hostile words for words', () => {
    const [row] = rows([task('<img src=x onerror=alert(1)>')]);
    expect(page.element.querySelector('img')).toBeNull();
    expect(row.cells[0]).toContain('<img');
  });
});
