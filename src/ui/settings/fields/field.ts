/** @file What a field of the settings is: a number within the trainer's own bounds, a choice, or a switch. */
import { numberRanges } from '../../../dream/presets';
import type { RunConfig } from '../../../worker/protocol';

export type Key = keyof RunConfig;

interface FieldBase<K extends Key> {
  key: K;
  label: string;
  /** One sentence. */
  help: string;
  group: GroupId;
}

export interface NumberField extends FieldBase<Key> {
  kind: 'number';
  min: number;
  max: number;
  step: number;
  whole: boolean;
}

export interface ChoiceField extends FieldBase<Key> {
  kind: 'choice';
  /** `about`: one sentence on this option, where the label alone says too little. */
  options: readonly { value: string; label: string; about?: string }[];
}

interface SwitchField extends FieldBase<Key> {
  kind: 'switch';
}

export type Field = NumberField | ChoiceField | SwitchField;

export const groups = [
  { id: 'run', title: 'The run', about: 'What to train, for how long, and from which seed.' },
  { id: 'practice', title: 'Practice', about: 'How many episodes the agent plays before each lesson.' },
  { id: 'dream', title: 'The dream', about: 'How the imagined world answers, and when we stop believing it.' },
  { id: 'learning', title: 'Learning', about: 'How strongly the agent changes after each lesson.' },
  { id: 'method', title: 'The method', about: 'Which algorithm turns rewards into changes, and its fine adjustment.' },
  { id: 'checking', title: 'Checking', about: 'How often the real world is asked. Its answers are never trained on.' },
] as const;
export type GroupId = (typeof groups)[number]['id'];

export const numeric = (
  key: keyof typeof numberRanges,
  group: GroupId,
  label: string,
  step: number,
  help: string,
): NumberField => {
  const { min, max, integer } = numberRanges[key];
  return { kind: 'number', key, group, label, min, max, step, whole: integer, help };
};

export const choice = (
  key: Key,
  group: GroupId,
  label: string,
  options: readonly (readonly [value: string, label: string, about?: string])[],
  help: string,
): ChoiceField => ({
  kind: 'choice',
  key,
  group,
  label,
  options: options.map(([value, text, about]) => ({ value, label: text, ...(about && { about }) })),
  help,
});
