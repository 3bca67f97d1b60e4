/**
 * @file The web world in words, for a text experience model: what it is, how its observations look, and what its text
 * alone can rule out. The shape is that of TextWorld in dream/text-models/world.ts, which envs must not import.
 */
import type { Turn } from '../../data/trajectory';
import type { Task } from '../environment';
import { parseAction } from './dialects';
import { EPISODE_ENDED, NOTHING_HAPPENS } from './world';

const description = [
  'A web browser on small sites: a shop, its back office, a forum, a code host, a map, a wiki. Pages are listed as numbered',
  'elements. Actions: click [id]; type [id] [text] [1] (replaces the content of the field; 1 presses Enter, 0 does not);',
  'a menu is set by type [id] [option] [0]; hover [id]; press [keys]; scroll [down] or [up]; goto [url]; new_tab;',
  'tab_focus [n]; close_tab; go_back; go_forward; stop [answer] ends the episode. A link leads to its page; a button sends',
  'the form around it, which must be filled in first; a change shows on the page it leads to. Nothing changes by itself.',
  'The task is judged only at stop: a question needs the right answer in the brackets, a change must have been made.',
].join(' ');

const observationForm = [
  'Several lines. The first is "page: TITLE at ADDRESS" with the address without http://. Then one line per element,',
  '"[id] role: words", with roles link, button, heading, row, text, search box, text box, number box, menu, checkbox, radio.',
  'A field shows its content ("[7] search box: Search products = mug", "= empty" or "= empty, must be filled in"), a menu its choice and its options',
  '("[30] menu: Sort by = Price (of Position, Price)"), a checkbox "= on" or "= off"; a table row is "A | B | C".',
  'A long page shows at most 40 elements and ends with "below: N lines, scroll [down]". An action that is not possible is',
  'answered "nothing happens"; after stop the observation is "episode ended".',
].join(' ');

const LINE =
  /^(?:\[\d+\] [a-zA-Z][a-zA-Z ]*: .*|\[\d+\] [a-zA-Z][a-zA-Z ]*:|above: \d+ lines, scroll \[up\]|below: \d+ lines, scroll \[down\])$/;

/** Is the text one of this world's observations, by its form? */
export function isWebObservation(text: string): boolean {
  if (text === NOTHING_HAPPENS || text === EPISODE_ENDED) return true;
  const [first, ...lines] = text.split('\n');
  return /^page: .* at \S*$/.test(first) && lines.length <= 45 && lines.every((line) => LINE.test(line));
}

/** The page the agent looks at: the last observation that is one. */
function pageInView(firstObservation: string, turns: readonly Pick<Turn, 'observation'>[]): string {
  return turns.findLast((turn) => turn.observation.startsWith('page: '))?.observation ?? firstObservation;
}

/** What a text model must be told and what can be checked without it. Success is only known at stop, from the world. */
export const webWords = {
  description,
  observationForm,
  failureObservation: NOTHING_HAPPENS,
  endsInFailure: true,
  isObservation: isWebObservation,
  supportsSuccess: (): boolean | null => null,
  /** An element's action on a page that has no such element cannot have worked. */
  contradicts(firstObservation: string, turns: readonly Pick<Turn, 'action' | 'observation'>[]): boolean {
    const last = turns.at(-1);
    if (last === undefined) return false;
    const absent = absentElement(firstObservation, turns.slice(0, -1), last.action);
    return absent !== null && last.observation !== NOTHING_HAPPENS;
  },
  refusal(
    _task: Task,
    firstObservation: string,
    turns: readonly Pick<Turn, 'action' | 'observation' | 'valid'>[],
    action: string,
  ): { reasoning: string; observation: string } | null {
    const absent = absentElement(firstObservation, turns, action);
    return absent === null ? null : { reasoning: absent, observation: NOTHING_HAPPENS };
  },
};

/** Why the text rules the action out, or null. A page that is cut off may hide the element, so nothing is said of it. */
function absentElement(
  firstObservation: string,
  turns: readonly Pick<Turn, 'observation'>[],
  action: string,
): string | null {
  const parsed = parseAction(action);
  if (parsed.kind === 'none') return 'The action cannot be read.';
  if (!('id' in parsed)) return null;
  const page = pageInView(firstObservation, turns);
  if (/\n(?:above|below): \d+ lines/.test(page)) return null;
  // Texts inside a link or a row carry no id of their own in the list; only ids beyond the last line are surely absent.
  const ids = [...page.matchAll(/\n\[(\d+)\]/g)].map((match) => Number(match[1]));
  const highest = Math.max(1, ...ids);
  return parsed.id > highest + 20 ? `There is no element [${parsed.id}] on the page.` : null;
}
