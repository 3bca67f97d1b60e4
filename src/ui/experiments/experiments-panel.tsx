/** @file The experiments panel: choose, run, watch the table grow, take it home. */
import './experiments.css';
import { useEffect } from 'preact/hooks';
import { Icon } from '../panels/icon';
import { visible, visibleLine } from '../text/visible';
import { Curves } from './curves';
import { ResultTable } from './result-table';
import {
  allRuns,
  builtIn,
  definition,
  fileName,
  finishedRuns,
  forget,
  look,
  openFile,
  problem,
  progress,
  quick,
  rows,
  running,
  saveResults,
  start,
  stop,
  stopping,
  summary,
} from './state';

export function ExperimentsPanel() {
  useEffect(() => {
    if (!summary.peek()) void look();
  }, []);
  const found = summary.value;
  return (
    <div class="experiments-body">
      <Choice />
      {problem.value && <Problem />}
      {found && (
        <>
          {found.about && <p>{visible(found.about)}</p>}
          <p>
            {found.rows.length} methods × {found.seeds.length} {found.seeds.length === 1 ? 'seed' : 'seeds'}:{' '}
            {allRuns.value} runs, {finishedRuns.value} of them finished. Without a fast graphics processor one run takes
            minutes; you may close the page in between.
          </p>
          <Controls />
        </>
      )}
      {rows.value.length > 0 && (
        <>
          <ResultTable rows={rows.value} baseline={baselineOf(definition.value)} />
          <p class="chart-help">
            Means over seeds with their 95% interval (Student); differences are taken task by task, because all methods
            are examined on the same unseen tasks.
          </p>
          <Curves rows={rows.value} />
        </>
      )}
    </div>
  );
}

function baselineOf(value: unknown): string | null {
  const baseline = (value as { baseline?: unknown } | null)?.baseline;
  return typeof baseline === 'string' ? baseline : null;
}

function Choice() {
  const own = definition.value !== builtIn;
  return (
    <div class="button-row">
      <button
        type="button"
        aria-pressed={!own}
        disabled={running.value}
        onClick={() => {
          definition.value = builtIn;
          fileName.value = null;
          void look();
        }}
      >
        The paper’s table
      </button>
      <label class={`button file-button${own ? ' chosen' : ''}`}>
        {own && fileName.value ? visibleLine(fileName.value) : 'Open an experiment file…'}
        <input
          type="file"
          class="sr-only"
          accept="application/json,.json"
          disabled={running.value}
          onChange={(event) => {
            const [file] = event.currentTarget.files ?? [];
            if (file) void openFile(file);
            event.currentTarget.value = '';
          }}
        />
      </label>
      {summary.value?.hasQuick && (
        <label class="check">
          <input
            type="checkbox"
            checked={quick.value}
            disabled={running.value}
            onChange={(event) => {
              quick.value = event.currentTarget.checked;
              void look();
            }}
          />{' '}
          Quick version: one seed, a fraction of the updates
        </label>
      )}
    </div>
  );
}

function Controls() {
  const at = progress.value;
  const done = finishedRuns.value >= allRuns.value;
  return (
    <>
      <div class="button-row">
        {running.value ? (
          <button type="button" onClick={() => void stop()} disabled={stopping.value}>
            {stopping.value ? 'Stopping at the next safe point…' : 'Stop'}
          </button>
        ) : (
          <button type="button" class="primary" onClick={() => void start()} disabled={done}>
            {finishedRuns.value > 0 ? 'Go on' : 'Run the experiment'}
          </button>
        )}
        <button type="button" onClick={() => void saveResults('csv')} disabled={finishedRuns.value === 0}>
          Save as CSV
        </button>
        <button type="button" onClick={() => void saveResults('json')} disabled={finishedRuns.value === 0}>
          Save as JSON
        </button>
        <button
          type="button"
          class="quiet"
          onClick={() => void forget()}
          disabled={running.value || finishedRuns.value === 0}
        >
          Forget these results
        </button>
      </div>
      {running.value && (
        <div class="experiment-progress">
          <progress value={at ? at.fraction : 0} max={1} aria-label="This run" />
          <p>
            {at
              ? `${visibleLine(at.row)}, seed ${at.seed}: ${visibleLine(at.detail)}${left(at.secondsLeft)}`
              : 'Opening the graphics processor…'}
          </p>
        </div>
      )}
    </>
  );
}

function left(seconds: number | null): string {
  if (seconds === null) return '';
  return seconds < 90
    ? `, about ${Math.ceil(seconds / 10) * 10} s left`
    : `, about ${Math.round(seconds / 60)} min left`;
}

function Problem() {
  const { message, advice } = problem.value!;
  return (
    <section class="card card-error" role="alert">
      <Icon name="error" />
      <div>
        <p>{visible(message)}</p>
        {advice && <p class="advice">{visible(advice)}</p>}
      </div>
      <button
        type="button"
        class="icon-button small"
        onClick={() => {
          problem.value = null;
        }}
      >
        <Icon name="close" label="Close" />
      </button>
    </section>
  );
}
