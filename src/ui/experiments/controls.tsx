/** @file Run, stop, save, forget, and how far the experiment is. */
import { useRef } from 'preact/hooks';
import type { RunPhase } from '../../worker/protocol';
import { Icon } from '../panels/icon';
import { machine } from '../state/preflight';
import { phaseWords } from '../state/progress';
import { active } from '../state/trainer';
import { duration, plural } from '../text/format';
import { visibleLine } from '../text/visible';
import {
  allRuns,
  finishedRuns,
  forget,
  progress,
  running,
  saveResults,
  share,
  shown,
  start,
  stop,
  stopping,
} from './state';

export function Controls() {
  const question = useRef<HTMLDialogElement>(null);
  const blocked = machine.value.state === 'blocked';
  const finished = finishedRuns.value;
  const done = finished >= allRuns.value;
  return (
    <div class="experiment-part">
      <div class="experiment-buttons">
        {running.value ? (
          <button type="button" onClick={() => void stop()} disabled={stopping.value}>
            <Icon name="stop" />
            {stopping.value ? 'Stopping…' : 'Stop'}
          </button>
        ) : (
          <button
            type="button"
            class="primary"
            onClick={() => {
              if (!done && !blocked) void start();
            }}
            aria-disabled={done || blocked}
            aria-describedby="experiment-note"
          >
            <Icon name={done ? 'check' : 'play'} />
            {done ? 'Finished' : finished > 0 ? 'Resume' : 'Run the experiment'}
          </button>
        )}
        {(['csv', 'json', 'md'] as const).map((kind) => (
          <button
            key={kind}
            type="button"
            class="quiet"
            onClick={() => saveResults(kind)}
            disabled={shown.value.rows.length === 0}
          >
            <Icon name="save" />
            Save results ({{ csv: 'CSV', json: 'JSON', md: 'Markdown' }[kind]})
          </button>
        ))}
        <button
          type="button"
          class="quiet"
          onClick={() => question.current?.showModal()}
          disabled={running.value || finished === 0}
        >
          <Icon name="reset" />
          Forget results
        </button>
      </div>
      {running.value && <Going />}
      <p class="chart-help" id="experiment-note">
        {blocked
          ? 'Experiments need a graphics processor this page may use: see the message at the top.'
          : advice(done)}
      </p>
      <ForgetQuestion question={question} finished={finished} />
    </div>
  );
}

function advice(done: boolean): string {
  if (running.value && active.value)
    return 'A run is going on this page too: both work, but share the graphics processor.';
  if (running.value)
    return 'You can close the tab: finished runs and iterations are kept, and Resume goes on from there.';
  if (done) return 'All runs are finished. The results are kept in this browser.';
  if (active.value)
    return 'A run is going on this page. An experiment beside it works, but both share the graphics processor and take longer.';
  return 'Each run takes minutes, and many times longer without graphics hardware. You can stop or close the tab at any time and resume later.';
}

function Going() {
  const at = progress.value;
  return (
    <div class="progress">
      <div class="progress-line">
        <strong>
          Run {Math.min(allRuns.value, finishedRuns.value + 1)} of {allRuns.value}
        </strong>
        {at && (
          <span>
            {visibleLine(at.row)}, seed {at.seed}
          </span>
        )}
        <span>{at ? doing(at.detail) : 'Preparing the graphics processor'}</span>
        {at?.secondsLeft !== null && at?.secondsLeft !== undefined && (
          <span>about {duration(at.secondsLeft)} left of this run</span>
        )}
      </div>
      <progress max={1} value={share.value} aria-label="Progress of the experiment" />
    </div>
  );
}

/** The trainer's phases have the page's words; what a stage says of itself is shown as it is. */
function doing(detail: string): string {
  if (detail in phaseWords) return phaseWords[detail as RunPhase];
  const line = visibleLine(detail, 80);
  return line.charAt(0).toUpperCase() + line.slice(1);
}

interface QuestionProperties {
  question: { current: HTMLDialogElement | null };
  finished: number;
}

function ForgetQuestion({ question, finished }: QuestionProperties) {
  const close = () => question.current?.close();
  return (
    <dialog ref={question} aria-labelledby="forget-title">
      <div class="dialog-body">
        <h2 id="forget-title">Forget {plural(finished, 'finished run')}?</h2>
        <p>Their results are deleted from this browser. Save them first to keep them.</p>
        <div class="dialog-actions">
          <button type="button" onClick={close}>
            Keep them
          </button>
          <button
            type="button"
            class="danger"
            onClick={() => {
              close();
              void forget();
            }}
          >
            Forget them
          </button>
        </div>
      </div>
    </dialog>
  );
}
