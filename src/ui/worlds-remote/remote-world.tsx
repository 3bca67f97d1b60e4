/** @file A world on another machine: connect, begin a task, act, see what the server says. Its texts are plain text here. */
import './worlds-remote.css';
import { useEffect, useRef } from 'preact/hooks';
import { NumberField } from '../models/number-field';
import { visible, visibleLine } from '../text/visible';
import { ActPart } from './act-part';
import { BrowserNote, ConnectPart, RelayAdvice } from './connect-part';
import {
  askState,
  begin,
  beginning,
  facts,
  moves,
  number,
  over,
  problem,
  targetOf,
  told,
  total,
  waiting,
} from './state';

const longestText = 20_000;

export function RemoteWorld() {
  return (
    <div class="worlds-part remote-world">
      <h3>A world on another machine</h3>
      <p class="panel-about">
        The real benchmarks run on servers: an OpenEnv server, or one of AgentGym’s. This page talks to the one you name
        and to nobody else. To train there, use the terminal: <code>dream train --env URL --rollouts real</code>.
      </p>
      <ConnectPart />
      <Problem />
      <Connected />
      <BrowserNote />
    </div>
  );
}

function Problem() {
  const found = problem.value;
  if (!found) return null;
  return (
    <div role="alert">
      <p class="problem">
        {visible(found.message)} {found.code === 'remote-no-cors' ? '' : visible(found.advice)}
      </p>
      {found.code === 'remote-no-cors' && <RelayAdvice server={serverOf()} />}
    </div>
  );
}

function serverOf(): string {
  if (facts.value) return facts.value.display;
  try {
    return new URL(targetOf().url.replace(/^ws/i, 'http')).origin;
  } catch {
    return 'http://127.0.0.1:36001';
  }
}

function Connected() {
  const found = facts.value;
  if (!found) return null;
  const { formProblem } = found;
  return (
    <div class="world-game">
      <p>
        <strong>{visibleLine(found.name, 100)}</strong> {visible(found.description, 2000)}
      </p>
      {formProblem && (
        <details>
          <summary>Its form could not be read: what you type goes as a message, or as the JSON you write</summary>
          <p>
            {visible(formProblem.message)} The socket needs no leave, so you can play all the same; with a relay’s
            address for the form, its fields appear here.
          </p>
          <RelayAdvice server={found.display} />
        </details>
      )}
      <div class="world-choice">
        <NumberField
          id="remote-number"
          label={found.hasState ? 'Seed' : 'Task number'}
          value={number.value}
          min={0}
          max={2 ** 31 - 1}
          whole
          onValue={(value) => {
            number.value = value;
          }}
        />
        <button type="button" onClick={() => void begin()} disabled={waiting.value !== null}>
          {waiting.value === 'begin' ? 'Beginning…' : beginning.value === null ? 'Begin' : 'Begin again'}
        </button>
      </div>
      {beginning.value !== null && <Episode first={beginning.value} />}
    </div>
  );
}

function Episode({ first }: { first: string }) {
  const log = useRef<HTMLDivElement>(null);
  const steps = moves.value.length;
  useEffect(() => {
    log.current?.scrollTo({ top: log.current.scrollHeight });
  }, [steps]);
  return (
    <>
      <div class="world-log" ref={log} tabIndex={-1} role="log" aria-label="What the server says">
        <pre>{visible(first, longestText)}</pre>
        {moves.value.map((move, i) => (
          <div key={i}>
            <p class="world-action">
              {i + 1}. {visibleLine(move.action, 500)}
              {!move.valid && <span class="tag">changed nothing</span>}
              {move.reward !== 0 && <span class="tag">reward {shortNumber(move.reward)}</span>}
            </p>
            <pre>{visible(move.observation, longestText)}</pre>
          </div>
        ))}
      </div>
      {over.value === null && <ActPart />}
      {over.value === 'done' && (
        <p role="status" class="world-ending">
          <strong>
            The episode is over after {steps} {steps === 1 ? 'step' : 'steps'}; the reward is {shortNumber(total.value)}
            .
          </strong>
        </p>
      )}
      {over.value === 'lost' && (
        <p role="status" class="world-ending">
          <strong>The episode was lost and does not count.</strong> Begin again when the server answers.
        </p>
      )}
      {facts.value?.hasState && over.value === null && (
        <div class="button-row">
          <button type="button" class="quiet" onClick={() => void askState()} disabled={waiting.value !== null}>
            What the server says of the episode
          </button>
        </div>
      )}
      {told.value !== null && <pre class="remote-state">{visible(told.value, longestText)}</pre>}
    </>
  );
}

const shortNumber = (value: number): string => String(Math.round(value * 1e4) / 1e4);
