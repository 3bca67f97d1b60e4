/** @file Which model: the embedded one, files of this computer, or the hub. */
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import type { ModelChoice } from '../../worker/models/protocol';
import { showError } from '../state/messages';
import { chooseKind, hubId, hubToken, inspectFiles, inspectHub, inspecting, kind } from './choosing';
import { droppedFiles, pickedFiles } from './dropped-files';
import { suggestions } from './hub-suggestions';
import { ProblemNote } from './problem-note';

const kinds: readonly (readonly [kind: ModelChoice['kind'], title: string])[] = [
  ['embedded', 'Embedded'],
  ['files', 'From this computer'],
  ['hub', 'From the hub'],
];

export function Chooser() {
  return (
    <div class="models-part">
      <h3>Choose</h3>
      <fieldset class="segmented">
        <legend class="sr-only">Where the model comes from</legend>
        {kinds.map(([value, title]) => (
          <label key={value}>
            <input type="radio" name="model-kind" checked={kind.value === value} onChange={() => chooseKind(value)} />
            <span>{title}</span>
          </label>
        ))}
      </fieldset>
      {kind.value === 'embedded' && (
        <p class="field-help">
          The tiny model that this page trains now. It speaks only the household’s language, and it is always here.
        </p>
      )}
      {kind.value === 'files' && <FilePicker />}
      {kind.value === 'hub' && <HubForm />}
      <ProblemNote place="choose" />
      {inspecting.value && (
        <p class="field-help" role="status">
          Reading the description…
        </p>
      )}
    </div>
  );
}

function FilePicker() {
  const files = useRef<HTMLInputElement>(null);
  const folder = useRef<HTMLInputElement>(null);
  const over = useSignal(false);
  const take = (list: FileList | null) => {
    if (list && list.length > 0) void inspectFiles(pickedFiles(list));
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: dropping is a second way; the buttons inside are the first.
    <div
      class={over.value ? 'drop-zone over' : 'drop-zone'}
      onDragOver={(event) => {
        event.preventDefault();
        over.value = true;
      }}
      onDragLeave={() => {
        over.value = false;
      }}
      onDrop={(event) => {
        event.preventDefault();
        // Elsewhere on the page a dropped file is a run.
        event.stopPropagation();
        over.value = false;
        if (event.dataTransfer)
          void droppedFiles(event.dataTransfer).then(inspectFiles, () =>
            showError({
              code: 'bad-settings',
              message: 'The dropped files could not be read.',
              advice: 'Choose them with the button instead.',
            }),
          );
      }}
    >
      <p>
        A <code>.gguf</code>, or the folder with <code>config.json</code>, the tokenizer and <code>.safetensors</code>{' '}
        or <code>.onnx</code> files. Drop it here, or:
      </p>
      <p class="button-row">
        <button type="button" onClick={() => files.current?.click()}>
          Choose files
        </button>
        <button type="button" onClick={() => folder.current?.click()}>
          Choose a folder
        </button>
      </p>
      <p class="field-help">The files stay on this computer: they are read piece by piece and sent nowhere.</p>
      <input
        ref={files}
        type="file"
        multiple
        hidden
        aria-label="Model files"
        onChange={(event) => {
          take(event.currentTarget.files);
          event.currentTarget.value = '';
        }}
      />
      <input
        ref={folder}
        type="file"
        hidden
        aria-label="Model folder"
        {...{ webkitdirectory: true }}
        onChange={(event) => {
          take(event.currentTarget.files);
          event.currentTarget.value = '';
        }}
      />
    </div>
  );
}

function HubForm() {
  return (
    <form
      class="models-form"
      onSubmit={(event) => {
        event.preventDefault();
        void inspectHub();
      }}
    >
      <p class="notice">
        This leaves your machine: <strong>huggingface.co</strong> is asked for the list of files and the small ones
        (settings, tokenizer: up to some ten MB). The weights are fetched only when you press Download, after you have
        seen how much it is. They are checked against the publisher’s hashes and kept in this browser.
      </p>
      <div class="fields">
        <div class="field">
          <label for="hub-id">Model</label>
          <input
            id="hub-id"
            type="text"
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
            placeholder="owner/name@revision:version"
            aria-describedby="hub-id-help"
            value={hubId.value}
            onInput={(event) => {
              hubId.value = event.currentTarget.value.slice(0, 300);
            }}
          />
          <p class="field-help" id="hub-id-help">
            As on its page. Behind a colon: which version, where there are several (<code>:Q4_K_M</code>).
          </p>
        </div>
        <div class="field">
          <label for="hub-token">Access token (only for models that ask for one)</label>
          <input
            id="hub-token"
            type="password"
            autocomplete="off"
            aria-describedby="hub-token-help"
            value={hubToken.value}
            onInput={(event) => {
              hubToken.value = event.currentTarget.value.slice(0, 300);
            }}
          />
          <p class="field-help" id="hub-token-help">
            Kept in memory only, and sent to huggingface.co only.
          </p>
        </div>
      </div>
      <ul class="suggestions" aria-label="Suggestions">
        {suggestions.map(({ id, title, about }) => (
          <li key={id}>
            <button
              type="button"
              class="quiet"
              onClick={() => {
                hubId.value = id;
              }}
            >
              {title}
            </button>{' '}
            <span class="field-help">{about}</span>
          </li>
        ))}
      </ul>
      <p>
        <button type="submit" class="primary" disabled={hubId.value.trim() === '' || inspecting.value}>
          Look it up
        </button>
      </p>
    </form>
  );
}
