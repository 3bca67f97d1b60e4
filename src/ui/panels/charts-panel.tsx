/** @file All curves except the first, with one slider for their smoothing. */

import { computed, signal } from '@preact/signals';
import { mainCharts, moreCharts } from '../charts/definitions';
import { MetricChart, smoothing } from '../charts/metric-chart';
import { maxSmoothing } from '../charts/smoothing';
import { FidelityPanel } from '../fidelity/fidelity-panel';
import { saveMetrics } from '../state/files';
import { lastIteration, view, visibleEvaluations, visibleMetrics } from '../state/view';
import { Icon } from './icon';

const more = signal(false);
const charts = computed(() => mainCharts(view.value.config?.rollouts !== 'real'));

/** Right end of every x axis: the planned length, so that the curve shows how far it is. */
export const xMax = computed(() => {
  const planned = view.value.kind === 'live' ? (view.value.config?.iterations ?? 0) : 0;
  return Math.max(planned, lastIteration.value, 1);
});

export function ChartsPanel() {
  const metrics = visibleMetrics.value;
  const all = more.value ? [...charts.value, ...moreCharts] : charts.value;
  return (
    <section class="charts" aria-labelledby="charts-title">
      <div class="section-head">
        <h2 id="charts-title">Is the dream any good?</h2>
        <label class="field-inline">
          <span>Smoothing</span>
          <input
            type="range"
            min={0}
            max={maxSmoothing}
            step={0.01}
            value={smoothing.value}
            aria-valuetext={`${Math.round(smoothing.value * 100)} percent`}
            title="Moving average over iterations; the measured line stays visible, fainter"
            onInput={(event) => {
              smoothing.value = event.currentTarget.valueAsNumber;
            }}
          />
          <output>{smoothing.value.toFixed(2)}</output>
        </label>
        <button
          type="button"
          class="quiet"
          aria-expanded={more.value}
          onClick={() => {
            more.value = !more.value;
          }}
        >
          {more.value ? 'Fewer curves' : 'More curves'}
        </button>
        <button type="button" class="quiet" onClick={saveMetrics} disabled={metrics.length === 0}>
          <Icon name="save" />
          Save numbers (CSV)
        </button>
      </div>
      <FidelityPanel
        metrics={metrics}
        evaluations={visibleEvaluations.value}
        rollouts={view.value.rollouts}
        config={view.value.config}
      />
      <div class="chart-grid">
        {all.map((chart) => (
          <MetricChart key={chart.id} chart={chart} metrics={metrics} xMax={xMax.value} />
        ))}
      </div>
    </section>
  );
}
