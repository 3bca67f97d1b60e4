/** @file One small chart of the run: title, newest value, curve, sentence, table. */
import { signal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { IterationMetrics } from '../../worker/protocol';
import { chooseIteration } from '../rollouts/selection';
import type { ChartColours } from './colours';
import { faint } from './colours';
import type { ChartDefinition } from './definitions';
import { cursorIteration, Plot, type PlotShape } from './plot';
import { drawable } from './smoothing';
import { TableTwin } from './table-twin';

/** Weight of the moving average, 0 (none) to 0.99. */
export const smoothing = signal(0.5);

interface Properties {
  chart: ChartDefinition;
  metrics: readonly IterationMetrics[];
  xMax: number;
}

export function MetricChart({ chart, metrics, xMax }: Properties) {
  const shape = useMemo<PlotShape>(() => shapeOf(chart), [chart]);
  const weight = smoothing.value;
  const iterations = useMemo(() => metrics.map((m) => m.iteration), [metrics]);
  const raw = useMemo(() => chart.lines.map((line) => metrics.map(line.of)), [chart, metrics]);
  const drawn = useMemo(() => drawable(iterations, raw, weight), [iterations, raw, weight]);
  // Order of series: every raw line first, so that the smoothed ones lie on top.
  const lines = useMemo(() => [...drawn.raw, ...drawn.smoothed], [drawn]);
  const empty = raw.every((line) => line.every((value) => value === null));

  return (
    <figure class="chart" aria-label={summary(chart, raw)}>
      <figcaption class="chart-head">
        <h3>{chart.title}</h3>
        <Readout chart={chart} iterations={iterations} raw={raw} />
      </figcaption>
      <div class="plot-frame">
        <Plot shape={shape} xs={drawn.xs} lines={lines} xMax={xMax} height={112} onPick={chooseIteration} />
        {empty && (
          <p class="plot-empty">
            {metrics.length === 0 ? 'Grows with the first iteration' : 'Nothing to measure so far'}
          </p>
        )}
      </div>
      <p class="chart-help">{chart.help}</p>
      {!empty && (
        <TableTwin
          name={chart.title}
          iterations={iterations}
          columns={chart.lines.map((line, i) => ({
            title: line.label,
            cells: raw[i].map((value) => (value === null ? 'none' : chart.write(value))),
          }))}
        />
      )}
    </figure>
  );
}

function shapeOf(chart: ChartDefinition): PlotShape {
  return {
    write: chart.write,
    range: chart.range,
    steps: chart.steps,
    fromZero: chart.fromZero,
    series: (colours: ChartColours) => [
      ...chart.lines.map((line) => ({
        stroke: faint(colours[line.tone]),
        width: 1,
        points: { show: false },
        spanGaps: true,
      })),
      ...chart.lines.map((line) => ({ stroke: colours[line.tone], width: 2, points: { show: false }, spanGaps: true })),
    ],
  };
}

/** The measured (not the smoothed) value: under the pointer when there is one, else the newest. */
function Readout({
  chart,
  iterations,
  raw,
}: {
  chart: ChartDefinition;
  iterations: readonly number[];
  raw: readonly (readonly (number | null)[])[];
}) {
  const at = cursorIteration.value;
  const found = at === null ? -1 : iterations.indexOf(at);
  const index = found >= 0 ? found : iterations.length - 1;
  if (index < 0) return null;
  return (
    <span class="readout">
      {chart.lines.map((line, i) => {
        const value = raw[i][index];
        return (
          <span key={line.label} class={`tone-${line.tone}`}>
            {chart.lines.length > 1 && <small>{line.label} </small>}
            {value === null ? '–' : chart.write(value)}
          </span>
        );
      })}
    </span>
  );
}

function summary(chart: ChartDefinition, raw: readonly (readonly (number | null)[])[]): string {
  const parts = chart.lines.map((line, i) => {
    const known = raw[i].filter((value) => value !== null);
    if (known.length === 0) return `${line.label}: nothing yet`;
    return `${line.label}: from ${chart.write(known[0])} to ${chart.write(known[known.length - 1])} in ${known.length} iterations`;
  });
  return `${chart.title}. ${parts.join('; ')}`;
}
