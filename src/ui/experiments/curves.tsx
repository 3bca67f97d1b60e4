/** @file Learning curves of two rows at most beside each other: mean over seeds, with its band. */
import { useMemo } from 'preact/hooks';
import { band, type Row } from '../../dream/experiment/results';
import { Plot, type PlotShape } from '../charts/plot';
import { TableTwin } from '../charts/table-twin';
import { percent } from '../text/format';
import { visibleLine } from '../text/visible';

const shape: PlotShape = {
  write: percent,
  range: [0, 1],
  steps: [0.1, 0.2],
  series: (colours) => [
    { stroke: 'transparent', points: { show: false }, spanGaps: true },
    { stroke: 'transparent', points: { show: false }, spanGaps: true },
    { stroke: colours.real, width: 2, points: { show: true, size: 6, fill: colours.real }, spanGaps: true },
  ],
  bands: (colours) => [{ series: [2, 1], fill: colours.band }],
};

function Curve({ row, xMax }: { row: Row; xMax: number }) {
  const points = useMemo(() => band(row.seeds), [row]);
  const xs = useMemo(() => points.map((p) => p.iteration), [points]);
  const lines = useMemo(
    () => [points.map((p) => p.low), points.map((p) => p.high), points.map((p) => p.mean)],
    [points],
  );
  if (points.length < 2) return null;
  const name = visibleLine(row.name);
  return (
    <figure class="chart" aria-label={`Learning curve of ${name}: ${percent(points.at(-1)!.mean)} at the end`}>
      <figcaption class="chart-head">
        <h3>{name}</h3>
        <span class="readout tone-real">{percent(points.at(-1)!.mean)}</span>
      </figcaption>
      <Plot shape={shape} xs={xs} lines={lines} xMax={xMax} height={112} />
      <TableTwin
        name={name}
        iterations={xs}
        columns={[{ title: 'Real success', cells: points.map((p) => percent(p.mean)) }]}
      />
    </figure>
  );
}

export function Curves({ rows }: { rows: readonly Row[] }) {
  const longest = Math.max(0, ...rows.flatMap((row) => row.seeds.flatMap((run) => run.curve.map((p) => p.iteration))));
  if (longest === 0) return null;
  return (
    <div class="experiment-curves">
      {rows.map((row) => (
        <Curve key={row.name} row={row} xMax={longest} />
      ))}
    </div>
  );
}
