/** @file What can be set before the loaded model is trained: the run, how it acts and dreams, and who dreams. */
import { numberRanges } from '../../dream/presets';
import { type TextSettings, textSettingRanges } from '../../dream/text-household';
import type { RunConfig } from '../../worker/protocol';
import { TargetPicker } from './experience-target';
import { target } from './experiencing';
import { NumberField } from './number-field';
import { alpha, encoderId, rank, recall, settings, text } from './training';

type RunKey =
  | 'iterations'
  | 'tasksPerIteration'
  | 'groupSize'
  | 'maxSteps'
  | 'learningRate'
  | 'evalTasks'
  | 'evalEvery'
  | 'seed';

const runFields: readonly (readonly [RunKey, string])[] = [
  ['iterations', 'Iterations'],
  ['tasksPerIteration', 'Tasks an iteration'],
  ['groupSize', 'Attempts a task'],
  ['maxSteps', 'Actions an attempt'],
  ['learningRate', 'Learning rate'],
  ['evalTasks', 'Tasks of a check'],
  ['evalEvery', 'Iterations between checks'],
  ['seed', 'Seed of the run'],
];

const textFields: readonly (readonly [keyof typeof textSettingRanges, string])[] = [
  ['warmStart', 'Steps of imitation first'],
  ['thoughtTokens', 'Longest thought, tokens'],
  ['headStart', 'Begin so many actions before the goal (0: at the beginning)'],
  ['expertSteps', 'Easiest tasks: at most so many expert actions (0: all)'],
];

const setRun = (key: RunKey, value: RunConfig[RunKey]): void => {
  settings.value = { ...settings.value, [key]: value };
};

const setText = (changes: Partial<TextSettings>): void => {
  text.value = { ...text.value, ...changes };
};

export function TrainForm({ hasAdapter }: { hasAdapter: boolean }) {
  return (
    <>
      <fieldset class="segmented wide">
        <legend class="sr-only">Where it practises</legend>
        {(['dream', 'real'] as const).map((where) => (
          <label key={where}>
            <input
              type="radio"
              name="train-rollouts"
              checked={settings.value.rollouts === where}
              onChange={() => {
                settings.value = { ...settings.value, rollouts: where };
              }}
            />
            <span>{where === 'dream' ? 'In a dream' : 'In the real household'}</span>
          </label>
        ))}
      </fieldset>
      {settings.value.rollouts === 'dream' && <Dream />}
      <div class="fields">
        {runFields.map(([key, label]) => {
          const { min, max, integer } = numberRanges[key];
          const value = settings.value[key];
          const set = (given: number) => setRun(key, given);
          return (
            <NumberField
              key={key}
              id={`train-${key}`}
              label={label}
              {...{ value, min, max }}
              whole={integer}
              onValue={set}
            />
          );
        })}
        {textFields.map(([key, label]) => (
          <NumberField
            key={key}
            id={`train-${key}`}
            label={label}
            value={text.value[key]}
            min={textSettingRanges[key].min}
            max={textSettingRanges[key].max}
            whole
            onValue={(given) => setText({ [key]: given })}
          />
        ))}
        {!hasAdapter && (
          <>
            <NumberField
              id="train-rank"
              label="Rank of the adapter"
              value={rank.value}
              min={4}
              max={256}
              whole
              onValue={(given) => {
                rank.value = Math.ceil(given / 4) * 4;
              }}
            />
            <NumberField
              id="train-alpha"
              label="Alpha of the adapter"
              value={alpha.value}
              min={0.01}
              max={1024}
              onValue={(given) => {
                alpha.value = given;
              }}
            />
          </>
        )}
      </div>
      <Switches />
    </>
  );
}

function Switches() {
  const { constrain, listActions, dreamForm } = text.value;
  const switches: readonly (readonly [label: string, on: boolean, set: (on: boolean) => void])[] = [
    [
      'Every turn ends with an action that is possible now',
      constrain === 'admissible',
      (on) => setText({ constrain: on ? 'admissible' : 'none' }),
    ],
    ['The possible actions stand in the prompt', listActions, (on) => setText({ listActions: on })],
    [
      'The loaded model dreams in the household’s sentences',
      dreamForm === 'guided',
      (on) => setText({ dreamForm: on ? 'guided' : 'free' }),
    ],
  ];
  return (
    <>
      {switches.map(([label, on, set]) => (
        <label key={label} class="switch-line">
          <input type="checkbox" checked={on} onChange={(event) => set(event.currentTarget.checked)} />
          {label}
        </label>
      ))}
    </>
  );
}

function Dream() {
  return (
    <>
      <TargetPicker name="train" legend="Who dreams" />
      {target.value !== 'loaded' && (
        <div class="fields">
          <div class="field">
            <label for="train-recall">Memories are alike by</label>
            <select
              id="train-recall"
              value={recall.value}
              onChange={(event) => {
                recall.value = event.currentTarget.value as typeof recall.value;
              }}
            >
              <option value="words">the same room and action, and words</option>
              <option value="model">meaning, as the loaded model sees it</option>
              <option value="encoder">meaning, by a sentence encoder</option>
            </select>
          </div>
          {recall.value === 'encoder' && (
            <div class="field">
              <label for="train-encoder">Encoder, fetched from huggingface.co</label>
              <input
                id="train-encoder"
                type="text"
                autocomplete="off"
                spellcheck={false}
                value={encoderId.value}
                onInput={(event) => {
                  encoderId.value = event.currentTarget.value.slice(0, 200);
                }}
              />
            </div>
          )}
        </div>
      )}
    </>
  );
}
