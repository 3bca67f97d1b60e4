/**
 * @file The mapping between ALFWorld's sentences and the abstract text the models speak (DreamGym's "rule-based mapping
 * to an abstract, meta-level state space"). Total both ways: text of neither form is returned as it is.
 *
 * | sentence | abstract |
 * |---|---|
 * | You are in the middle of a room. … you see a shelf 2, and a shelf 1. | `room shelf 2 shelf 1` |
 * | (You arrive at shelf 1.) On the shelf 1, you see a cup 1. | `at shelf 1 see cup 1` |
 * | The fridge 1 is closed. / is open. In it, you see nothing. | `at fridge 1 closed` / `at fridge 1 open see nothing` |
 * | You open the fridge 1. The fridge 1 is open. … | `open fridge 1 see apple 1` |
 * | You pick up / put / clean … | `take cup 1 shelf 1`, `put cup 1 shelf 1`, `clean cup 1 sinkbasin 1` |
 * | This is a hot and clean apple 1. | `state apple 1 hot clean` |
 * | You are facing the shelf 1. Next to it, you see nothing. | `facing shelf 1 see nothing` |
 * | You are carrying: a cup 1. / Nothing happens. | `carry cup 1` / `nothing happens` |
 *
 * The world builds both forms itself (feedback.ts); this file serves imports, exports, remote worlds and imagined text.
 */
import { englishList, HELP_TEXT, introSentence, NOTHING_HAPPENS } from './feedback';
import { OBJECT_TYPES } from './vocabulary';

const NAME = '([a-z]\\w* \\d+)';
const LIST = '(nothing|an? [a-z]\\w* \\d+(?:,? (?:and )?an? [a-z]\\w* \\d+)*)';
const pattern = (body: string) => new RegExp(`^${body}$`);

const INTRO = new RegExp(`You are in the middle of a room\\. Looking quickly around you, you see ${LIST}\\.`);
/** `You arrive at shelf 1. `, and the older `You arrive at loc 4. ` and `You arrive at the location. `. */
const ARRIVAL = /^You arrive at [^.]*\. /;

type Rule = readonly [RegExp, (groups: readonly string[]) => string];

const names = (list: string): string =>
  list === 'nothing' ? list : list.replace(/,? and an? |, an? |^an? /g, ' ').trim();

const RULES: readonly Rule[] = [
  [pattern(`On the ${NAME}, you see ${LIST}\\.`), ([r, list]) => `at ${r} see ${names(list)}`],
  [pattern(`The ${NAME} is closed\\.`), ([r]) => `at ${r} closed`],
  [pattern(`The ${NAME} is open\\. In it, you see ${LIST}\\.`), ([r, list]) => `at ${r} open see ${names(list)}`],
  [
    pattern(`You open the ${NAME}\\. The \\1 is open\\. In it, you see ${LIST}\\.`),
    ([r, list]) => `open ${r} see ${names(list)}`,
  ],
  [pattern(`You close the ${NAME}\\.`), ([r]) => `close ${r}`],
  [pattern(`You pick up the ${NAME} from the ${NAME}\\.`), ([o, r]) => `take ${o} ${r}`],
  [pattern(`You put the ${NAME} in/on the ${NAME}\\.`), ([o, r]) => `put ${o} ${r}`],
  [pattern(`You move the ${NAME} to the ${NAME}\\.`), ([o, r]) => `put ${o} ${r}`],
  [pattern(`You (clean|heat|cool) the ${NAME} using the ${NAME}\\.`), ([verb, o, r]) => `${verb} ${o} ${r}`],
  [pattern(`You sliced the ${NAME} with the ${NAME}\\.`), ([o, knife]) => `slice ${o} ${knife}`],
  [pattern(`You turn on the ${NAME}\\.`), ([o]) => `use ${o}`],
  [
    pattern(`You are facing the ([a-z]\\w* \\d+(?:,? (?:and )?[a-z]\\w* \\d+)*)\\. Next to it, you see ${LIST}\\.`),
    ([places, list]) => `facing ${places.replace(/,? and |, /g, ' ')} see ${names(list)}`,
  ],
  [pattern(`You are carrying: an? ${NAME}\\.`), ([o]) => `carry ${o}`],
  [pattern('You are not carrying anything\\.'), () => 'carry nothing'],
  [pattern(`This is a normal ${NAME}\\. In it, you see nothing\\.`), ([o]) => `state ${o} plain`],
  [pattern(`There's nothing special about ${NAME}\\.`), ([o]) => `state ${o} plain`],
  [pattern(`This is a cold ${NAME}\\.`), ([o]) => `state ${o} cool`],
  [
    pattern(`This is a (hot and clean|cool and clean|clean|hot|cool) (sliced )?${NAME}\\.`),
    ([how, sliced, o]) => `state ${o} ${how.replace(' and', '')}${sliced ? ' sliced' : ''}`,
  ],
  [pattern(`This is a sliced ${NAME}\\.`), ([o]) => `state ${o} sliced`],
  [pattern(`This ${NAME} is (on|off)\\.`), ([o, how]) => `state ${o} ${how}`],
];

