/**
 * @file Between a language model's English and the household's own text: sentences to abstract observations and back, loose
 * words to commands.
 *
 * Tolerant of what does not change the meaning (case, quotes, articles, a missing full stop, `put X on Y`), strict about
 * the rest: what is still no sentence or command of this world is null, and counted as malformed by whoever asked.
 */
import { formatCommand, parseCommand, toAbstract, toRaw } from '../../envs/household';
import { isObservation } from '../transcripts';

/** The longest sentence of the largest rooms has some 900 letters. */
const longestSentence = 2_000;
const longestCommand = 200;

/** ALFWorld's sentence for an abstract observation after `action`. */
export function sentenceOf(observation: string, action: string): string {
  return oneLine(toRaw(observation, action), longestSentence);
}

/** The abstract observation that a sentence says, or null. */
export function observationOf(text: string): string | null {
  const words = oneLine(text, longestSentence).replace(/^["'`*\s]+|["'`*\s]+$/g, '');
  if (words === '') return null;
  const lower = words.toLowerCase();
  const plain = lower.replace(/[.!]+$/, '');
  // `On`, `In`, `You`, `This` begin sentences; names are lower case.
  const sentence = `${plain}.`.replace(/(^|\. )([a-z])/g, (_, before: string, letter: string) => {
    return before + letter.toUpperCase();
  });
  const abstract = toAbstract(sentence);
  if (isObservation(abstract)) return abstract;
  return isObservation(plain) ? plain : null;
}

/** Other words for the same command, after articles are gone. */
const rephrased: readonly [RegExp, string][] = [
  [/^(?:put|place|move) (\S+ \d+) (?:in\/on|in|on|into|onto|inside|to) (\S+ \d+)$/, 'put $1 in/on $2'],
  [/^(?:pick up|grab|get) (\S+ \d+) from (\S+ \d+)$/, 'take $1 from $2'],
  [/^(?:turn on|switch on) (\S+ \d+)$/, 'use $1'],
  [/^look (?:at|in|inside) (\S+ \d+)$/, 'examine $1'],
  [/^look around$/, 'look'],
];

/** The command that a line says, in the world's own form, or null. */
export function commandOf(line: string): string | null {
  if (line.length > longestCommand) return null;
  const words = line
    .toLowerCase()
    .replace(/["'`*<>[\](){}]/g, '')
    .replace(/^[^a-z]+|[^a-z0-9]+$/g, '')
    .split(/\s+/)
    .filter((word) => word !== 'the' && word !== 'a' && word !== 'an')
    .join(' ');
  const command = parseCommand(rephrased.reduce((text, [form, to]) => text.replace(form, to), words));
  return command && formatCommand(command.verb, command.first, command.second);
}

/** Text of a model or a file as one line of bounded length. */
export function oneLine(text: string, longest: number): string {
  return text.slice(0, longest).replace(/\s+/g, ' ').trim();
}
