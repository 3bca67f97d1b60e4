/**
 * @file ATIF, the Agent Trajectory Interchange Format (Harbor): `{schema_version: "ATIF-v1.6", agent, steps: [...]}`.
 *
 * Versions are compared as numbers (1.10 is newer than 1.9); a newer minor version is read, with a remark, because the
 * format only ever added fields. The reward is not part of it: Harbor keeps it beside the file, others in `extra`.
 */
import { isJsonObject, type JsonObject } from '../../json-object';
import type { Dropped, Finding, FormatReader, Piece } from '../pieces';
import { toolCommand } from './agent-answer';
import { episodeOf, type Message } from './conversation';
import { field, jsonIn, textOf } from './json-piece';
import { outcomeOf } from './outcome';

const newestKnown = [1, 8] as const;

const sources = { system: 'system', user: 'user', agent: 'agent' } as const;

export class AtifReader implements FormatReader {
  *read(piece: Piece): Generator<Finding> {
    const { where } = piece;
    const value = yield* jsonIn(piece);
    if (value === undefined) return;
    if (!isJsonObject(value) || !Array.isArray(field(value, 'steps'))) {
      yield { where, why: 'it has no steps' };
      return;
    }
    const problem = versionProblem(textOf(field(value, 'schema_version')) ?? '');
    if (problem) yield { where: `${where} / schema_version`, why: problem.why };
    if (problem?.fatal) return;
    const messages: Message[] = [];
    for (const [i, step] of (value.steps as unknown[]).entries()) yield* readStep(step, i, where, messages);
    const { episode, dropped } = episodeOf(messages, where);
    yield* dropped;
    if (episode === null) yield { where, why: 'no agent step with an action' };
    else yield { episode: { ...episode, id: textOf(field(value, 'session_id')), outcome: outcomeOf(value) } };
    if (field(value, 'continued_trajectory_ref'))
      yield { where: `${where} / continued_trajectory_ref`, why: 'the rest is in another file: import that one too' };
  }

  *end(): Generator<Finding> {}
}

/** `[major, minor]` as numbers; null when the text is none. */
export function atifVersion(text: string): readonly [number, number] | null {
  const match = /^ATIF-v(\d{1,6})\.(\d{1,6})/.exec(text);
  return match && [Number(match[1]), Number(match[2])];
}

function versionProblem(text: string): { why: string; fatal: boolean } | null {
  const version = atifVersion(text);
  if (version === null) return { why: 'no version of ATIF is named: read as the newest known', fatal: false };
  if (version[0] > newestKnown[0])
    return { why: 'a newer major version of ATIF, which may mean other things', fatal: true };
  if (version[0] === newestKnown[0] && version[1] > newestKnown[1])
    return { why: 'a newer version of ATIF than known: its new fields are not kept', fatal: false };
  return null;
}

function* readStep(step: unknown, i: number, where: string, messages: Message[]): Generator<Dropped> {
  const place = `${where} / step ${i + 1}`;
  const source = isJsonObject(step) ? textOf(field(step, 'source')) : undefined;
  if (!isJsonObject(step) || source === undefined || !Object.hasOwn(sources, source)) {
    yield { where: place, why: 'a step that is neither system, user nor agent' };
    return;
  }
  if (field(step, 'is_copied_context') === true) {
    yield { where: place, why: 'context copied from an earlier trajectory' };
    return;
  }
  const role = sources[source as keyof typeof sources];
  const message = partsText(field(step, 'message'));
  const reasoning = textOf(field(step, 'reasoning_content')) ?? '';
  const calls: string[] = [];
  const ids: (string | undefined)[] = [];
  for (const call of listOf(field(step, 'tool_calls'))) {
    const command = isJsonObject(call) ? toolCommand(call) : null;
    if (command === null) yield { where: place, why: 'a tool call that cannot be read' };
    else {
      calls.push(command);
      ids.push(textOf(field(call as JsonObject, 'tool_call_id')));
    }
  }
  const text = [reasoning, message].filter(Boolean).join('\n');
  if (text !== '' || calls.length > 0) messages.push({ role, text, calls, train: role === 'agent', where: place });
  const observation = field(step, 'observation');
  const results = isJsonObject(observation) ? listOf(field(observation, 'results')).filter(isJsonObject) : [];
  // Answers may come in any order; calls without one keep their place.
  const ordered = [...results].sort((a, b) => position(ids, a) - position(ids, b));
  for (const result of ordered) {
    const words = partsText(field(result, 'content'));
    if (words === '') yield { where: place, why: 'an empty answer of a tool' };
    else messages.push({ role: 'tool', text: words, calls: [], train: false, where: place });
  }
}

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

const position = (ids: readonly (string | undefined)[], result: JsonObject): number => {
  const at = ids.indexOf(textOf(field(result, 'source_call_id')));
  return at === -1 ? ids.length : at;
};

function partsText(value: unknown): string {
  if (typeof value === 'string') return value;
  return listOf(value)
    .map((part) => (isJsonObject(part) ? (textOf(field(part, 'text')) ?? '') : (textOf(part) ?? '')))
    .filter(Boolean)
    .join('\n');
}