/** The abstract form of a world's sentence; the sentence itself when it is none of ALFWorld's. */
export function toAbstract(raw: string): string {
  const text = raw.trim();
  if (text.startsWith('Nothing happens')) return NOTHING_HAPPENS.abstract;
  if (text.startsWith('Available commands:')) return 'help';
  const intro = INTRO.exec(text);
  if (intro !== null) return intro[1] === 'nothing' ? 'room' : `room ${names(intro[1])}`;
  const sentence = text.replace(ARRIVAL, '');
  for (const [form, build] of RULES) {
    const match = form.exec(sentence);
    if (match !== null) return build(match.slice(1));
  }
  return raw;
}

/** `cup 1 mug 2` -> [`cup 1`, `mug 2`]; `nothing` -> []; null when the words are not pairs of a type and a number. */
function readNames(words: readonly string[]): string[] | null {
  if (words.length === 1 && words[0] === 'nothing') return [];
  if (words.length === 0 || words.length % 2 === 1) return null;
  const found: string[] = [];
  for (let i = 0; i < words.length; i += 2) {
    if (!/^[a-z]\w*$/.test(words[i]) || !/^\d+$/.test(words[i + 1])) return null;
    found.push(`${words[i]} ${words[i + 1]}`);
  }
  return found;
}

/**
 * ALFWorld's sentence for an abstract observation. The action decides what the text leaves open: whether the agent
 * arrived or only examined, and which put grammar it speaks. Text that is not abstract comes back unchanged.
 */
export function toRaw(abstract: string, action: string): string {
  const words = abstract.split(' ');
  return rawSentence(words, action) ?? abstract;
}

function rawSentence(words: readonly string[], action: string): string | null {
  const verb = words[0];
  switch (verb) {
    case 'nothing':
      return words.length === 2 && words[1] === 'happens' ? NOTHING_HAPPENS.raw : null;
    case 'help':
      return words.length === 1 ? HELP_TEXT : null;
    case 'room': {
      const places = words.length === 1 ? [] : readNames(words.slice(1));
      return places === null ? null : introSentence(places);
    }
    case 'at':
    case 'open':
    case 'facing':
      return viewSentence(words, action);
    case 'state':
      return stateSentence(words);
    default:
      return deedSentence(words, action);
  }
}

function viewSentence(words: readonly string[], action: string): string | null {
  const [kind] = words;
  const split = words.indexOf('see');
  const head = readNames(words.slice(1, 3));
  if (head === null || head.length !== 1) return null;
  const [place] = head;
  const arrival = kind === 'at' && action.startsWith('go to ') ? `You arrive at ${place}. ` : '';
  if (kind === 'at' && words.length === 4 && words[3] === 'closed') return `${arrival}The ${place} is closed.`;
  if (split < 0) return null;
  const seen = readNames(words.slice(split + 1));
  if (seen === null) return null;
  const list = englishList(seen);
  if (kind === 'facing') {
    const places = readNames(words.slice(1, split));
    if (places === null) return null;
    return `You are facing the ${englishList(places).slice(2).replaceAll(', a ', ', ').replace(', and a ', ', and ')}. Next to it, you see ${list}.`;
  }
  if (kind === 'open')
    return split === 3 ? `You open the ${place}. The ${place} is open. In it, you see ${list}.` : null;
  if (split === 3) return `${arrival}On the ${place}, you see ${list}.`;
  return split === 4 && words[3] === 'open' ? `${arrival}The ${place} is open. In it, you see ${list}.` : null;
}

function stateSentence(words: readonly string[]): string | null {
  const head = readNames(words.slice(1, 3));
  if (head === null || head.length !== 1) return null;
  const [name] = head;
  switch (words.slice(3).join(' ')) {
    case 'plain':
      return OBJECT_TYPES.get(words[1])?.dish
        ? `This is a normal ${name}. In it, you see nothing.`
        : `There's nothing special about ${name}.`;
    case 'cool':
      return `This is a cold ${name}.`;
    case 'on':
      return `This ${name} is on.`;
    case 'off':
      return `This ${name} is off.`;
    case 'clean':
    case 'hot':
    case 'sliced':
    case 'clean sliced':
    case 'hot sliced':
    case 'cool sliced':
      return `This is a ${words.slice(3).join(' ')} ${name}.`;
    case 'hot clean':
    case 'cool clean':
    case 'hot clean sliced':
    case 'cool clean sliced':
      return `This is a ${words[3]} and ${words.slice(4).join(' ')} ${name}.`;
    default:
      return null;
  }
}

function deedSentence(words: readonly string[], action: string): string | null {
  const [verb] = words;
  const found = readNames(words.slice(1));
  if (found === null) return null;
  const [first, second] = found;
  if (found.length === 0) return verb === 'carry' ? 'You are not carrying anything.' : null;
  if (found.length === 1) {
    if (verb === 'carry') return `You are carrying: a ${first}.`;
    if (verb === 'close') return `You close the ${first}.`;
    return verb === 'use' ? `You turn on the ${first}.` : null;
  }
  if (found.length !== 2) return null;
  switch (verb) {
    case 'take':
      return `You pick up the ${first} from the ${second}.`;
    case 'put':
      return action.startsWith('move ')
        ? `You move the ${first} to the ${second}.`
        : `You put the ${first} in/on the ${second}.`;
    case 'clean':
    case 'heat':
    case 'cool':
      return `You ${verb} the ${first} using the ${second}.`;
    case 'slice':
      return `You sliced the ${first} with the ${second}.`;
    default:
      return null;
  }
}
