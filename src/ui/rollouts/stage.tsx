/** @file The rollout viewer: pick an iteration and a rollout, watch it turn by turn. */
import { useEffect, useRef } from 'preact/hooks';
import type { Trajectory } from '../../data/trajectory';
import { Icon } from '../panels/icon';
import { moveRollout } from '../state/actions';
import { isHidden } from '../state/settings';
import { view, visibleIterations } from '../state/view';
import { number as write } from '../text/format';
import { visibleLine } from '../text/visible';
import { RoomStrip } from './room-strip';
import {
  choose,
  chooseIteration,
  chosenIteration,
  chosenRollout,
  follow,
  isFooled,
  iterationOnStage,
  matching,
  type OutcomeFilter,
  onStage,
  outcome,
  playing,
  query,
  speed,
  togglePlaying,
  visibleTurns,
} from './selection';
import { TurnRow, worldWords } from './turn';

export function Stage() {
  const rollout = onStage.value;
  return (
    <section class="panel stage" aria-labelledby="stage-title">
      <header class="panel-head">
        <h2 id="stage-title">{rollout?.source === 'real' ? 'One episode in the real world' : 'Inside a dream'}</h2>
        <SpeedSwitch />
      </header>
      <Picker />
      {rollout ? <Rollout rollout={rollout} /> : <Nothing />}
    </section>
  );
}

function SpeedSwitch() {
  if (isHidden('speed')) return null;
  return (
    <fieldset class="segmented">
      <legend class="sr-only">Speed of the viewer</legend>
      {(['watch', 'fast'] as const).map((value) => (
        <label key={value}>
          <input
            type="radio"
            name="speed"
            checked={speed.value === value}
            onChange={() => {
              speed.value = value;
            }}
          />
          <span>{value === 'watch' ? 'Watch' : 'Fast'}</span>
        </label>
      ))}
    </fieldset>
  );
}

function Picker() {
  const iterations = visibleIterations.value;
  const current = iterationOnStage.value;
  return (
    <div class="picker">
      <label class="field-inline">
        <span>Iteration</span>
        <select
          value={current === null ? '' : String(current)}
          disabled={iterations.length === 0}
          onChange={(event) => chooseIteration(Number(event.currentTarget.value))}
        >
          {iterations.length === 0 && <option value="">none yet</option>}
          {iterations.map((iteration) => (
            <option key={iteration} value={String(iteration)}>
              {iteration}
            </option>
          ))}
        </select>
      </label>
      <label class="field-inline">
        <span>Show</span>
        <select
          value={outcome.value}
          onChange={(event) => {
            outcome.value = event.currentTarget.value as OutcomeFilter;
            chosenRollout.value = 0;
          }}
        >
          <option value="all">all</option>
          <option value="success">successes</option>
          <option value="failure">failures</option>
          <option value="fooled">fooled the dream</option>
        </select>
      </label>
      <label class="field-inline grow">
        <span class="sr-only">Search in these rollouts</span>
        <input
          type="search"
          placeholder="search: mug, fridge…"
          value={query.value}
          onInput={(event) => {
            query.value = event.currentTarget.value.slice(0, 200);
            chosenRollout.value = 0;
          }}
        />
      </label>
    </div>
  );
}

/** Previous, next, play; beside the dots that show all of them. */
function Stepper() {
  const count = matching.value.length;
  const position = Math.min(chosenRollout.value, count - 1);
  return (
    <div class="stepper">
      <button type="button" class="icon-button" disabled={count < 2} onClick={() => moveRollout(-1)}>
        <Icon name="previous" label="Previous rollout" />
      </button>
      <span class="stepper-count">
        {count === 0 ? '0' : position + 1} of {count}
      </span>
      <button type="button" class="icon-button" disabled={count < 2} onClick={() => moveRollout(1)}>
        <Icon name="next" label="Next rollout" />
      </button>
      <button type="button" class="icon-button" disabled={count === 0} onClick={togglePlaying}>
        {playing.value ? (
          <Icon name="pause" label="Stop playing rollouts" />
        ) : (
          <Icon name="play" label="Play this rollout" />
        )}
      </button>
      {chosenIteration.value !== null && (
        <button type="button" class="quiet" onClick={follow}>
          Follow newest
        </button>
      )}
    </div>
  );
}

