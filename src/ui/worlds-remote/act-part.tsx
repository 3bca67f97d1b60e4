/** @file What a person does in a remote world: a form built from the server's schema, or a line of text. */
import { useState } from 'preact/hooks';
import type { ActionForm } from '../../envs/remote';
import { visibleLine } from '../text/visible';
import { Field, givenValues, shownValue, startValues } from './field';
import { act, facts, possible, waiting } from './state';

export function ActPart() {
  const form = facts.value?.form;
  return form && form.fields.length > 0 ? <FormPart key={form.title} form={form} /> : <LinePart />;
}

function FormPart({ form }: { form: ActionForm }) {
  const [values, setValues] = useState(() => startValues(form.fields));
  const submit = async (event: Event) => {
    event.preventDefault();
    const given = givenValues(form.fields, values);
    const entries = Object.entries(given);
    const shown = entries.length === 1 ? entries[0][1] : JSON.stringify(given);
    if (await act(given, shown)) setValues(startValues(form.fields));
  };
  return (
    <form class="remote-form" onSubmit={(event) => void submit(event)}>
      {form.fields.map((field, i) => (
        <Field
          key={field.name}
          id={`remote-field-${i}`}
          field={field}
          value={shownValue(values, field.name)}
          onValue={(value) => setValues((now) => ({ ...now, [field.name]: value }))}
        />
      ))}
      <DoIt ready />
    </form>
  );
}

const mostShown = 200;

function LinePart() {
  const [words, setWords] = useState('');
  const say = async (line: string) => {
    if (await act(line, line)) setWords('');
  };
  return (
    <>
      <form
        class="world-form"
        onSubmit={(event) => {
          event.preventDefault();
          void say(words);
        }}
      >
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
        <DoIt ready={words.trim() !== ''} />
      </form>
      {possible.value && (
        <details class="world-possible">
          <summary>What the server would accept ({possible.value.length})</summary>
          <ul>
            {possible.value.slice(0, mostShown).map((action) => (
              <li key={action}>
                <button type="button" class="quiet" disabled={waiting.value !== null} onClick={() => void say(action)}>
                  {visibleLine(action, 200)}
                </button>
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

function DoIt({ ready }: { ready: boolean }) {
  return (
    <button type="submit" disabled={!ready || waiting.value !== null}>
      {waiting.value === 'act' ? 'Waiting for the server…' : 'Do it'}
    </button>
  );
}
