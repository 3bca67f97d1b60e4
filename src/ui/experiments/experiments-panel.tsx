/** @file The experiments panel: choose, run, watch the table grow, take it home. */
import './experiments.css';
import { useEffect } from 'preact/hooks';
import { plural } from '../text/format';
import { visible } from '../text/visible';
import { Choice } from './choice';
import { Controls } from './controls';
import { Curves } from './curves';
import { DreamTruth } from './dream-truth';
import { Problem } from './problem';
import { ResultTable } from './result-table';
import { SourceSwitch } from './source-switch';
import { allRuns, chosen, finishedRuns, look, problem, progress, shown, source, summary } from './state';
import { TransferTable } from './transfer-table';

export function ExperimentsPanel() {
  useEffect(() => {
    if (!summary.peek()) void look();
  }, []);
  const found = summary.value;
  const about = chosen.value.about ?? found?.about;
  return (
    <div class="experiments-body">
      <Choice />
      {problem.value && <Problem found={problem.value} />}
      {!found && !problem.value && <p role="status">Reading the experiment…</p>}
      {found && (
        <>
          <div class="experiment-part">
            {about && <p class="experiment-about">{visible(about)}</p>}
            <p>
              {plural(found.rows.length, 'method')} × {plural(found.seeds.length, 'seed')} ={' '}
              {plural(allRuns.value, 'run')}, {finishedRuns.value} finished.
            </p>
          </div>
          <Controls />
          <SourceSwitch />
          <Results current={progress.value?.row ?? null} />
        </>
      )}
    </div>
  );
}

function Results({ current }: { current: string | null }) {
  const { summary, rows } = shown.value;
  if (!summary) return null;
  return (
    <>
      <ResultTable summary={summary} rows={rows} current={source.value === 'here' ? current : null} />
      {rows.length > 0 && <Reading baseline={summary.baseline !== null} paper={summary.rows.some((r) => r.paper)} />}
      <TransferTable summary={summary} rows={rows} />
      <Curves rows={rows} />
      <DreamTruth rows={rows} />
    </>
  );
}

/** How the table is to be read. */
function Reading({ baseline, paper }: { baseline: boolean; paper: boolean }) {
  return (
    <div class="experiment-part">
      <ul class="legend">
        <li>
          <svg viewBox="0 0 28 10" class="tone-real" aria-hidden="true">
            <path d="M0 5H28" stroke="currentColor" stroke-width="7" opacity=".35" />
          </svg>
          mean over the seeds
        </li>
        <li>
          <svg viewBox="0 0 28 10" class="tone-real" aria-hidden="true">
            <path d="M0 5H28" stroke="currentColor" stroke-width="1.5" />
          </svg>
          95% interval: other seeds would very likely give a mean in it
        </li>
        <li>
          <svg viewBox="0 0 28 10" class="tone-real" aria-hidden="true">
            <circle cx="14" cy="5" r="3" fill="currentColor" />
          </svg>
          one seed
        </li>
      </ul>
      {baseline && (
        <p class="chart-help">
          All methods are tested on the same unseen tasks, so differences are taken task by task, in percentage points.
          “May be chance” stands where the interval holds zero: more seeds would tell.
        </p>
      )}
      {paper && (
        <p class="chart-help">
          The paper’s numbers (percent) are of other worlds and far larger models: compare the order, not the values.
        </p>
      )}
    </div>
  );
}
