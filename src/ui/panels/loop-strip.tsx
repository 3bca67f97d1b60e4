/** @file How it works, in five steps; while a run is live, the step it is at is lit. */

import type { RunPhase } from '../../worker/protocol';
import { fieldOf } from '../settings/fields';
import { progress, running } from '../state/trainer';
import { view } from '../state/view';

interface LoopStep {
  title: string;
  text: string;
  tone: 'agent' | 'dream' | 'real';
  phases: readonly RunPhase[];
}

/** The step that names the run's algorithm. */
const learning = 'Compare and learn';

const steps: readonly LoopStep[] = [
  {
    title: 'Pick tasks',
    text: 'From the task pool: some given, some invented by the model from tasks that are neither too easy nor too hard.',
    tone: 'agent',
    phases: [],
  },
  {
    title: 'Practise in a dream',
    text: 'The agent acts; the experience model, helped by memories of similar steps, imagines what happens next and whether it worked.',
    tone: 'dream',
    phases: ['rolling-out'],
  },
  {
    title: learning,
    text: 'Each task is tried several times; what went better than usual is made more likely',
    tone: 'agent',
    phases: ['learning'],
  },
  {
    title: 'Remember',
    text: 'Dreamed steps join the memory; tasks that sometimes worked and sometimes did not are tried again and varied.',
    tone: 'dream',
    phases: ['saving'],
  },
  {
    title: 'Check in the real world',
    text: 'Now and then the agent solves real tasks it never saw. The result is only plotted, never trained on.',
    tone: 'real',
    phases: ['evaluating'],
  },
];

function algorithmLabel(name: string): string {
  const field = fieldOf('algorithm');
  return (field?.kind === 'choice' && field.options.find(({ value }) => value === name)?.label) || name;
}

export function LoopStrip() {
  const phase = running.value ? progress.value.phase : null;
  return (
    <section class="how" aria-labelledby="how-title" id="how">
      <h2 id="how-title">How it works</h2>
      <ol class="loop">
        {steps.map(({ title, text, tone, phases }, i) => {
          const now = phase !== null && phases.includes(phase);
          return (
            <li key={title} class={`loop-step tone-${tone}${now ? ' now' : ''}`}>
              <span class="loop-number" aria-hidden="true">
                {i + 1}
              </span>
              <h3>
                {title}
                {now && <span class="tag">now</span>}
              </h3>
              <p>
                {text}
                {title === learning && ` (${algorithmLabel(view.value.config?.algorithm ?? 'grpo')}).`}
              </p>
            </li>
          );
        })}
      </ol>
      <p class="loop-back" aria-hidden="true">
        and again, once per iteration
      </p>
      <p class="how-source">
        The method is DreamGym, “Scaling Agent Learning via Experience Synthesis” (Chen et al., 2025):{' '}
        <a href="https://arxiv.org/abs/2511.03773" rel="noopener noreferrer" target="_blank">
          arXiv 2511.03773
        </a>
        . This is an independent implementation; every calculation runs as WebGPU kernels on your own machine.
      </p>
    </section>
  );
}
