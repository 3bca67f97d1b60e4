/** @file ALFWorld's sentences as abstract states. The same mapping as the built-in household's (src/envs/household). */
import { parseCommand, parseInstruction, toAbstract } from '../../envs/household';
import { type AbstractStates, stateless } from './states';

const task = /\s*Your task is to: ?([^\n]*?)\.?[ \t]*(?:\r?\n|$)/;

/** `put cup 1 in shelf 1` and `move cup 1 to shelf 1` are the same deed; the abstract language has the first grammar. */
function canonicalAction(raw: string): string {
  const words = raw.trim().replace(/\s+/g, ' ').replace(/\.$/, '');
  const put = /^(?:put|place) (\w+ \d+) (?:in\/on|in|on|into|onto) (?:the )?(\w+ \d+)$/.exec(words);
  const move = /^move (\w+ \d+) to (?:the )?(\w+ \d+)$/.exec(words);
  const placed = put ?? move;
  return placed ? `put ${placed[1]} in/on ${placed[2]}` : words;
}

/** AgentGym's server lists what may be done next; some sentences run over several lines. */
function sentenceState(raw: string): string {
  const sentence = raw
    .replace(/\s*AVAILABLE ACTIONS:[\s\S]*$/, '')
    .replace(/\s+/g, ' ')
    .trim();
  return toAbstract(sentence);
}

export const householdStates: AbstractStates = {
  recognises: (first, actions) =>
    /You are in the middle of a room\.|Your task is to: /.test(first) ||
    (actions.length > 0 && actions.every((action) => parseCommand(canonicalAction(action)) !== null)),
  split(first) {
    const found = task.exec(first);
    const begins = first.search(/You are in the middle of a room\./);
    const end = found ? found.index : first.length;
    return {
      instruction: found ? found[1].trim() : undefined,
      observation: first.slice(Math.max(0, begins), end).trim(),
    };
  },
  begin: () => stateless(sentenceState),
  action: canonicalAction,
  family: (instruction) => parseInstruction(instruction)?.family,
  // Rooms of one scene look alike and hold different things: only the game tells them apart.
  room: (first) => first,
  unchanged: toAbstract('Nothing happens.'),
};
