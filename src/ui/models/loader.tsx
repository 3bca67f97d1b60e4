/** @file Onto the graphics processor: the button, its progress, and what is there now. */
import { useEffect, useRef } from 'preact/hooks';
import type { LoadProgress } from '../../worker/models/protocol';
import { bytes, duration } from '../text/format';
import { visibleLine } from '../text/visible';
import { cancelLoad, facts, load, loadBlocked, pauseOrResume, unload } from './choosing';
import { activity, loaded, progress, working } from './connection';
import { ProblemNote } from './problem-note';

const phaseWords: Record<LoadProgress['phase'], string> = {
  opening: 'Opening',
  checking: 'Checking what was fetched before',
  fetching: 'Fetching',
  'self-test': 'Testing',
  loading: 'Loading onto the graphics processor',
};

export function Loader() {
  const blocked = loadBlocked.value;
  const toFetch = facts.value?.download?.fetchBytes ?? 0;
  const now = loaded.value;
  return (
    <div class="models-part">
      <h3>Load</h3>
      <ProblemNote place="load" />
      {now && (
        <p>
          <strong>{visibleLine(now.label, 80)}</strong> is loaded: {bytes(now.gpuBytes)} on{' '}
          {visibleLine(now.device.adapter, 80)}, context {now.contextLength.toLocaleString('en-US')} tokens
          {now.precision === 'f16' && ', cache in half precision'}, in {duration(now.seconds)}.
        </p>
      )}
      {progress.value && (activity.value === 'load' || activity.value === 'adapter') ? (
        <Progress progress={progress.value} />
      ) : (
        <p class="button-row">
          {facts.value && (
            <button
              type="button"
              class="primary"
              aria-disabled={blocked !== null || working.value}
              aria-describedby="load-note"
              onClick={() => {
                if (!working.value) void load();
              }}
            >
              {toFetch > 0 ? `Download ${bytes(toFetch)} and load` : now ? 'Load this one instead' : 'Load'}
            </button>
          )}
          {now && (
            <button type="button" disabled={working.value} onClick={() => void unload()}>
              Unload
            </button>
          )}
        </p>
      )}
      <p class="field-help" id="load-note">
        {facts.value ? (blocked ?? 'Memory for adapters and training is taken only when a training starts.') : ''}
      </p>
    </div>
  );
}

function Progress({ progress: now }: { progress: LoadProgress }) {
  const cancel = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    // The button that was pressed is gone; whoever works by keyboard goes on here.
    if (document.activeElement === document.body) cancel.current?.focus({ preventScroll: true });
  }, []);
  const { phase, detail, done, total, bytesPerSecond, secondsLeft, paused } = now;
  const downloads = phase === 'fetching' || phase === 'checking';
  return (
    <div class="load-progress">
      <p>
        {paused ? 'Paused' : phaseWords[phase]} <span class="field-help">{visibleLine(detail, 80)}</span>
      </p>
      <progress
        aria-label={phaseWords[phase]}
        max={total > 0 ? total : undefined}
        value={total > 0 ? done : undefined}
      />
      {total > 0 && (
        <p class="field-help">
          {bytes(done)} of {bytes(total)}
          {!paused && bytesPerSecond > 0 && `, ${bytes(bytesPerSecond)}/s`}
          {!paused && secondsLeft !== null && `, ${duration(secondsLeft)} left`}
        </p>
      )}
      <p class="button-row">
        {downloads && (
          <button type="button" onClick={() => void pauseOrResume()}>
            {paused ? 'Go on' : 'Pause'}
          </button>
        )}
        <button ref={cancel} type="button" onClick={() => void cancelLoad()}>
          Cancel
        </button>
      </p>
    </div>
  );
}
