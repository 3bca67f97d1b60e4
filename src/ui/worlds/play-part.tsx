/** @file Playing: what the world says, what can be done, and how it is judged. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { plural } from '../text/format';
import { visible, visibleLine } from '../text/visible';
import {
  act,
  askExpert,
  beginning,
  environment,
  filled,
  gapsOf,
  hint,
  moves,
  over,
  possible,
  reward,
  task,
  undo,
  world,
} from './game';
import { judgementOf } from './judgement';
import { WebFrame } from './web-frame';

/** A web page offers hundreds of actions; what is typed narrows them down. */
const mostShown = 60;
const longestText = 20_000;

export function PlayPart() {
  const log = useRef<HTMLDivElement>(null);
  const [words, setWords] = useState('');
  const steps = moves.value.length;
  useEffect(() => {
    // A task is read from its beginning.
    log.current?.scrollTo({ top: steps === 0 ? 0 : log.current.scrollHeight });
  }, [steps, task.value]);
  /** The button that was pressed may be gone: the focus goes to the answer. */
  const press = (action: string) => {
    act(action);
    log.current?.focus();
  };
  const submit = (event: Event) => {
    event.preventDefault();
    act(words);
    setWords('');
  };
  if (!task.value || !environment.value || !world.value) return null;
  return (
    <div class="world-game">
      <p class="world-task">
        <strong>Task:</strong> {visible(task.value.instruction, 1000)}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard. */}
      <div class="world-log" ref={log} tabIndex={0} role="log" aria-label="What the world says">
        <pre>{spoken(beginning.value)}</pre>
        {moves.value.map((move, i) => (
          <div key={i}>
            <p class="world-action">
              {i + 1}. {visibleLine(move.action, 500)}
              {!move.valid && <span class="tag">changed nothing</span>}
            </p>
            <pre>{spoken(move.answer)}</pre>
          </div>
        ))}
      </div>
      {over.value ? (
        <Ending steps={steps} />
      ) : (
        <>
          <form class="world-form" onSubmit={submit}>
            <label>
              What do you do?
              <input
                type="text"
                value={words}
                autocomplete="off"
                spellcheck={false}
                onInput={(event) => setWords(event.currentTarget.value)}
              />
            </label>
            <button type="submit" disabled={words.trim() === ''}>
              Do it
            </button>
          </form>
          {hint.value !== null && (
            <p role="status" class="notice">
              The expert would do: <code>{visibleLine(hint.value, 500)}</code>
            </p>
          )}
          <Possible words={words} press={press} />
        </>
      )}
      <div class="button-row">
        <button type="button" onClick={undo} disabled={steps === 0}>
          Take back
        </button>
        <button type="button" onClick={askExpert} disabled={over.value}>
          Hint
        </button>
      </div>
      {world.value.name === 'web' && <WebFrame environment={environment.value} step={steps} />}
    </div>
  );
}

/** Trees are indented by tabs, which are no trick. */
const spoken = (text: string): string => visible(text.replaceAll('\t', '  '), longestText);

function Ending({ steps }: { steps: number }) {
  const judgement = world.value && environment.value && judgementOf(world.value, environment.value);
  return (
    <div role="status" class={reward.value === 1 ? 'world-ending' : 'world-ending failed'}>
      <p>
        <strong>
          {reward.value === 1
            ? `Task done in ${plural(steps, 'step')}.`
            : `The episode ended after ${plural(steps, 'step')}; the task is not done.`}
        </strong>
      </p>
      {judgement && (
        <>
          <p>{visible(judgement.title)}</p>
          <dl class="facts">
            {judgement.lines.map(({ name, value, good }) => (
              <div key={name}>
                <dt>{visible(name, 300)}</dt>
                <dd>
                  {good !== null && <span aria-hidden="true">{good ? '✓ ' : '✗ '}</span>}
                  {visible(value, 300)}
                  {good === false && <span class="sr-only"> (not met)</span>}
                </dd>
              </div>
            ))}
          </dl>
        </>
      )}
    </div>
  );
}

function Possible({ words, press }: { words: string; press: (action: string) => void }) {
  const wanted = words.trim().toLowerCase();
  const fitting = possible.value.filter((action) => action.toLowerCase().includes(wanted));
  const shown = (fitting.length > 0 ? fitting : possible.value).slice(0, mostShown);
  return (
    <details class="world-possible" open>
      <summary>
        What is possible ({possible.value.length}
        {shown.length < possible.value.length && `, ${shown.length} shown: type to narrow down`})
      </summary>
      <ul>
        {shown.map((action) => (
          <li key={action}>
            {gapsOf(action) ? <Template action={action} press={press} /> : <Whole action={action} press={press} />}
          </li>
        ))}
      </ul>
    </details>
  );
}

function Whole({ action, press }: { action: string; press: (action: string) => void }) {
  return (
    <button type="button" class="quiet" onClick={() => press(action)}>
      {visibleLine(action, 200)}
    </button>
  );
}

function Template({ action, press }: { action: string; press: (action: string) => void }) {
  const [texts, setTexts] = useState<readonly string[]>([]);
  const gaps = gapsOf(action);
  if (!gaps) return null;
  const submit = (event: Event) => {
    event.preventDefault();
    press(filled(gaps, texts));
    setTexts([]);
  };
  return (
    <form class="world-template" onSubmit={submit}>
      {gaps.pieces.map((piece, i) => (
        <span key={i}>
          <code>{visibleLine(piece, 200)}</code>
          {i < gaps.names.length && (
            <input
              type="text"
              aria-label={`${visibleLine(gaps.names[i])} in ${visibleLine(action)}`}
              placeholder={visibleLine(gaps.names[i])}
              value={texts[i] ?? ''}
              autocomplete="off"
              onInput={(event) => {
                const { value } = event.currentTarget;
                setTexts(gaps.names.map((_, at) => (at === i ? value : (texts[at] ?? ''))));
              }}
            />
          )}
        </span>
      ))}
      <button type="submit" class="quiet">
        Do<span class="sr-only"> {visibleLine(action)}</span>
      </button>
    </form>
  );
}
