/** @file Learning curves of the methods beside each other: mean over seeds, with its band. */
import { useMemo } from 'preact/hooks';
import { band, type Row } from '../../dream/experiment/results';
import { Plot, type PlotShape } from '../charts/plot';
import { TableTwin } from '../charts/table-twin';
import { interval, percent } from '../text/format';
import { visibleLine } from '../text/visible';

const shape: PlotShape = {
  write: percent,
  range: [0, 1],
  steps: [0.25, 0.5],
  series: (colours) => [
    { stroke: 'transparent', points: { show: false }, spanGaps: true },
    { stroke: 'transparent', points: { show: false }, spanGaps: true },
    { stroke: colours.real, width: 2, points: { show: true, size: 6, fill: colours.real }, spanGaps: true },
  ],
  bands: (colours) => [{ series: [2, 1], fill: colours.band }],
};

function useCurve(row: Row) {
  return useMemo(() => {
    const points = band(row.seeds);
    return {
      points,
      xs: points.map((p) => p.iteration),
      lines: [points.map((p) => p.low), points.map((p) => p.high), points.map((p) => p.mean)],
    };
  }, [row]);
}

function Curve({ row, xMax }: { row: Row; xMax: number }) {
  const { points, xs, lines } = useCurve(row);
  const last = points.at(-1);
  if (!last || points.length < 2) return null;
  const name = visibleLine(row.name);
  const hasBand = points.some(({ low }) => low !== null);
  return (
    <figure class="chart" aria-label={`Learning curve of ${name}: ${percent(last.mean)} at the end`}>
      <figcaption class="chart-head">
        <h4>{name}</h4>
        <span class="readout tone-real">{percent(last.mean)}</span>
      </figcaption>
      <Plot shape={shape} xs={xs} lines={lines} xMax={xMax} height={112} />
      <TableTwin
        name={name}
        iterations={xs}
        columns={[
          { title: 'Real success', cells: points.map((p) => percent(p.mean)) },
          ...(hasBand
            ? [
                {
                  title: '95% interval',
                  cells: points.map(({ low, high }) => (low === null || high === null ? '–' : interval({ low, high }))),
                },
              ]
            : []),
        ]}
      />
    </figure>
  );
}

export function Curves({ rows }: { rows: readonly Row[] }) {
  const learning = rows.filter(({ seeds }) => band(seeds).length > 1);
  if (learning.length === 0) return null;
  const longest = Math.max(...learning.flatMap((row) => row.seeds.flatMap((run) => run.curve.map((p) => p.iteration))));
  return (
    <section class="experiment-part" aria-labelledby="experiment-curves">
      <h3 id="experiment-curves">While practising</h3>
      <p class="chart-help">
        Real success over the iterations, for the methods that practise. The band is the 95% interval over the seeds.
      </p>
      <div class="experiment-curves">
        {learning.map((row) => (
          <Curve key={row.name} row={row} xMax={longest} />
        ))}
      </div>
    </section>
  );
}
