/**
 * @file Tells what a file is from its beginning: which container, and which format its entries have.
 *
 * Nothing is believed of names and extensions. Shapes: environments.md section 2 of the project's notes; the formats'
 * own files name their sources.
 */
import { DreamError } from '../errors';
import { isJsonObject } from '../json-object';
import { JsonEntries } from './containers/json-entries';
import type { ImportFormat } from './formats';
import { parsePartialJson } from './partial-json';

export interface Recognised {
  format: ImportFormat;
  /** `json` with the number of containers around an entry. */
  container: 'lines' | 'whole' | { json: number };
}

/** Throws DreamError `no-trajectories` for anything that is none of the formats, saying what it seems to be. */
export function recognise(prefix: Uint8Array, name: string, wanted?: ImportFormat): Recognised {
  const text = decode(prefix, name);
  const trimmed = text.trimStart();
  if (trimmed === '') throw notTrajectories(name, 'it is empty');
  const found = trimmed.startsWith('{') || trimmed.startsWith('[') ? inJson(trimmed) : inText(trimmed);
  if (wanted) return { format: wanted, container: found?.container ?? fallbackContainer(trimmed, wanted) };
  if (found?.format) return { format: found.format, container: found.container };
  throw notTrajectories(name, whatElse(trimmed));
}

function decode(prefix: Uint8Array, name: string): string {
  if ((prefix[0] === 0xff && prefix[1] === 0xfe) || (prefix[0] === 0xfe && prefix[1] === 0xff))
    throw notTrajectories(name, 'its text is UTF-16, which no format here uses: save it as UTF-8');
  if (prefix.subarray(0, 4096).includes(0)) throw notTrajectories(name, 'it is a binary file');
  return new TextDecoder().decode(prefix);
}

/** A container without a format means: JSON, but of what? */
function inJson(text: string): { format?: ImportFormat; container: Recognised['container'] } | null {
  const newline = text.indexOf('\n');
  const firstLine = newline === -1 ? text : text.slice(0, newline);
  const lineValue = parseWhole(firstLine);
  const next = newline === -1 ? '' : text.slice(newline).trimStart();
  if (lineValue !== null && next !== '') return { format: formatOfLines(text), container: 'lines' };
  const value = parsePartialJson(text);
  if (value === null) return amongEntries(text) ?? inText(text);
  // One JSON object that is an episode, on one line: a JSONL file of one line, or the beginning of a long one.
  const format = formatOf(value);
  if (format) return { format, container: newline === -1 || lineValue !== null ? 'lines' : { json: 0 } };
  const children = childrenOf(value);
  const inChildren = firstFormat(children);
  if (inChildren) return { format: inChildren, container: { json: 1 } };
  const inGrandchildren = firstFormat(children.flatMap(childrenOf));
  return inGrandchildren ? { format: inGrandchildren, container: { json: 2 } } : { container: { json: 1 } };
}

/** Something near the beginning is broken or nested without end: whole entries around it may still tell. */
function amongEntries(text: string): { format: ImportFormat; container: Recognised['container'] } | null {
  for (const depth of [1, 2]) {
    const values: unknown[] = [];
    for (const piece of new JsonEntries(depth).push(new TextEncoder().encode(text)))
      if ('bytes' in piece) values.push(parseWhole(new TextDecoder().decode(piece.bytes)));
    const format = firstFormat(values.filter((value) => value !== null));
    if (format) return { format, container: { json: depth } };
  }
  return null;
}

/** The first lines decide together: a log may begin with a header line. */
function formatOfLines(text: string): ImportFormat | undefined {
  const values = text.split('\n', 20).map(parseWhole);
  return firstFormat(values.filter((value) => value !== null));
}

const firstFormat = (values: readonly unknown[]): ImportFormat | undefined => {
  for (const value of values.slice(0, 50)) {
    const format = formatOf(value);
    if (format) return format;
  }
  return undefined;
};

function childrenOf(value: unknown): unknown[] {
  if (Array.isArray(value)) return value.slice(0, 50);
  return isJsonObject(value) ? Object.values(value).slice(0, 50) : [];
}

const isTurn = (value: unknown): boolean =>
  isJsonObject(value) && ('role' in value || 'from' in value) && ('content' in value || 'value' in value);

