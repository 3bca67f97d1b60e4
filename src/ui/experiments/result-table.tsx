/** @file The comparison as a table: what each method does, how well it did, how that compares, and a picture of it. */
import { type Row, seedMean } from '../../dream/experiment/results';
import type { ExperimentSummary } from '../../worker/experiments/protocol';
import { count, interval, percent, points } from '../text/format';
import { visibleLine } from '../text/visible';
import { ScrollTable } from './scroll-table';
import { differenceWords, rowWords } from './stage-words';

interface Properties {
  summary: ExperimentSummary;
  /** Those with a result. */
  rows: readonly Row[];
  /** The method that is being run. */
  current: string | null;
}

const width = 160;
/** Success runs from 0 to 1 over the width, with room for the marks. */
const x = (rate: number) => 6 + rate * (width - 12);

export function ResultTable({ summary, rows, current }: Properties) {
  const { baseline, seeds } = summary;
  const inPaper = summary.rows.some(({ paper }) => paper !== undefined);
  const found = new Map(rows.map((row) => [row.name, row]));
  return (
    <ScrollTable label="Methods and results" kind="result-table">
      <thead>
        <tr>
          <th scope="col">Method</th>
          <th scope="col">Real success</th>
          {baseline && <th scope="col">Against {visibleLine(baseline)}</th>}
          {inPaper && <th scope="col">In the paper</th>}
          <th scope="col">Practised steps</th>
          <th scope="col">Seeds</th>
        </tr>
      </thead>
      <tbody>
        {summary.rows.map((method) => {
          const row = found.get(method.name);
          return (
            <tr key={method.name}>
              <th scope="row" class="method">
                {visibleLine(method.name)} {method.name === current && <span class="tag tag-warn">running</span>}
                <small>{visibleLine(rowWords(method, summary.settings))}</small>
              </th>
              <td>{row ? <Success row={row} /> : <Nothing />}</td>
              {baseline && <td>{comparison(row, method.name === baseline)}</td>}
              {inPaper && <td>{method.paper === undefined ? <Nothing /> : visibleLine(method.paper)}</td>}
              <td>{row ? <Practised row={row} /> : <Nothing />}</td>
              <td class="nowrap">
                {row?.seeds.length ?? 0} of {seeds.length}
              </td>
            </tr>
          );
        })}
      </tbody>
    </ScrollTable>
  );
}

const Nothing = () => <span class="nothing">–</span>;

function Success({ row }: { row: Row }) {
  return (
    <>
      <strong>{percent(row.mean)}</strong>
      {/* Seeds that agree to the last task say nothing of how far others would stray. */}
      {row.low !== null && row.high !== null && row.high > row.low && (
        <small class="nowrap"> {interval({ low: row.low, high: row.high })}</small>
      )}
      <Marks row={row} />
    </>
  );
}

/** A bar to the mean, a line over its interval, a dot per seed. */
function Marks({ row }: { row: Row }) {
  return (
    <svg viewBox={`0 0 ${width} 18`} class="marks tone-real" aria-hidden="true">
      <path d={`M${x(0)} 9H${x(1)}`} stroke="currentColor" stroke-width="1" opacity=".25" />
      <path d={`M${x(0)} 9H${x(row.mean)}`} stroke="currentColor" stroke-width="7" opacity=".35" />
      {row.low !== null && row.high !== null && (
        <path d={`M${x(row.low)} 9H${x(row.high)}`} stroke="currentColor" stroke-width="1.5" />
      )}
      {row.seeds.map((run) => (
        <circle key={run.seed} cx={x(run.realSuccess)} cy="9" r="3" fill="currentColor" />
      ))}
    </svg>
  );
}

function comparison(row: Row | undefined, isBaseline: boolean) {
  if (isBaseline) return <small>the others are compared with this</small>;
  if (!row?.difference) return <Nothing />;
  const { low, high } = row.difference;
  return (
    <>
      <span class="nowrap">{differenceWords(row.difference)}</span>
      <small class="nowrap">
        ({signed(low)} to {signed(high)})
      </small>
    </>
  );
}

const signed = (share: number) => points(0, share).replace(' points', '');

function Practised({ row }: { row: Row }) {
  const real = seedMean(row, (run) => run.realTransitions) ?? 0;
  const dreamed = seedMean(row, (run) => run.dreamedTransitions) ?? 0;
  if (real === 0 && dreamed === 0) return <Nothing />;
  return (
    <>
      {real > 0 && <span class="tone-real nowrap">{count(real)} real</span>}
      {dreamed > 0 && <span class="tone-dream nowrap">{count(dreamed)} imagined</span>}
    </>
  );
}
