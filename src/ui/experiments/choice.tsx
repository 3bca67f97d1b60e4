/** @file Which experiment: the page's own, or a file of the reader's; whole or quick. */
import { useRef } from 'preact/hooks';
import { Icon } from '../panels/icon';
import { visibleLine } from '../text/visible';
import { builtIns } from './built-in';
import { choose, chooseQuick, chosen, openFile, ownFile, quick, running, saveDefinition, summary } from './state';

export function Choice() {
  const input = useRef<HTMLInputElement>(null);
  const all = ownFile.value ? [...builtIns, ownFile.value] : builtIns;
  return (
    <div class="experiment-choice">
      <label class="field-inline">
        <span>Experiment</span>
        <select
          value={chosen.value.id}
          disabled={running.value}
          onChange={(event) => {
            const select = event.currentTarget;
            const other = all.find(({ id }) => id === select.value);
            // One that cannot be read is not chosen, and the list says so.
            if (other)
              void choose(other).then(() => {
                select.value = chosen.peek().id;
              });
          }}
        >
          {all.map(({ id, title }) => (
            <option key={id} value={id}>
              {visibleLine(title, 60)}
            </option>
          ))}
        </select>
      </label>
      {summary.value?.hasQuick && (
        <label class="check">
          <input
            type="checkbox"
            checked={quick.value}
            disabled={running.value}
            onChange={(event) => void chooseQuick(event.currentTarget.checked)}
          />
          Quick version: fewer seeds, shorter training, fewer tests
        </label>
      )}
      <div class="experiment-files">
        <button type="button" class="quiet" disabled={running.value} onClick={() => input.current?.click()}>
          <Icon name="open" />
          Open an experiment file
        </button>
        <input
          ref={input}
          type="file"
          hidden
          aria-label="Experiment file"
          accept="application/json,.json"
          onChange={(event) => {
            const file = event.currentTarget.files?.[0];
            if (file) void openFile(file);
            event.currentTarget.value = '';
          }}
        />
        <button type="button" class="quiet" title="To change it and open it again" onClick={saveDefinition}>
          <Icon name="save" />
          Save this experiment’s file
        </button>
      </div>
    </div>
  );
}
