/** @file The memory plan: sliders, bars against a budget, a verdict and what to change; recomputed at every move. */
import { useSignal } from '@preact/signals';
import type { ModelFacts } from '../../worker/models/protocol';
import { bytes } from '../text/format';
import { visible } from '../text/visible';
import { inputs, plan, setInput } from './choosing';
import { barsOf, budgetGib, budgetOf, type Slider, sliders, stepsOf, verdictWords } from './plan-inputs';
import { ProblemNote } from './problem-note';

export function Plan({ facts }: { facts: ModelFacts }) {
  return (
    <div class="models-part">
      <h3>Memory plan</h3>
      <div class="fields">
        {sliders.map((slider) => (
          <SliderRow key={slider.key} slider={slider} longest={facts.config.contextLength} />
        ))}
        <Budget />
        <HalfCache />
      </div>
      <Answer />
      <ProblemNote place="plan" />
    </div>
  );
}

function SliderRow({ slider, longest }: { slider: Slider; longest: number }) {
  const { key, label, help, words } = slider;
  const steps = stepsOf(key, longest);
  const value = inputs.value[key];
  const at = Math.max(
    0,
    steps.findIndex((step) => step >= value),
  );
  const id = `plan-${key}`;
  return (
    <div class="field">
      <div class="field-head">
        <label for={id}>{label}</label>
        <output for={id}>{words(value)}</output>
      </div>
      <input
        id={id}
        type="range"
        min={0}
        max={steps.length - 1}
        step={1}
        value={at}
        aria-valuetext={words(value)}
        aria-describedby={`${id}-help`}
        onInput={(event) => setInput(key, steps[Number(event.currentTarget.value)])}
      />
      <p class="field-help" id={`${id}-help`}>
        {help}
      </p>
    </div>
  );
}

function HalfCache() {
  return (
    <div class="field">
      <label for="plan-precision">Cache in half precision</label>
      <input
        id="plan-precision"
        type="checkbox"
        checked={inputs.value.precision === 'f16'}
        aria-describedby="plan-precision-help"
        onChange={(event) => setInput('precision', event.currentTarget.checked ? 'f16' : 'f32')}
      />
      <p class="field-help" id="plan-precision-help">
        What the model remembers of a text takes half the memory, and its answers change a little. This device’s
        arithmetic is checked for it at loading.
      </p>
    </div>
  );
}

function Budget() {
  const wrong = useSignal(false);
  return (
    <div class="field">
      <label for="plan-budget">Budget, GiB</label>
      <input
        id="plan-budget"
        type="number"
        inputMode="decimal"
        min={0.1}
        max={1024}
        step="any"
        value={String(budgetGib(inputs.value))}
        aria-invalid={wrong.value}
        aria-describedby="plan-budget-help"
        onInput={(event) => {
          const budget = budgetOf(event.currentTarget.value);
          wrong.value = budget === null;
          if (budget !== null) setInput('budgetBytes', budget);
        }}
      />
      <p class={wrong.value ? 'problem' : 'field-help'} id="plan-budget-help">
        {wrong.value
          ? 'A number from 0.1 to 1024.'
          : 'What you are ready to give. No browser tells a page how much the graphics processor has.'}
      </p>
    </div>
  );
}

function Answer() {
  const found = plan.value;
  if (!found) return null;
  const { bars, budgetShare } = barsOf(found, inputs.value.budgetBytes);
  const { verdict, advice, device } = found;
  return (
    <>
      <p class="verdict">
        <span class={`tag ${verdict === 'fits' ? 'tag-real' : verdict === 'tight' ? 'tag-warn' : 'tag-no'}`}>
          {verdictWords[verdict]}
        </span>{' '}
        {visible(advice)}
      </p>
      <table class="plan-bars">
        <caption class="sr-only">What the memory is for</caption>
        <tbody>
          {bars.map(({ label, bytes: size, share, spare }) => (
            <tr key={label} class={spare ? 'spare' : undefined}>
              <th scope="row">{label}</th>
              <td class="bar-cell" aria-hidden="true">
                <span class="bar" style={{ '--share': share.toFixed(4), '--budget': budgetShare.toFixed(4) }} />
              </td>
              <td class="num">{bytes(size)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p class="field-help">
        Generating and training take turns: only the larger of the two counts (the other is pale). The line is the
        budget.{' '}
        {device
          ? `One buffer on this device holds at most ${bytes(device.largestBufferBytes)}.`
          : 'No graphics processor answered: the plan is for the smallest that WebGPU allows.'}
      </p>
    </>
  );
}
