/**
 * @file Reading an experience model's answer: tolerant of the form, strict about the content.
 *
 * Models wrap their JSON in a fence, think aloud before it, go on talking after it, or fall back to labelled lines. All
 * of that is read. But an answer without a state, with a reward that is neither 0 nor 1, or with a reward for an action
 * it calls invalid is malformed: guessing what it meant would put a guess into the reward.
 */
import { isJsonObject } from '../../data/json-object';

export interface TextAnswer {
  reasoning: string;
  observation: string;
  /** What the model says of the action; absent where it said nothing. */
  valid?: boolean;
  reward: 0 | 1;
  /** The model says the episode is over. Always true with a reward. */
  done: boolean;
}

export type MalformedAnswer =
  | 'empty'
  | 'unfinished'
  | 'too-long'
  | 'no-format'
  | 'no-observation'
  | 'no-reward'
  | 'bad-flag'
  | 'inconsistent';

export type ParsedAnswer = { ok: true; answer: TextAnswer } | { ok: false; why: MalformedAnswer };

/** Longer texts are not searched: a model that rambles this far has no answer in it worth the time. */
const longestText = 40_000;
const longestObservation = 4_000;
const longestReasoning = 4_000;

type Field = 'reasoning' | 'observation' | 'valid' | 'reward' | 'done';

/** What models call the fields, in lower case and without spaces, hyphens and underscores. */
const fieldNames: ReadonlyMap<string, Field> = new Map<string, Field>([
  ...['reasoning', 'thought', 'thoughts', 'rationale', 'think'].map((name) => [name, 'reasoning'] as const),
  ...['observation', 'nextobservation', 'nextstate', 'state'].map((name) => [name, 'observation'] as const),
  ...['valid', 'validaction', 'actionvalid'].map((name) => [name, 'valid'] as const),
  ...['reward', 'success'].map((name) => [name, 'reward'] as const),
  ...['done', 'terminated', 'finished'].map((name) => [name, 'done'] as const),
]);

const fieldOf = (name: string): Field | undefined => fieldNames.get(name.toLowerCase().replace(/[\s_-]+/g, ''));

/** `finished`: the model ended the answer itself; a cut-off answer counts only if its JSON is complete. Never throws. */
export function parseTextAnswer(text: string, finished = true): ParsedAnswer {
  if (text.length > longestText) return { ok: false, why: 'too-long' };
  const { thought, rest } = splitThought(text);
  if (rest.trim() === '') return { ok: false, why: thought === '' ? 'empty' : 'unfinished' };
  const found = fieldsOfJson(rest) ?? fieldsOfLines(rest);
  if (found === null) return { ok: false, why: finished ? 'no-format' : 'unfinished' };
  // A labelled line may have been cut in the middle of its value; a closed object was not.
  if (found.form === 'lines' && !finished) return { ok: false, why: 'unfinished' };
  return judge(found.fields, thought);
}

function judge(fields: ReadonlyMap<Field, unknown>, thought: string): ParsedAnswer {
  const said = fields.get('observation');
  const observation = typeof said === 'string' ? cleanText(said) : '';
  if (observation === '') return { ok: false, why: 'no-observation' };
  if (observation.length > longestObservation) return { ok: false, why: 'too-long' };

  if (!fields.has('reward')) return { ok: false, why: 'no-reward' };
  const reward = flag(fields.get('reward'));
  const done = fields.has('done') ? flag(fields.get('done')) : reward;
  const valid = fields.has('valid') ? flag(fields.get('valid')) : undefined;
  if (reward === null || done === null || valid === null) return { ok: false, why: 'bad-flag' };
  if (reward && (!done || valid === false)) return { ok: false, why: 'inconsistent' };

  const own = fields.get('reasoning');
  const reasoning = cleanText(typeof own === 'string' && own.trim() !== '' ? own : thought);
  return {
    ok: true,
    answer: {
      reasoning: reasoning.slice(0, longestReasoning),
      observation,
      ...(valid === undefined ? {} : { valid }),
      reward: reward ? 1 : 0,
      done,
    },
  };
}

/** true/false, 1/0, and the same as words; null for anything else. */
function flag(value: unknown): boolean | null {
  if (value === true || value === 1) return true;
  if (value === false || value === 0) return false;
  if (typeof value !== 'string') return null;
  const word = value.trim().toLowerCase().replace(/[.!]$/, '');
  if (['true', 'yes', '1', '1.0', 't'].includes(word)) return true;
  if (['false', 'no', '0', '0.0', 'f'].includes(word)) return false;
  return null;
}

