/**
 * @file The experience model's answer as a script: what the text so far decides is given, what nobody has seen yet is the
 * model's own.
 *
 * The reasoning, the verdict, the contents of places and the reward are the model's words; the sentences they stand in
 * are the household's. A model of a hundred million parameters knows what lies in a fridge long before it keeps a form of
 * four lines.
 */
import { RECEPTACLE_TYPES, vocabularyOf, type WorldSize } from '../../envs/household';
import { type Belief, failureObservation, typeOf } from '../transcripts';
import type { Script, ScriptWords } from './script';
import { sentenceOf } from './sentences';

const reasoningTokens = 32;
/** Real places hold no more. */
const mostObjects = 4;
const objectStates = ['plain', 'clean', 'hot', 'cool'];

export function* imaginedAnswer(words: ScriptWords, size: WorldSize, belief: Belief, action: string): Script {
  const thought = yield words.line(reasoningTokens);
  yield words.say(`${thought.endsWith('\n') ? '' : '\n'}Valid:`);
  const said = yield words.choose([' yes\n', ' no\n']);
  yield words.say('Observation:');
  const sentences = said.includes('yes') ? possibleSentences(belief, action) : [];
  if (sentences.length === 0) {
    yield words.finish(` ${sentenceOf(failureObservation, action)}\nReward: 0`);
    return;
  }
  // A sentence that goes on with a list is cut before it.
  const heads = sentences.map((sentence) => (sentence.endsWith('see ') ? ` ${sentence.trimEnd()}` : ` ${sentence}\n`));
  const head = heads.length === 1 ? heads[0] : yield words.choose(heads);
  if (heads.length === 1) yield words.say(head);
  if (!head.endsWith('\n')) yield* contents(words, size, belief);
  yield words.say('Reward:');
  yield words.choose([' 0', ' 1'], true);
}

/** What the household could say to an action that works; a sentence that ends in `see ` goes on with what is there. */
function possibleSentences(belief: Belief, action: string): string[] {
  const { command } = belief.judge(action);
  if (!command) return [];
  const { verb, first, second } = command;
  const say = (observation: string) => [sentenceOf(observation, action)];
  switch (verb) {
    case 'go':
      return sightsOf(belief, first, action);
    case 'open':
      if (!belief.hasSeen(first)) return [`You open the ${first}. The ${first} is open. In it, you see `];
      return say(`open ${first} see ${inside(belief, first)}`);
    case 'examine':
      if (RECEPTACLE_TYPES.has(typeOf(first))) return sightsOf(belief, first, action);
      return objectStates.map((state) => sentenceOf(`state ${first} ${state}`, action));
    case 'look':
      return say(belief.at === null ? ['room', ...belief.receptacles].join(' ') : `facing ${belief.at} see nothing`);
    case 'inventory':
      return say(`carry ${belief.hold ?? 'nothing'}`);
    case 'move':
      return say(`put ${first} ${second}`);
    case 'help':
      return [];
    default:
      return say([verb, first, second].filter((word) => word !== '').join(' '));
  }
}

function sightsOf(belief: Belief, place: string, action: string): string[] {
  const openable = RECEPTACLE_TYPES.get(typeOf(place))?.openable === true;
  const closed = sentenceOf(`at ${place} closed`, action);
  if (belief.isClosed(place)) return [closed];
  const view = (list: string) => sentenceOf(`at ${place} ${openable ? 'open ' : ''}see ${list}`, action);
  if (belief.hasSeen(place)) return [view(inside(belief, place))];
  const open = view('nothing').replace(/nothing\.$/, '');
  return openable ? [closed, open] : [open];
}

const inside = (belief: Belief, place: string): string => belief.contentsOf(place).join(' ') || 'nothing';

/** ` a cup 1, a mug 2.` and the line's end: things that the text has not seen anywhere yet. */
function* contents(words: ScriptWords, size: WorldSize, belief: Belief): Script {
  const known = new Set([...belief.places.keys(), belief.hold]);
  const names = vocabularyOf(size).objects.flatMap(({ type, most }) =>
    Array.from({ length: most }, (_, i) => `${type} ${i + 1}`),
  );
  const left = new Set(names.filter((name) => !known.has(name)));
  for (let count = 1; ; count++) {
    const ends = [...left].map((name) => ` a ${name}.\n`);
    const goes = count < mostObjects ? [...left].map((name) => ` a ${name},`) : [];
    const said = yield words.choose([...(count === 1 ? [' nothing.\n'] : []), ...ends, ...goes]);
    if (!said.endsWith(',')) return;
    left.delete(said.slice(3, -1));
    if (left.size === 0) return;
  }
}
