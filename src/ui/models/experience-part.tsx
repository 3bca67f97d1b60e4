/** @file Other experience models: who else could dream, what each cannot do, and one question to try it. */
import { useSignal } from '@preact/signals';
import type { ExperienceReply } from '../../worker/models/protocol';
import { number } from '../text/format';
import { visible, visibleLine } from '../text/visible';
import { activity, asking, working } from './connection';
import {
  action,
  ask,
  builtIn,
  chooseTask,
  endpoint,
  endpointKey,
  prepareQuestions,
  reply,
  type TargetKind,
  target,
  taskId,
  tasks,
  transformersDevice,
  transformersId,
  transformersWeights,
} from './experiencing';
import { ProblemNote } from './problem-note';
import { stop } from './using';

export function ExperiencePart() {
  const open = useSignal(false);
  return (
    <details
      class="models-part experience"
      onToggle={(event) => {
        open.value = event.currentTarget.open;
        if (open.value) void prepareQuestions();
      }}
    >
      <summary>
        <h3>Other experience models</h3>
      </summary>
      {open.value && <Form />}
    </details>
  );
}

const targets: readonly (readonly [kind: TargetKind, title: string])[] = [
  ['loaded', 'The loaded model'],
  ['endpoint', 'An endpoint'],
  ['built-in', 'The browser’s own'],
  ['transformers', 'transformers.js'],
];

function Form() {
  const task = tasks.value.find(({ id }) => id === taskId.value);
  return (
    <form
      class="models-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (!working.value) void ask();
      }}
    >
      <p class="panel-about">
        The dream can be another model: it is told a task, what was seen and what the agent does, and says what happens
        next. None of these can be trained here, except the loaded one.
      </p>
      <fieldset class="segmented wide">
        <legend class="sr-only">Who answers</legend>
        {targets.map(([kind, title]) => (
          <label key={kind}>
            <input
              type="radio"
              name="experience-target"
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
      {target.value === 'endpoint' && <Endpoint />}
      {target.value === 'built-in' && <BuiltIn />}
      {target.value === 'transformers' && <Transformers />}
      <div class="fields">
        <div class="field">
          <label for="experience-task">Task</label>
          <select
            id="experience-task"
            aria-describedby="experience-seen"
            value={taskId.value}
            onChange={(event) => chooseTask(event.currentTarget.value)}
          >
            {tasks.value.map(({ id, instruction }) => (
              <option key={id} value={id}>
                {visibleLine(instruction, 80)}
              </option>
            ))}
          </select>
          <p class="field-help" id="experience-seen">
            {task ? `Seen first: ${visibleLine(task.firstObservation, 300)}` : 'The tasks are being read…'}
          </p>
        </div>
        <div class="field">
          <label for="experience-action">The agent does</label>
          <input
            id="experience-action"
            type="text"
            autocomplete="off"
            value={action.value}
            onInput={(event) => {
              action.value = event.currentTarget.value.slice(0, 200);
            }}
          />
        </div>
      </div>
      <p class="button-row">
        <button type="submit" class="primary" disabled={!task || action.value.trim() === '' || working.value}>
          {activity.value === 'ask' ? 'Waiting for its answer…' : 'Try it: ask one question'}
        </button>
        {activity.value === 'ask' && (
          <button type="button" onClick={() => void stop()}>
            Stop asking
          </button>
        )}
      </p>
      {asking.value && <p class="field-help">{visibleLine(asking.value)}</p>}
      <ProblemNote place="experience" />
      {reply.value && <Reply reply={reply.value} />}
    </form>
  );
}

function Endpoint() {
  return (
    <>
      <p class="notice">
        The question leaves this page for the server you name. It must allow requests from other pages (CORS), as
        Ollama, llama.cpp, vLLM and LM Studio can.
      </p>
      <div class="fields">
        <div class="field">
          <label for="endpoint-url">Address</label>
          <input
            id="endpoint-url"
            type="url"
            autocomplete="off"
            value={endpoint.value.baseUrl}
            onInput={(event) => {
              endpoint.value = { ...endpoint.value, baseUrl: event.currentTarget.value.slice(0, 500) };
            }}
          />
        </div>
        <div class="field">
          <label for="endpoint-model">Its model</label>
          <input
            id="endpoint-model"
            type="text"
            autocomplete="off"
            value={endpoint.value.model}
            onInput={(event) => {
              endpoint.value = { ...endpoint.value, model: event.currentTarget.value.slice(0, 300) };
            }}
          />
        </div>
        <div class="field">
          <label for="endpoint-key">Key, if it asks for one</label>
          <input
            id="endpoint-key"
            type="password"
            autocomplete="off"
            aria-describedby="endpoint-key-help"
            value={endpointKey.value}
            onInput={(event) => {
              endpointKey.value = event.currentTarget.value.slice(0, 500);
            }}
          />
          <p class="field-help" id="endpoint-key-help">
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

function Transformers() {
  return (
    <>
      <p class="notice">
        This leaves your machine: the model’s files are fetched from <strong>huggingface.co</strong> when you ask, often
        hundreds of MB, and the runtime (about 25 MB) from this page. It runs in a worker of its own, which ends when
        another model is asked.
      </p>
      <div class="fields">
        <div class="field">
          <label for="transformers-id">Model</label>
          <input
            id="transformers-id"
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
          <label for="transformers-weights">Weights</label>
          <select
            id="transformers-weights"
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
          <label for="transformers-device">Runs on</label>
          <select
            id="transformers-device"
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

function Reply({ reply: found }: { reply: ExperienceReply }) {
  const { label, limits, raw, tooLong, observation, reasoning, reward, done, valid, lost, refused, seconds } = found;
  return (
    <div class="says world imagined reply">
      <p class="who">
        {visibleLine(label, 100)} <span class="tag tag-imagined">imagined</span>
        {lost && (
          <span class="tag tag-warn">
            {tooLong ? 'the question did not fit its context' : 'could not be read twice: the episode would be lost'}
          </span>
        )}
        {refused && <span class="tag tag-warn">contradicted what was seen: the text’s own rules answered</span>}
        {!lost && !valid && <span class="tag">action had no effect</span>}
      </p>
      {reasoning && <p class="thought">{visible(reasoning)}</p>}
      {tooLong && (
        <p class="field-help">
          A question has about a thousand tokens: load the model with a context of 2,048 or more.
        </p>
      )}
      {!lost && <p class="observation">{visible(observation)}</p>}
      {!lost && (
        <p class="field-help">
          Reward {reward}, {done ? 'the episode ends' : 'the episode goes on'}; {number(seconds)} s.
        </p>
      )}
      <details>
        <summary>What it wrote</summary>
        {raw.map((text, i) => (
          <pre key={i} class="model-output">
            {visible(text, 20_000)}
          </pre>
        ))}
      </details>
      <p class="field-help">
        {limits.logProbabilities ? 'Gives log-probabilities. ' : 'Gives no log-probabilities. '}
        {visible(limits.reason, 600)}
      </p>
    </div>
  );
}
