/** @file Other experience models: who else could dream, what each cannot do, and one question to try it. */
import { useSignal } from '@preact/signals';
import type { ExperienceReply } from '../../worker/models/protocol';
import { number } from '../text/format';
import { visible, visibleLine } from '../text/visible';
import { activity, asking, working } from './connection';
import { TargetPicker } from './experience-target';
import { action, ask, chooseTask, prepareQuestions, reply, taskId, tasks } from './experiencing';
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
      <TargetPicker name="experience" legend="Who answers" />
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