/** Reasoning models think between tags before they answer. An unclosed thought never came to an answer. */
function splitThought(text: string): { thought: string; rest: string } {
  const end = text.lastIndexOf('</think>');
  if (end >= 0) return { thought: text.slice(0, end).replace(/^\s*<think>/, ''), rest: text.slice(end + 8) };
  const open = /^\s*<think>/.exec(text);
  return open ? { thought: text.slice(open[0].length), rest: '' } : { thought: '', rest: text };
}

interface Found {
  form: 'json' | 'lines';
  fields: ReadonlyMap<Field, unknown>;
}

/** The first complete object that names an observation or a reward. What follows it is the model talking on. */
function fieldsOfJson(text: string): Found | null {
  let from = text.indexOf('{');
  // Each `{` is tried once, and a text of nothing but braces must not cost its square.
  for (let tries = 0; from >= 0 && tries < 16; tries++) {
    const end = endOfObject(text, from);
    const fields = end < 0 ? null : readObject(text.slice(from, end));
    if (fields && (fields.has('observation') || fields.has('reward'))) return { form: 'json', fields };
    from = text.indexOf('{', fields ? end : from + 1);
  }
  return null;
}

/** Index after the brace that closes the one at `from`, or -1. Braces in strings do not count. */
function endOfObject(text: string, from: number): number {
  let depth = 0;
  let quoted = false;
  for (let i = from; i < text.length; i++) {
    const character = text[i];
    if (quoted) {
      if (character === '\\') i++;
      else if (character === '"') quoted = false;
    } else if (character === '"') quoted = true;
    else if (character === '{') depth++;
    else if (character === '}' && --depth === 0) return i + 1;
  }
  return -1;
}

function readObject(json: string): Map<Field, unknown> | null {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return null;
  }
  if (!isJsonObject(value)) return null;
  const fields = new Map<Field, unknown>();
  for (const [name, content] of Object.entries(value)) {
    const field = fieldOf(name);
    // Two names of one field that disagree are no answer at all.
    if (field && fields.has(field) && fields.get(field) !== content) return null;
    if (field) fields.set(field, content);
  }
  return fields;
}

interface Label {
  name: string;
  value: string;
}

/** `**Next state:** opened` as name and value. No pattern with a choice in it: those take seconds on a line made for it. */
function labelOf(line: string): Label | null {
  const at = line.slice(0, 48).search(/[:=]/);
  if (at < 0) return null;
  return { name: line.slice(0, at).replace(/[^A-Za-z_ -]/g, ''), value: withoutStars(line.slice(at + 1)) };
}

function withoutStars(text: string): string {
  let from = 0;
  let to = text.length;
  while (from < to && (text[from] === '*' || text[from] === ' ')) from++;
  while (to > from && (text[to - 1] === '*' || text[to - 1] === ' ')) to--;
  return text.slice(from, to);
}

/** `Label: value` lines; a value goes on until the next known label. A label seen before begins another turn. */
function fieldsOfLines(text: string): Found | null {
  const lines = new Map<Field, string[]>();
  let current: string[] | undefined;
  for (const line of text.split('\n')) {
    const label = labelOf(line);
    const field = label ? fieldOf(label.name) : undefined;
    if (label && field) {
      if (lines.has(field)) break;
      const value = [label.value];
      lines.set(field, value);
      current = field === 'reasoning' || field === 'observation' ? value : undefined;
    } else if (label && ['action', 'task', 'history'].includes(label.name.trim().toLowerCase())) break;
    else if (!line.startsWith('```')) current?.push(line);
  }
  if (!lines.has('observation') || !lines.has('reward')) return null;
  return { form: 'lines', fields: new Map([...lines].map(([field, value]) => [field, value.join('\n')])) };
}

/**
 * Model text as plain text: without control characters, invisible ones and those that turn the reading direction, runs of
 * blanks as one blank, no empty lines.
 */
export function cleanText(text: string): string {
  return text
    .replace(/\r\n?/g, '\n')
    .replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}]/gu, (character) => (character === '\n' ? '\n' : character === '\t' ? ' ' : ''))
    .split('\n')
    .map((line) => line.replace(/\s+/g, ' ').trim())
    .filter((line) => line !== '')
    .join('\n');
}
