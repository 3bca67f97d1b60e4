/** @file The replay buffer: the steps the dream can look up before it answers. */
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Source } from '../../data/trajectory';
import type { BufferEntry } from '../../worker/protocol';
import { worldWords } from '../rollouts/turn';
import { trainer } from '../state/trainer';
import { lastIteration, view } from '../state/view';
import { count } from '../text/format';
import { visibleLine } from '../text/visible';

const query = signal('');
const entries = signal<readonly BufferEntry[]>([]);
const limit = 60;
/** Typing should not ask the worker at every key. */
const patienceMs = 250;
let asked = 0;

async function look(): Promise<void> {
  const mine = ++asked;
  try {
    const found = await (await trainer()).buffer(query.value, limit);
    // An answer to an older question must not replace a newer one.
    if (mine === asked) entries.value = found;
  } catch {
    if (mine === asked) entries.value = [];
  }
}

/** Recorded runs carry no memory file; their rollouts are what the memory learned, so those are shown. */
function remembered(text: string): BufferEntry[] {
  const needle = text.trim().toLowerCase();
  const list: BufferEntry[] = [];
  for (const rollouts of [...view.value.rollouts.values()].reverse())
    for (const { firstObservation, turns, source, task } of rollouts) {
      let state = firstObservation;
      for (const { action, observation, reward } of turns) {
        const entry = { state, action, nextState: observation, reward, source, room: task.room };
        if (needle === '' || `${action} ${observation} ${task.room}`.toLowerCase().includes(needle)) list.push(entry);
        if (list.length >= limit) return list;
        state = observation;
      }
    }
  return list;
}

export function Memory() {
  const live = view.value.kind === 'live';
  const iteration = lastIteration.value;
  const text = query.value;
  // A finished iteration and another query change the answer.
  useEffect(() => {
    if (!live) return;
    const timer = setTimeout(() => void look(), patienceMs);
    return () => clearTimeout(timer);
  }, [live, iteration, text]);
  const list = live ? entries.value : remembered(text);
  const size = view.value.metrics.at(-1)?.bufferSize;
  return (
    <div class="browser">
      <p class="panel-about">
        Steps the dream can look up before it answers: what was seen, what was done, what came next.{' '}
        {live
          ? size !== undefined && `${count(size)} steps are kept.`
          : 'A run file does not carry the whole memory; these are the steps of its rollouts.'}
      </p>
      <div class="picker">
        <label class="field-inline grow">
          <span class="sr-only">Search the memory</span>
          <input
            type="search"
            placeholder="search: take mug, fridge, small-3…"
            value={text}
            onInput={(event) => {
              query.value = event.currentTarget.value.slice(0, 200);
            }}
          />
        </label>
      </div>
      {list.length === 0 ? (
        <p class="empty">
          {live && text === '' ? 'The memory is filled when a run starts.' : 'Nothing remembered fits.'}
        </p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable to be scrolled by keyboard.
        <section class="scroll tall" tabIndex={0} aria-label="Replay buffer">
          <table>
            <thead>
              <tr>
                <th scope="col">Room</th>
                <th scope="col">Seen</th>
                <th scope="col">Done</th>
                <th scope="col">Came next</th>
                <th scope="col" class="num">
                  Reward
                </th>
                <th scope="col">Source</th>
              </tr>
            </thead>
            <tbody>
              {list.map((entry, i) => (
                <tr key={i}>
                  <td class="nowrap">{visibleLine(entry.room, 40)}</td>
                  <td class="words">{visibleLine(entry.state, 160)}</td>
                  <td class="words strong">{visibleLine(entry.action, 80)}</td>
                  <td class="words">{visibleLine(entry.nextState, 160)}</td>
                  <td class="num">{entry.reward}</td>
                  <td>
                    <SourceTag source={entry.source} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </div>
  );
}

function SourceTag({ source }: { source: string }) {
  const known = source in worldWords;
  return (
    <span class={known ? `tag tag-${source}` : 'tag'}>
      {known ? worldWords[source as Source] : visibleLine(source, 20)}
    </span>
  );
}
