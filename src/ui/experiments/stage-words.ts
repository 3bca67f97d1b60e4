/** @file What a row of an experiment does, in plain words: the file's stages read aloud. */
import type { Stage } from '../../dream/experiment/definition';
import { presets } from '../../dream/presets';
import type { ExperimentSummary, SummaryRow } from '../../worker/experiments/protocol';
import { fieldOf } from '../settings/fields';
import { number, percent, plural, points } from '../text/format';

type Settings = ExperimentSummary['settings'];

/** One or more sentences, e.g. `Practice in the dream: GRPO, 12 iterations.` */
export function rowWords({ stages, planning }: Pick<SummaryRow, 'stages' | 'planning'>, shared: Settings): string {
  const sentences = stages.map((stage) => `${stageWords(stage, shared)}.`);
  const learned = sentences.length > 0 ? sentences.join(' Then: ') : 'The agent as it comes with the page.';
  return planning ? `${learned} In the test it plans: ${planningWords(planning)}.` : learned;
}

/** e.g. `+8 points: may be chance` */
export function differenceWords({ mean, low, high }: { mean: number; low: number; high: number }): string {
  return `${points(0, mean)}: ${low > 0 ? 'better' : high < 0 ? 'worse' : 'may be chance'}`;
}

const planningWords = ({ candidates, lookahead }: NonNullable<SummaryRow['planning']>) =>
  `it weighs ${plural(candidates, 'action')} in the dream${lookahead > 0 ? `, ${plural(lookahead, 'turn')} ahead,` : ''} and takes the best`;

function stageWords(stage: Stage, shared: Settings): string {
  switch (stage.kind) {
    case 'rl':
      return practiceWords(stage, shared);
    case 'sft':
      return `Imitates ${demonstrations(stage.updates)}`;
    case 'dpo':
      return `Prefers what succeeded over what failed on ${plural(stage.tasks, 'real task')} (${updates(stage.updates)})`;
    case 'iwm':
      return `Learns what follows ${plural(stage.alternatives, 'other action')} of its own, and imitates ${demonstrations(stage.updates)}`;
    case 'sr':
      return `Learns why the demonstrated action was better than ${stage.alternatives} of its own, and imitates ${demonstrations(stage.updates)}`;
    case 'dream-sft':
      return `Imitates its own dreams that succeeded (${plural(stage.tasks, 'task')}, ${updates(stage.updates)})`;
    case 'experience':
      return dreamWords(stage);
  }
}

const updates = (count: number) => plural(count, 'update');
const demonstrations = (count: number) => `more demonstrations (${updates(count)})`;

function dreamWords({ updates: count, transitions, reasoning, negatives }: Extract<Stage, { kind: 'experience' }>) {
  const how = [updates(count)];
  if (!reasoning) how.push('without reasoning');
  if (transitions !== undefined) how.push(`from ${plural(transitions, 'real step')}`);
  if (negatives !== undefined) how.push(`${percent(negatives)} of them from players who fail`);
  return `The dream is trained anew: ${how.join(', ')}`;
}

/** Said otherwise below, or the same for every row. */
const spoken = new Set(['rollouts', 'algorithm', 'iterations', 'realIterations', 'realBudget', 'preset']);

function practiceWords({ settings: own, families }: Extract<Stage, { kind: 'rl' }>, shared: Settings): string {
  const usual = presets['household-tiny'];
  const all = { ...usual, ...shared, ...own };
  const how = [optionLabel('algorithm', all.algorithm), plural(Number(all.iterations), 'iteration')];
  if (Number(all.realIterations) > 0) how.push(`the last ${number(Number(all.realIterations))} in the real world`);
  if (families)
    how.push(`only on tasks of ${families.map((family) => `“${family.replaceAll('_', ' ')}”`).join(' and ')}`);
  for (const [key, value] of Object.entries(own)) if (!spoken.has(key)) how.push(settingWords(key, value));
  return `Practice in ${all.rollouts === 'real' ? 'the real world' : 'the dream'}: ${how.join(', ')}`;
}

function settingWords(key: string, value: Settings[string]): string {
  if (key === 'retrievalTopK' && value === 0) return 'without memories';
  if (key === 'lambda' && value === 0) return 'without invented tasks';
  if (key === 'history' && value === false) return 'the dream sees only where things stand';
  if (key === 'refreshEvery' && value === 0) return 'the dream is never refreshed';
  if (key === 'minReplayPrecision' && value === 0) return 'never stopped early';
  const label = fieldOf(key)?.label ?? key;
  const name = label.charAt(0).toLowerCase() + label.slice(1);
  if (typeof value === 'boolean') return `${name}: ${value ? 'on' : 'off'}`;
  return `${name}: ${typeof value === 'number' ? number(value) : optionLabel(key, value)}`;
}

function optionLabel(key: string, value: unknown): string {
  const field = fieldOf(key);
  const option = field?.kind === 'choice' ? field.options.find((known) => known.value === value) : undefined;
  return option?.label ?? String(value);
}