function Nothing() {
  const filtered = outcome.value !== 'all' || query.value !== '';
  return (
    <div class="empty">
      <p>
        {filtered && iterationOnStage.value !== null
          ? 'No rollout of this iteration fits the filter.'
          : view.value.kind === 'live'
            ? 'The first episodes appear here when iteration 1 is finished.'
            : 'Episodes appear here when a run is shown.'}
      </p>
    </div>
  );
}

function Rollout({ rollout }: { rollout: Trajectory }) {
  const turns = Math.min(visibleTurns.value, rollout.turns.length);
  const ended = turns >= rollout.turns.length;
  const list = useRef<HTMLElement>(null);
  useEffect(() => {
    // Only the list scrolls; the page stays where its reader is.
    const element = list.current;
    if (element) element.scrollTop = playing.peek() && turns > 1 ? element.scrollHeight : 0;
  }, [turns, rollout]);
  return (
    <>
      <div class="stage-row">
        <GroupDots />
        <Stepper />
      </div>
      <div class="task">
        <p class="task-line">
          <span class="label">Task</span> {visibleLine(rollout.task.instruction)}
        </p>
        <p class="task-meta">
          <span class={`tag tag-${rollout.source}`}>{worldWords[rollout.source]} world</span>
          <span class="tag">{visibleLine(rollout.task.room, 40)}</span>
          {ended && <Outcome rollout={rollout} />}
        </p>
        <RoomStrip rollout={rollout} turns={turns} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable to be scrolled by keyboard. */}
      <section class="turns-scroll" ref={list} tabIndex={0} aria-label="Turns of this rollout">
        <ol class="turns">
          {rollout.turns.slice(0, turns).map((turn, i) => (
            <TurnRow
              key={i}
              turn={turn}
              number={i + 1}
              source={rollout.source}
              mismatch={rollout.replay?.firstMismatch === i}
              fresh={playing.value && i === turns - 1}
            />
          ))}
        </ol>
      </section>
    </>
  );
}

/** The rollouts of this iteration as dots, those of one task together: at a glance, which tries succeeded. */
function GroupDots() {
  const list = matching.value;
  const current = Math.min(chosenRollout.value, list.length - 1);
  if (list.length < 2) return null;
  return (
    <ul class="dots" aria-label="Rollouts of this iteration">
      {list.map((rollout, i) => {
        const kind = isFooled(rollout) ? 'fooled' : rollout.success ? 'success' : 'failure';
        const starts = i > 0 && list[i - 1].group !== rollout.group;
        return (
          <li key={i} class={starts ? 'group-start' : undefined}>
            <button
              type="button"
              class={`dot ${kind}`}
              aria-current={i === current ? 'true' : undefined}
              onClick={() => choose(i)}
              title={`${visibleLine(rollout.task.instruction, 80)}: ${kindWords[kind]}`}
            >
              <Icon
                name={kind === 'success' ? 'check' : kind === 'fooled' ? 'fooled' : 'cross'}
                label={`Rollout ${i + 1}, ${kindWords[kind]}`}
              />
            </button>
          </li>
        );
      })}
    </ul>
  );
}

const kindWords = {
  success: 'success',
  failure: 'failure',
  fooled: 'success only in the dream',
} as const;

function Outcome({ rollout }: { rollout: Trajectory }) {
  const { replay } = rollout;
  return (
    <>
      <span class={rollout.success ? 'tag tag-success' : 'tag tag-failure'}>
        {rollout.lost
          ? 'lost: unreadable answer'
          : rollout.success
            ? 'success'
            : rollout.truncated
              ? 'failure: out of turns'
              : 'failure'}
      </span>
      {rollout.source === 'imagined' && replay && rollout.success && (
        <span class={replay.success ? 'tag tag-real' : 'tag tag-warn'}>
          {replay.success ? 'replayed in the real world: true' : 'replayed in the real world: false'}
        </span>
      )}
      {rollout.advantage !== undefined && (
        <span class="tag" title="Advantage: how much better (+) or worse (−) than the other tries of this task">
          advantage {rollout.advantage > 0 ? '+' : ''}
          {write(rollout.advantage)}
        </span>
      )}
    </>
  );
}
