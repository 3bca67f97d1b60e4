/** @file Who dreams: the choice between the kinds of experience models, and what each needs to be told. */
import {
  builtIn,
  endpoint,
  endpointKey,
  type TargetKind,
  target,
  transformersDevice,
  transformersId,
  transformersWeights,
} from './experiencing';

const targets: readonly (readonly [kind: TargetKind, title: string])[] = [
  ['loaded', 'The loaded model'],
  ['endpoint', 'An endpoint'],
  ['built-in', 'The browser’s own'],
  ['transformers', 'transformers.js'],
];

/** @param name tells the ids of two pickers on one page apart; what is chosen is the same in both. */
export function TargetPicker({ name, legend }: { name: string; legend: string }) {
  return (
    <>
      <fieldset class="segmented wide">
        <legend class="sr-only">{legend}</legend>
        {targets.map(([kind, title]) => (
          <label key={kind}>
            <input
              type="radio"
              name={`${name}-target`}
              checked={target.value === kind}
              onChange={() => {
                target.value = kind;
              }}
            />
            <span>{title}</span>
          </label>
        ))}
      </fieldset>
      {target.value === 'loaded' && <p class="field-help">The model that is loaded above; it needs a chat template.</p>}
      {target.value === 'endpoint' && <Endpoint name={name} />}
      {target.value === 'built-in' && <BuiltIn />}
      {target.value === 'transformers' && <Transformers name={name} />}
    </>
  );
}

function Endpoint({ name }: { name: string }) {
  return (
    <>
      <p class="notice">
        The question leaves this page for the server you name. It must allow requests from other pages (CORS), as
        Ollama, llama.cpp, vLLM and LM Studio can.
      </p>
      <div class="fields">
        <div class="field">
          <label for={`${name}-endpoint-url`}>Address</label>
          <input
            id={`${name}-endpoint-url`}
            type="url"
            autocomplete="off"
            value={endpoint.value.baseUrl}
            onInput={(event) => {
              endpoint.value = { ...endpoint.value, baseUrl: event.currentTarget.value.slice(0, 500) };
            }}
          />
        </div>
        <div class="field">
          <label for={`${name}-endpoint-model`}>Its model</label>
          <input
            id={`${name}-endpoint-model`}
            type="text"
            autocomplete="off"
            value={endpoint.value.model}
            onInput={(event) => {
              endpoint.value = { ...endpoint.value, model: event.currentTarget.value.slice(0, 300) };
            }}
          />
        </div>
        <div class="field">
          <label for={`${name}-endpoint-key`}>Key, if it asks for one</label>
          <input
            id={`${name}-endpoint-key`}
            type="password"
            autocomplete="off"
            aria-describedby={`${name}-endpoint-key-help`}
            value={endpointKey.value}
            onInput={(event) => {
              endpointKey.value = event.currentTarget.value.slice(0, 500);
            }}
          />
          <p class="field-help" id={`${name}-endpoint-key-help`}>
            Kept in memory until the page is closed, sent to that server and to nobody else.
          </p>
        </div>
      </div>
    </>
  );
}

const availabilityWords: Record<typeof builtIn.value, string> = {
  absent: 'This browser has no built-in language model.',
  unavailable: 'This browser has one, but not for this machine.',
  downloadable: 'The browser fetches its own model first, after you press the button: some gigabytes.',
  downloading: 'The browser is fetching its own model.',
  available: 'The browser’s model is ready.',
};

function BuiltIn() {
  return (
    <p class="field-help">
      {availabilityWords[builtIn.value]} It answers one question at a time and knows no seed, so a run with it cannot be
      repeated exactly.
    </p>
  );
}

function Transformers({ name }: { name: string }) {
  return (
    <>
      <p class="notice">
        This leaves your machine: the model’s files are fetched from <strong>huggingface.co</strong> when you ask, often
        hundreds of MB, and the runtime (about 25 MB) from this page. It runs in a worker of its own, which ends when
        another model is asked.
      </p>
      <div class="fields">
        <div class="field">
          <label for={`${name}-transformers-id`}>Model</label>
          <input
            id={`${name}-transformers-id`}
            type="text"
            autocomplete="off"
            spellcheck={false}
            value={transformersId.value}
            onInput={(event) => {
              transformersId.value = event.currentTarget.value.slice(0, 200);
            }}
          />
        </div>
        <div class="field">
          <label for={`${name}-transformers-weights`}>Weights</label>
          <select
            id={`${name}-transformers-weights`}
            value={transformersWeights.value}
            onChange={(event) => {
              transformersWeights.value = event.currentTarget.value as typeof transformersWeights.value;
            }}
          >
            {(['q4f16', 'q4', 'q8', 'fp16', 'fp32'] as const).map((weights) => (
              <option key={weights}>{weights}</option>
            ))}
          </select>
        </div>
        <div class="field">
          <label for={`${name}-transformers-device`}>Runs on</label>
          <select
            id={`${name}-transformers-device`}
            value={transformersDevice.value}
            onChange={(event) => {
              transformersDevice.value = event.currentTarget.value as 'webgpu' | 'wasm';
            }}
          >
            <option value="webgpu">the graphics processor</option>
            <option value="wasm">the processor (slow)</option>
          </select>
        </div>
      </div>
    </>
  );
}
