/** @file Start, Pause, Step, Stop, Reset, and how far the run is. */
import { askReset, run, stepOnce, stopRun } from '../state/actions';
import { replaying, seek, showRecorded, toggleReplay } from '../state/playback';
import { machine } from '../state/preflight';
import { phaseWords, whereIs } from '../state/progress';
import { isHidden, settings } from '../state/settings';
import { active, busy, paused, progress, running } from '../state/trainer';
import { lastIteration, recorded, shown, view } from '../state/view';
import { duration, percent, plural } from '../text/format';
import { visibleLine } from '../text/visible';
import { FileBar } from './file-bar';
import { Icon } from './icon';

export function ControlDeck() {
  const blocked = machine.value.state === 'blocked';
  const live = view.value.kind === 'live';
  return (
    <div class="deck">
      <div class="deck-buttons">
        <button
          type="button"
          class="primary"
          id="run-button"
          onClick={run}
          aria-disabled={blocked || busy.value}
          aria-describedby="deck-note"
        >
          <Icon name={running.value ? 'pause' : 'play'} />
          {running.value ? 'Pause' : paused.value ? 'Resume' : live ? 'Start again' : 'Start'}
          <span class="key" aria-hidden="true">
            Space
          </span>
        </button>
        {!isHidden('step') && (
          <button
            type="button"
            onClick={stepOnce}
            disabled={blocked || running.value}
            title="One iteration, then pause (.)"
          >
            <Icon name="step" />
            Step
          </button>
        )}
        <button type="button" onClick={stopRun} disabled={!active.value} title="End the run here and keep it">
          <Icon name="stop" />
          Stop
        </button>
        {!isHidden('reset') && (
          <button type="button" onClick={askReset} disabled={!live} title="Throw the run away (r)">
            <Icon name="reset" />
            Reset
          </button>
        )}
      </div>
      <p class="deck-note" id="deck-note">
        <DeckNote blocked={blocked} />
      </p>
      {live ? <LiveProgress /> : <ReplayBar />}
      <FileBar />
    </div>
  );
}

/** What Start would do, in one sentence. */
function DeckNote({ blocked }: { blocked: boolean }) {
  const { iterations, preset, seed } = settings.value;
  if (blocked) return <>Training needs a graphics processor this page may use: see the message above.</>;
  if (active.value) return <>You can close the tab: the last finished iteration is kept.</>;
  const { adapter } = machine.value;
  return (
    <>
      {plural(iterations, 'iteration')} of <em>{preset}</em>, seed {seed}
      {adapter ? <> on {visibleLine(adapter, 60)}</> : ''}. Nothing leaves this computer.
    </>
  );
}

function LiveProgress() {
  const { phase, iterations, fraction, secondsLeft, detail } = progress.value;
  const { current, share } = whereIs(progress.value);
  const inside = running.value && fraction > 0 ? ` ${percent(fraction)}` : '';
  return (
    <div class="progress">
      <div class="progress-line">
        <strong>
          {phaseWords[phase]}
          {inside}
        </strong>
        {iterations > 0 && (
          <span>
            iteration {current} of {iterations}
          </span>
        )}
        {secondsLeft !== null && running.value && <span>about {duration(secondsLeft)} left</span>}
      </div>
      <progress max={1} value={share} aria-label="Progress of the run" />
      {detail && <p class="progress-detail">{visibleLine(detail, 120)}</p>}
    </div>
  );
}

function ReplayBar() {
  const last = lastIteration.value;
  if (last === 0) return null;
  const at = Math.min(shown.value, last);
  const { kind, adapter } = view.value;
  return (
    <div class="progress">
      <div class="progress-line">
        <strong>{kind === 'imported' ? 'Imported run' : 'Recorded run'}</strong>
        <span>
          iteration {at} of {last}
        </span>
        {adapter && <span>made on {visibleLine(adapter, 60)}</span>}
        {kind === 'imported' && recorded.value && (
          <button type="button" class="quiet" onClick={showRecorded}>
            Back to the recorded run
          </button>
        )}
      </div>
      <div class="scrubber">
        <button type="button" class="icon-button" onClick={toggleReplay}>
          <Icon
            name={replaying.value ? 'pause' : 'play'}
            label={replaying.value ? 'Pause the replay' : 'Replay the run'}
          />
        </button>
        <input
          type="range"
          min={0}
          max={last}
          value={at}
          aria-label="Iteration shown"
          onInput={(event) => seek(event.currentTarget.valueAsNumber)}
        />
      </div>
    </div>
  );
}
