/**
 * @file What a reflection must not say (dreamgym.md 2.4, lessons of the Early Experience authors' repository).
 *
 * Three leaks make reflections look wise in training and useless afterwards: naming the chosen action as the expert's or
 * the correct one, referring to the alternatives by the labels of the prompt that produced the text, and telling the
 * chosen action's outcome as if it had been seen (a quarter of a first batch, in their report).
 */

export type LeakKind = 'verdict-word' | 'label' | 'outcome' | 'doubled';

export interface Leak {
  kind: LeakKind;
  /** The words that give it away. */
  text: string;
}

const verdicts = /\b(experts?|correct(ly)?|optimal|ground[- ]truth|gold(en)? action|demonstrat(ed|ion))\b/i;
const labels = /\b(action|option|alternative|candidate)\s*#?\d+\b/i;
/** A text that says everything twice was generated past its end. */
const doubled = /^(.{20,}?)\s*\1\s*$/s;

/** All leaks of a reflection on `chosen`. `outcome` is the world's answer to the chosen action, as the agent would see it. */
export function reflectionLeaks(text: string, chosen: { action: string; outcome: string }): Leak[] {
  const leaks: Leak[] = [];
  const find = (kind: LeakKind, pattern: RegExp) => {
    const match = pattern.exec(text);
    if (match) leaks.push({ kind, text: match[0].slice(0, 80) });
  };
  find('verdict-word', verdicts);
  find('label', labels);
  find('doubled', doubled);
  const told = normal(chosen.outcome);
  // An outcome of a word or two ("nothing happens") is no evidence; what repeats the action itself is none either.
  if (told.split(' ').length > 3 && !normal(chosen.action).includes(told) && normal(text).includes(told))
    leaks.push({ kind: 'outcome', text: chosen.outcome.slice(0, 80) });
  return leaks;
}

const normal = (text: string) =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, ' ')
    .trim();
