/** @file How true the dreams were that the methods practised in: the fidelity numbers of every row, side by side. */
import { type Row, seedMean } from '../../dream/experiment/results';
import { number, percent } from '../text/format';
import { visibleLine } from '../text/visible';
import { ScrollTable } from './scroll-table';

const columns: readonly { id: string; title: string; write?: (value: number) => string }[] = [
  { id: 'dreamedSuccess', title: 'Dreamed success' },
  { id: 'replaySuccess', title: 'The same actions, in the real world' },
  { id: 'replayPrecision', title: 'True successes' },
  { id: 'rewardError', title: 'Reward error' },
  { id: 'nextStateAccuracy', title: 'Answers that are right' },
  { id: 'factTruth', title: 'Things that are there' },
  { id: 'contradictionRate', title: 'Contradictions' },
  { id: 'rankCorrelation', title: 'Agreement on progress', write: number },
  { id: 'alarmedIterations', title: 'Iterations with an alarm', write: number },
];

/** Nothing where no method dreamed. */
export function DreamTruth({ rows }: { rows: readonly Row[] }) {
  const dreamed = rows.filter(({ seeds }) => seeds.some(({ fidelity }) => fidelity !== null));
  if (dreamed.length === 0) return null;
  return (
    <section class="experiment-part" aria-labelledby="experiment-truth">
      <h3 id="experiment-truth">How true the dreams were</h3>
      <p class="chart-help">
        At the end of practice, each mean over the seeds. The dreamed episodes were played again in the real world with
        the same actions; agreement on progress is the rank correlation of dreamed and real success over the tests (1:
        they rise together).
      </p>
      <ScrollTable label="Fidelity of the methods that dreamed" kind="truth-table">
        <thead>
          <tr>
            <th scope="col">Method</th>
            {columns.map(({ id, title }) => (
              <th key={id} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {dreamed.map((row) => (
            <tr key={row.name}>
              <th scope="row" class="nowrap">
                {visibleLine(row.name)}
              </th>
              {columns.map(({ id, write = percent }) => {
                const value = seedMean(row, (run) => run.fidelity?.[id]);
                return <td key={id}>{value === null ? '–' : write(value)}</td>;
              })}
            </tr>
          ))}
        </tbody>
      </ScrollTable>
    </section>
  );
}
