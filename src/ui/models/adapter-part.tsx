/** @file A LoRA over the loaded model: in from a file, on and off, out as PEFT and GGUF. */
import { useRef } from 'preact/hooks';
import type { LoadedFacts } from '../../worker/models/protocol';
import { number } from '../text/format';
import { visibleLine } from '../text/visible';
import { activity, working } from './connection';
import { pickedFiles } from './dropped-files';
import { ProblemNote } from './problem-note';
import { training, trainingPaused } from './training-state';
import { exportAdapter, importAdapter, removeAdapter, switchAdapter } from './using';

export function AdapterPart({ loaded: { adapter } }: { loaded: LoadedFacts }) {
  const input = useRef<HTMLInputElement>(null);
  const none = adapter === null;
  // A paused run stands at a safe point: what it has learned so far can be taken along.
  const taken = activity.value !== null || (training.value && !trainingPaused.value);
  return (
    <div class="models-part">
      <h3>Adapter (LoRA)</h3>
      {adapter ? (
        <>
          <p>
            <strong>{visibleLine(adapter.name, 80)}</strong>: rank {adapter.rank}, alpha {number(adapter.alpha)}, over{' '}
            {adapter.modules} layers{adapter.baseModel && `; trained on ${visibleLine(adapter.baseModel, 80)}`}.
          </p>
          <p>
            <label class="switch-line">
              <input
                type="checkbox"
                checked={adapter.enabled}
                disabled={working.value}
                onChange={(event) => void switchAdapter(event.currentTarget.checked)}
              />
              The adapter is on (off: the base alone)
            </label>
          </p>
        </>
      ) : (
        <p class="field-help">
          A small set of weights that was trained over this model. The base is loaded again with room for it.
        </p>
      )}
      <p class="button-row">
        <button type="button" disabled={working.value} onClick={() => input.current?.click()}>
          {activity.value === 'adapter' ? 'Working…' : none ? 'Import an adapter' : 'Import another'}
        </button>
        {(['peft', 'gguf'] as const).map((format) => (
          <button
            key={format}
            type="button"
            aria-disabled={none || taken}
            aria-describedby="adapter-note"
            onClick={() => {
              if (!none && !taken) void exportAdapter(format);
            }}
          >
            Export as {format === 'peft' ? 'PEFT zip' : 'GGUF'}
          </button>
        ))}
        {adapter && (
          <button type="button" disabled={working.value} onClick={() => void removeAdapter()}>
            Remove
          </button>
        )}
      </p>
      <p class="field-help" id="adapter-note">
        {none
          ? 'There is nothing to export yet: import an adapter first. A PEFT zip, all files of a PEFT folder, or a GGUF LoRA.'
          : 'PEFT loads the zip’s folder; llama.cpp, LM Studio and Ollama load the GGUF.'}
      </p>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label="Adapter files"
        onChange={(event) => {
          const files = pickedFiles(event.currentTarget.files ?? []);
          event.currentTarget.value = '';
          void importAdapter(files);
        }}
      />
      <ProblemNote place="adapter" />
    </div>
  );
}
