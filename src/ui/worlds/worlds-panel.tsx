/** @file The panel "Worlds": choose a world and a task, play it, import trajectories. Fetched when it is opened. */
import './worlds.css';
import { useEffect } from 'preact/hooks';
import type { Task } from '../../envs/environment';
import { visible, visibleLine } from '../text/visible';
import { RemoteWorld } from '../worlds-remote';
import { begin, beginNext, choose, fetching, problem, task, tasks, world, worldNames } from './game';
import { ImportPart } from './import-part';
import { PlayPart } from './play-part';

export function WorldsPanel() {
  useEffect(() => {
    if (!world.peek() && !fetching.peek()) void choose(worldNames[0]);
  }, []);
  return (
    <div class="worlds-body">
      <div class="worlds-part">
        <h3>Play</h3>
        <div class="world-choice">
          <div class="world-field">
            <label for="world-choice">World</label>
            <select
              id="world-choice"
              value={fetching.value ?? world.value?.name ?? ''}
              onChange={(event) => void choose(event.currentTarget.value)}
            >
              {worldNames.map((name) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
            </select>
          </div>
          {world.value && <TaskChoice />}
          <button type="button" onClick={beginNext} disabled={!world.value}>
            New task
          </button>
        </div>
        {fetching.value !== null && <p role="status">Fetching this world…</p>}
        {world.value && <p class="panel-about">{visible(world.value.summary)}</p>}
        {problem.value && (
          <p class="problem" role="alert">
            {visible(problem.value.message)} {visible(problem.value.advice)}
          </p>
        )}
        <PlayPart />
      </div>
      <RemoteWorld />
      <ImportPart />
    </div>
  );
}

function TaskChoice() {
  const { training, heldOut } = tasks.value;
  const all = [...training, ...heldOut];
  const options = (list: readonly Task[]) =>
    list.map(({ id, instruction }) => (
      <option key={id} value={id}>
        {visibleLine(instruction, 90)}
      </option>
    ));
  return (
    <div class="world-field world-tasks">
      <label for="world-task">Task</label>
      <select
        id="world-task"
        value={task.value?.id ?? ''}
        onChange={(event) => {
          const chosen = all.find(({ id }) => id === event.currentTarget.value);
          if (chosen) begin(chosen);
        }}
      >
        <optgroup label="To train on">{options(training)}</optgroup>
        <optgroup label="Kept for the exam">{options(heldOut)}</optgroup>
      </select>
    </div>
  );
}
