/**
 * @file The curve the page is about: success in the real world, which was never trained on, with its 95 % interval.
 *
 * It is never smoothed: every point is a measurement with its own uncertainty.
 */
import { useMemo } from 'preact/hooks';
import type { Evaluation } from '../../worker/protocol';
import { chooseIteration } from '../rollouts/selection';
import { recorded, view, visibleEvaluations } from '../state/view';
import { interval, percent, rate } from '../text/format';
import { cursorIteration, Plot, type PlotShape } from './plot';
import type { Value } from './smoothing';
import { TableTwin } from './table-twin';

const shape: PlotShape = {
  write: percent,
  top: (high) => Math.min(1, Math.max(0.6, Math.ceil((high + 0.02) * 5) / 5)),
  steps: [0.1, 0.2],
  series: (colours) => [
    { stroke: 'transparent', points: { show: false }, spanGaps: true },
    { stroke: 'transparent', points: { show: false }, spanGaps: true },
    { stroke: colours.ghost, width: 1.5, dash: [2, 4], points: { show: false }, spanGaps: true },
    { stroke: colours.real, width: 1.5, dash: [7, 5], points: { show: false }, spanGaps: true },
    { stroke: colours.real, width: 2.5, points: { show: true, size: 8, fill: colours.real }, spanGaps: true },
  ],
  bands: (colours) => [{ series: [2, 1], fill: colours.band }],
};

/** Lines over the union of both runs' iterations: low, high, recorded run, temperature .4, practice temperature. */
function align(own: readonly Evaluation[], ghost: readonly Evaluation[]): { xs: number[]; lines: Value[][] } {
  const mine = new Map(own.map((e) => [e.iteration, e]));
  const other = new Map(ghost.map((e) => [e.iteration, e]));
  const xs = [...new Set([...mine.keys(), ...other.keys()])].sort((a, b) => a - b);
  const column = (of: (x: number) => number | undefined) => xs.map((x) => of(x) ?? null);
  return {
    xs,
    lines: [
      column((x) => mine.get(x)?.atRolloutTemperature.low),
      column((x) => mine.get(x)?.atRolloutTemperature.high),
      column((x) => other.get(x)?.atRolloutTemperature.rate),
      column((x) => mine.get(x)?.atLowTemperature.rate),
      column((x) => mine.get(x)?.atRolloutTemperature.rate),
    ],
  };
}

export function SuccessChart({ xMax }: { xMax: number }) {
  const evaluations = visibleEvaluations.value;
  const compare = view.value.kind !== 'recorded' ? recorded.value : null;
  const ghost = useMemo(() => compare?.evaluations.filter((e) => e.iteration <= xMax) ?? [], [compare, xMax]);
  const { xs, lines } = useMemo(() => align(evaluations, ghost), [evaluations, ghost]);
  const last = evaluations.at(-1);
  const at = cursorIteration.value;
  const read = evaluations.find(({ iteration }) => iteration === at) ?? last;
  const temperature = view.value.config?.temperature ?? 1;
  return (
    <figure
      class="chart chart-hero"
      aria-label={`Real success. ${last ? `Newest: ${rate(last.atRolloutTemperature)}` : 'Nothing measured yet'}`}
    >
      <figcaption class="chart-head">
        <h2>Real success</h2>
        <span class="readout">
          {read && (
            <span class="tone-real">
              {percent(read.atRolloutTemperature.rate)} <small>{interval(read.atRolloutTemperature)}</small>
            </span>
          )}
        </span>
      </figcaption>
      <p class="chart-help">
        Share of {last ? last.atRolloutTemperature.episodes : 'the'} unseen real tasks the agent solves. The band is the
        95% interval: the truth is very likely inside.
      </p>
      <div class="plot-frame">
        <Plot shape={shape} xs={xs} lines={lines} xMax={xMax} height="fill" onPick={chooseIteration} />
        {evaluations.length === 0 && (
          <p class="plot-empty under-curve">The first check in the real world comes before the first lesson</p>
        )}
      </div>
      <ul class="legend">
        <li>
          <svg viewBox="0 0 28 10" aria-hidden="true" class="tone-real">
            <rect x="0" y="1" width="28" height="8" class="swatch-band" />
            <path d="M0 5H28" stroke="currentColor" stroke-width="2.5" />
          </svg>
          as adventurous as in practice (temperature {temperature})
        </li>
        <li>
          <svg viewBox="0 0 28 10" aria-hidden="true" class="tone-real">
            <path d="M0 5H28" stroke="currentColor" stroke-width="1.5" stroke-dasharray="7 4" />
          </svg>
          careful (temperature 0.4)
        </li>
        {ghost.length > 0 && (
          <li>
            <svg viewBox="0 0 28 10" aria-hidden="true" class="tone-ghost">
              <path d="M0 5H28" stroke="currentColor" stroke-width="1.5" stroke-dasharray="2 3" />
            </svg>
            the recorded run, for comparison
          </li>
        )}
      </ul>
      {evaluations.length > 0 && (
        <TableTwin
          name="Real success"
          iterations={evaluations.map((e) => e.iteration)}
          columns={[
            { title: `temperature ${temperature}`, cells: evaluations.map((e) => rate(e.atRolloutTemperature)) },
            { title: 'temperature 0.4', cells: evaluations.map((e) => rate(e.atLowTemperature)) },
          ]}
        />
      )}
    </figure>
  );
}
