/** @file The model card of the embedded model, written from the facts of its training and nothing else. */
import type { Rate } from '../../worker/protocol';
import type { Fidelity, Share } from './fidelity';

interface RoleCount {
  episodes: number;
  tokens: number;
}

export interface ModelCardFacts {
  recipe: object;
  counts: { steps: number; tokens: number; experience: RoleCount; policy: RoleCount; generator: RoleCount };
  parameters: number;
  adapter: string;
  seconds: number;
  date: string;
  fidelity: Record<'withRetrieval' | 'withoutRetrieval', Fidelity>;
  warmStart: { atRolloutTemperature: Rate; atLowTemperature: Rate };
}

const share = ({ right, of }: Share): string =>
  of === 0 ? '-' : `${((100 * right) / of).toFixed(1)} % (${right}/${of})`;
const rate = ({ rate, low, high, episodes }: Rate): string =>
  `${(100 * rate).toFixed(1)} % [${(100 * low).toFixed(1)}, ${(100 * high).toFixed(1)}] of ${episodes}`;

export function householdModelCard(facts: ModelCardFacts): string {
  const { counts, fidelity, warmStart } = facts;
  const row = (label: string, pick: (f: Fidelity) => Share): string =>
    `| ${label} | ${share(pick(fidelity.withRetrieval))} | ${share(pick(fidelity.withoutRetrieval))} |`;
  return `---
license: apache-2.0
library_name: dreamgym-web
pipeline_tag: text-generation
tags: [reinforcement-learning, world-model, synthetic-experience, browser-trained]
---
# household-tiny

One Llama-style base of ${facts.parameters.toLocaleString('en-US')} parameters that plays three roles by prompt in the small
household world: policy (\`<pol>\`), experience model (\`<em>\`) and task generator (\`<gen>\`). Trained from scratch by this
project's own WebGPU engine, on scripted play with programmatic reasoning; no other model's output was used.

Made with \`npm run dream -- pretrain\` on ${facts.adapter}, ${facts.date}, in ${facts.seconds} s; the settings stand in
pretraining.json.

| role | episodes | tokens |
|---|---|---|
| experience model (scripted players of six kinds) | ${counts.experience.episodes} | ${counts.experience.tokens} |
| policy (successful demonstrations of the clumsy player) | ${counts.policy.episodes} | ${counts.policy.tokens} |
| task generator | ${counts.generator.episodes} | ${counts.generator.tokens} |

## Fidelity of the experience model
Held-out rooms, true history, greedy answers, ${fidelity.withRetrieval.cases} cases (malformed: ${fidelity.withRetrieval.malformed} / ${fidelity.withoutRetrieval.malformed}):

| | with retrieval | without |
|---|---|---|
${row('next observation exact', (f) => f.observation)}
${row('the same where the history decides it', (f) => f.deterministic)}
${row('reward right', (f) => f.reward)}
${row('false successes among failures', (f) => f.falseSuccesses)}
${row('true successes recognised', (f) => f.trueSuccesses)}
${row('invalid actions recognised', (f) => f.invalidActions)}

## Policy before any reinforcement learning
Real success on held-out tasks in unseen rooms, 16 steps, 95 % interval: ${rate(warmStart.atRolloutTemperature)} at temperature 1,
${rate(warmStart.atLowTemperature)} at temperature 0.4.

## Limits
It knows only the small household world's words. Rewards it imagines are a model's opinion; the program measures how often
they are true.
`;
}
