/**
 * @file The closed vocabulary of the household world: everything its rooms, agents, dreams and tasks can say.
 *
 * Order is part of the format: specials, numbers, type words, entities, then words and fixed phrases. A model trained
 * with one list cannot read another, so the list is derived from the world's own tables and pinned by a test.
 */
import { entityNames, vocabularyOf, type WorldSize } from '../envs/household/vocabulary';
import { Tokenizer } from './tokenizer';

const words = (text: string): string[] => text.trim().split(/\s+/);

/** What agents say: ALFWorld's commands in both put grammars. */
const commandWords = [
  'go to',
  ...words('open close take from put in/on move to clean heat cool slice with use examine look inventory help'),
];

/** What the world answers in its abstract form. */
const observationWords = [
  ...words('room at see nothing closed state plain hot cold sliced on off facing carry'),
  'nothing happens',
];

/** The six task families' sentences; frequent runs of words are one token. */
const taskWords = [
  'task',
  'put a',
  'put some',
  'put two',
  'find two',
  'clean some',
  'heat some',
  'cool some',
  'and put it in',
  'and put them in',
  'look at',
  'examine the',
  'under the',
  'with the',
  'in',
];

/** Running state and checks of the reasoning (see dream/transcripts/reasoning.ts). */
const reasoningWords = words(
  `hold new known absent unseen held fits unfit fixed unknown valid invalid object place other light yes no holds`,
);

const tokenizers = new Map<WorldSize, Tokenizer>();

/** The tokenizer of a world size. Built once; the same list on every machine. */
export function householdTokenizer(size: WorldSize): Tokenizer {
  let tokenizer = tokenizers.get(size);
  if (!tokenizer) {
    tokenizer = Tokenizer.fromWords(householdWords(size));
    tokenizers.set(size, tokenizer);
  }
  return tokenizer;
}

function householdWords(size: WorldSize): string[] {
  const { receptacles, objects } = vocabularyOf(size);
  const types = [...receptacles, ...objects];
  const numbers = Array.from({ length: Math.max(...types.map(({ most }) => most)) }, (_, i) => String(i + 1));
  return [
    ...numbers,
    ...types.map(({ type }) => type),
    ...entityNames(size),
    ...commandWords,
    ...observationWords,
    ...taskWords,
    ...reasoningWords,
  ];
}
