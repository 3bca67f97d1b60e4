/** @file What carries over: every method on every family of tasks, with those it trained on marked. */

import type { Row } from '../../dream/experiment/results';
import { type Transfer, transferOf } from '../../dream/experiment/transfer';
import type { ExperimentSummary } from '../../worker/experiments/protocol';
import { percent } from '../text/format';
import { visibleLine } from '../text/visible';
import { ScrollTable } from './scroll-table';
import { differenceWords } from './stage-words';

const familyWords = (family: string) => visibleLine(family.replaceAll('_', ' '), 60);

/** Nothing where no method is bound to some families. */
export function TransferTable({ summary, rows }: { summary: ExperimentSummary; rows: readonly Row[] }) {
  const found = transferOf(
    { rows: summary.rows.map((row) => ({ ...row, stages: [...row.stages] })), baseline: summary.baseline ?? undefined },
    rows.flatMap((row) => row.seeds),
  );
  if (found.length === 0) return null;
  const families = [...new Set(found.flatMap((row) => Object.keys(row.families)))];
  return (
    <section class="experiment-part" aria-labelledby="experiment-transfer">
      <h3 id="experiment-transfer">What carries over</h3>
      <p class="chart-help">
        Real success on each kind of task. Where a method trained on that kind, it says so; all others it had only
        imitated. The last column holds what it never practised against the same tasks before any practice.
      </p>
      <ScrollTable label="Success by kind of task" kind="transfer-table">
        <thead>
          <tr>
            <th scope="col">Trained on</th>
            {families.map((family) => (
              <th key={family} scope="col">
                {familyWords(family)}
              </th>
            ))}
            <th scope="col">All it did not train on</th>
          </tr>
        </thead>
        <tbody>
          {found.map((row) => (
            <tr key={row.name}>
              <th scope="row" class="nowrap">
                {visibleLine(row.name)}
              </th>
              {families.map((family) => (
                <Cell key={family} row={row} family={family} />
              ))}
              <td class="nowrap">{others(row)}</td>
            </tr>
          ))}
        </tbody>
      </ScrollTable>
    </section>
  );
}

function Cell({ row, family }: { row: Transfer; family: string }) {
  const rate = row.families[family];
  const trained = row.trainedOn === null || row.trainedOn.includes(family);
  return (
    <td class={trained ? 'trained' : ''}>
      {rate === undefined ? '–' : percent(rate)}
      {trained && <small>trained</small>}
    </td>
  );
}

function others({ unseen, difference: d }: Transfer) {
  if (unseen === null) return '–';
  if (!d) return percent(unseen);
  return (
    <>
      <strong>{percent(unseen)}</strong>
      <small> {differenceWords(d)}</small>
    </>
  );
}
