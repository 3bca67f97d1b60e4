/**
 * @file ALFWorld commands as data. One parser for the world, the abstract mapping and the annotators, without a regular
 * expression: a command is exactly its words joined by single spaces, or it is nothing.
 */

/** 0.3 and earlier say `put X in/on Y`, 0.4 and later `move X to Y`. */
export type PutGrammar = 'put' | 'move';

export type Verb =
  | 'go'
  | 'open'
  | 'close'
  | 'take'
  | 'put'
  | 'move'
  | 'clean'
  | 'heat'
  | 'cool'
  | 'slice'
  | 'use'
  | 'examine'
  | 'look'
  | 'inventory'
  | 'help';

export interface Command {
  verb: Verb;
  /** The first name, e.g. `cup 1` of `take cup 1 from shelf 1`; empty when the verb takes none. */
  first: string;
  /** The second name, e.g. `shelf 1`; empty when the verb takes one or none. */
  second: string;
}

/** The word between the two names. */
const JOINERS: Readonly<Record<string, string>> = {
  take: 'from',
  put: 'in/on',
  move: 'to',
  clean: 'with',
  heat: 'with',
  cool: 'with',
  slice: 'with',
};

/** Reads the words of a command (either put grammar); null when no command has this form. Names are not looked up. */
export function parseCommand(action: string): Command | null {
  const words = action.split(' ');
  const verb = words[0];
  switch (words.length) {
    case 1:
      if (verb === 'look' || verb === 'inventory' || verb === 'help') return { verb, first: '', second: '' };
      return null;
    case 3:
      if (verb === 'open' || verb === 'close' || verb === 'use' || verb === 'examine') {
        return { verb, first: `${words[1]} ${words[2]}`, second: '' };
      }
      return null;
    case 4:
      if (verb === 'go' && words[1] === 'to') return { verb, first: `${words[2]} ${words[3]}`, second: '' };
      return null;
    case 6:
      if (Object.hasOwn(JOINERS, verb) && JOINERS[verb] === words[3]) {
        return { verb: verb as Verb, first: `${words[1]} ${words[2]}`, second: `${words[4]} ${words[5]}` };
      }
      return null;
    default:
      return null;
  }
}

/** The text of a command; the inverse of `parseCommand`. */
export function formatCommand(verb: Verb, first = '', second = ''): string {
  if (verb === 'go') return `go to ${first}`;
  if (first === '') return verb;
  return second === '' ? `${verb} ${first}` : `${verb} ${first} ${JOINERS[verb]} ${second}`;
}
