/** @file The comparison as a table: mean, interval, difference to the baseline, and a picture of the same. */
import type { Row } from '../../dream/experiment/results';
import { percent } from '../text/format';
import { visibleLine } from '../text/visible';

interface Properties {
  rows: readonly Row[];
  baseline: string | null;
}

const width = 160;
/** Success runs from 0 to 1 over the width, with room for the marks. */
const x = (rate: number) => 6 + Math.max(0, Math.min(1, rate)) * (width - 12);

export function ResultTable({ rows, baseline }: Properties) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable to be scrolled by keyboard.
    <section class="scroll" tabIndex={0} aria-label="Results">
      <table class="experiment-table">
        <thead>
          <tr>
            <th scope="col">Method</th>
            <th scope="col">Real success</th>
            <th scope="col">
              <span class="sr-only">Picture</span>
            </th>
            <th scope="col">{baseline ? `Against ${visibleLine(baseline)}` : 'Difference'}</th>
            <th scope="col">Real steps</th>
            <th scope="col">Dreamed steps</th>
            <th scope="col">Seeds</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.name}>
              <th scope="row">{visibleLine(row.name)}</th>
              <td>
                {percent(row.mean)}
                {row.low !== null && row.high !== null && <small> {span(row.low, row.high)}</small>}
              </td>
              <td>
                <Marks row={row} />
              </td>
              <td>{row.difference ? signed(row.difference) : '–'}</td>
              <td>{mean(row, 'realTransitions')}</td>
              <td>{mean(row, 'dreamedTransitions')}</td>
              <td>{row.seeds.length}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** A bar to the mean, a line over its interval, a dot per seed. */
function Marks({ row }: { row: Row }) {
  return (
    <svg viewBox={`0 0 ${width} 18`} class="marks tone-real" aria-hidden="true">
      <path d={`M${x(0)} 9H${x(row.mean)}`} stroke="currentColor" stroke-width="6" opacity=".35" />
      {row.low !== null && row.high !== null && (
        <path d={`M${x(row.low)} 9H${x(row.high)}`} stroke="currentColor" stroke-width="1.5" />
      )}
      {row.seeds.map((run) => (
        <circle key={run.seed} cx={x(run.realSuccess)} cy="9" r="3" fill="currentColor" />
      ))}
    </svg>
  );
}

const span = (low: number, high: number) => `[${percent(low)}, ${percent(high)}]`;

function signed({ mean, low, high }: NonNullable<Row['difference']>): string {
  const sign = mean >= 0 ? '+' : '−';
  return `${sign}${percent(Math.abs(mean))} [${percent(low)}, ${percent(high)}]`;
}

function mean({ seeds }: Row, key: 'realTransitions' | 'dreamedTransitions'): string {
  const total = seeds.reduce((sum, run) => sum + run[key], 0);
  return Math.round(total / Math.max(1, seeds.length)).toLocaleString('en');
}
