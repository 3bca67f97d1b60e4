/** @file Whose results the table shows: those of this browser, or those that come with the page. */
import { plural } from '../text/format';
import { visibleLine } from '../text/visible';
import type { Recorded } from './state';
import { recorded, source, wanted } from './state';

const choices = [
  ['recorded', 'Recorded by the authors'],
  ['here', 'From this browser'],
] as const;

/** Nothing for an experiment without recorded results. */
export function SourceSwitch() {
  const found = recorded.value;
  if (!found) return null;
  return (
    <div class="experiment-part">
      <div class="experiment-buttons">
        <fieldset class="segmented">
          <legend class="sr-only">Results shown</legend>
          {choices.map(([id, title]) => (
            <label key={id}>
              <input
                type="radio"
                name="experiment-source"
                checked={source.value === id}
                onChange={() => {
                  wanted.value = id;
                }}
              />
              <span>{title}</span>
            </label>
          ))}
        </fieldset>
      </div>
      {source.value === 'recorded' && <Origin found={found} />}
    </div>
  );
}

function Origin({ found: { summary, rows, left, quick } }: { found: Recorded }) {
  const runs = rows.flatMap((row) => row.seeds);
  const [{ adapter, date }] = runs.toSorted((a, b) => b.date.localeCompare(a.date));
  return (
    <p class="chart-help">
      {plural(runs.length, 'run')} of {quick ? 'the quick version of ' : ''}this experiment with{' '}
      {plural(summary.seeds.length, 'seed')}
      {left > 0 && `, ${plural(left, 'run')} not made yet`}, finished {date} on {visibleLine(shortName(adapter), 60)}.
      They come with this page; nothing of them was computed on your machine.
    </p>
  );
}

/** What a browser or driver calls its adapter begins with maker, kind and device, and goes on with versions. */
const shortName = (adapter: string) => adapter.match(/^[^-:(,]+/)?.[0].trim() ?? adapter;