/** The format of one entry, from its keys. */
export function formatOf(value: unknown): ImportFormat | undefined {
  if (typeof value === 'string') return isTranscript(value) ? 'react-alfworld' : undefined;
  if (Array.isArray(value)) return isTurn(value[0]) ? conversationFormat(value) : undefined;
  if (!isJsonObject(value)) return undefined;
  const { messages, conversations } = value;
  if (Array.isArray(messages))
    return isJsonObject(messages[0]) && ('user' in messages[0] || 'assistant' in messages[0])
      ? 'webarena-json'
      : 'openai-messages';
  if (Array.isArray(conversations)) return conversationFormat(conversations);
  if ('chosen' in value && 'rejected' in value)
    return Array.isArray(value.chosen) ? conversationFormat(value.chosen) : 'sharegpt';
  if (typeof value.page === 'string' && typeof value.url === 'string') return 'webshop-log';
  if ('problem' in value && ('trace' in value || 'action_history' in value)) return 'adapt';
  if (typeof value.schema_version === 'string' && value.schema_version.startsWith('ATIF')) return 'atif';
  if (Array.isArray(value.steps) && isJsonObject(value.steps[0]) && 'step_id' in value.steps[0]) return 'atif';
  if (Array.isArray(value.memory) && 'is_success' in value) return 'reflexion';
  if (isJsonObject(value.task) && Array.isArray(value.turns) && 'firstObservation' in value) return 'trajectory';
  return undefined;
}

function conversationFormat(turns: readonly unknown[]): ImportFormat {
  const objects = turns.filter(isJsonObject);
  if (objects.some((turn) => 'loss' in turn)) return 'agentgym';
  return objects.some((turn) => 'from' in turn || 'value' in turn) ? 'sharegpt' : 'openai-messages';
}

const isTranscript = (text: string) => /(^|\n)> ?\S/.test(text) && /Your task is to/.test(text);

function inText(text: string): Recognised | null {
  if (/class=['"]state_obv['"]/.test(text)) return { format: 'webarena-html', container: 'whole' };
  if (/ - INFO - (NEW NODE|PROMPT|SAMPLED ACTION)/.test(text)) return { format: 'lats-log', container: 'lines' };
  if (/<action>[\s\S]*?<\/action>/.test(text)) return { format: 'action-tags', container: 'lines' };
  if (isTranscript(text)) return { format: 'alfworld-text', container: 'lines' };
  if (/^Action( \d+)?: ?\S/m.test(text)) return { format: 'react-text', container: 'lines' };
  return null;
}

function fallbackContainer(text: string, format: ImportFormat): Recognised['container'] {
  if (format === 'webarena-html') return 'whole';
  return text.startsWith('[') ? { json: 1 } : 'lines';
}

function parseWhole(line: string): unknown {
  if (!/^\s*[[{]/.test(line)) return null;
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

/** What it seems to be instead, for the message. */
function whatElse(text: string): string {
  const value = parsePartialJson(text);
  const [first] = childrenOf(value);
  if (isJsonObject(first) && 'intent' in first && 'eval' in first)
    return 'it holds WebArena tasks, not what an agent did';
  if (isJsonObject(first) && ('attributes' in first || 'asin' in first)) return 'it holds products of a shop';
  if (value !== null && Array.isArray(value) && typeof first === 'string') return 'it is a list of sentences';
  if (isJsonObject(value) && ('pddl_domain' in value || 'grammar' in value)) return 'it is a game to play';
  if (/^\(define/m.test(text)) return 'it is a PDDL description of a world';
  if (value !== null) return 'its JSON has no episode: no messages, conversations, steps, turns or transcripts';
  if (/^[^\n]*[{[]/.test(text) && /^[{[]/.test(text)) return 'its JSON is broken near the beginning';
  return 'its text has no actions and observations';
}

function notTrajectories(name: string, what: string): DreamError {
  return new DreamError(
    'no-trajectories',
    `${name} is not a file of trajectories: ${what}.`,
    'Give a file of OpenAI messages, ShareGPT, AgentGym, ReAct text, ADaPT results, WebShop or WebArena logs, or ATIF (JSON, JSONL, .gz or .zip). Nothing was imported.',
  );
}
