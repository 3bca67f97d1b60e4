/**
 * @file WebArena task files: read, checked, counted. The form is that of web-arena-x/webarena config_files/test.raw.json
 * and of the Lite file derived from it.
 */
import { DreamError } from '../../data/errors';
import { isJsonObject } from '../../data/json-object';

export interface PageTarget {
  /** An address, `last` (stay where the agent ended) or `func:helper(...)`. */
  readonly url: string;
  /** Script or selector; empty for the whole page. */
  readonly locator: string;
  readonly required_contents: Readonly<Record<string, string | readonly string[]>>;
  /** Scripts to run on the page first; they need a live one. */
  readonly prep_actions?: readonly string[];
}

export interface WebArenaTask {
  readonly task_id: number;
  readonly sites: readonly string[];
  readonly require_login: boolean;
  readonly start_url: string;
  readonly intent: string;
  readonly intent_template: string;
  readonly instantiation_dict: Readonly<Record<string, unknown>>;
  readonly intent_template_id: number;
  readonly eval: {
    readonly eval_types: readonly string[];
    readonly reference_answers: Readonly<Record<string, string | readonly string[]>>;
    readonly reference_url: string;
    readonly program_html: readonly PageTarget[];
    readonly string_note: string;
    readonly url_note: string;
  };
}

/** What it takes to score a task. */
export type Scoring = 'offline' | 'judge' | 'live-site';

export interface ConfigReport {
  readonly tasks: readonly WebArenaTask[];
  /** `string_match`, `url_match+program_html`, ... -> how many tasks. */
  readonly byEvaluator: Readonly<Record<string, number>>;
  readonly bySite: Readonly<Record<string, number>>;
  /** `offline`: the answer or the final address alone decides; `judge`: fuzzy; `live-site`: page contents of a real site. */
  readonly byScoring: Readonly<Record<Scoring, number>>;
  /** Entries that are not tasks, with the reason. */
  readonly dropped: readonly { readonly where: string; readonly why: string }[];
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const texts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];

/** Rule -> phrases. Numbers become their text; other values make the entry unreadable. */
function references(value: unknown): Record<string, string | readonly string[]> | null {
  const kept: Record<string, string | readonly string[]> = {};
  if (value === null || value === undefined) return kept;
  if (!isJsonObject(value)) return null;
  for (const [rule, phrases] of Object.entries(value)) {
    if (rule === '__proto__') return null;
    if (typeof phrases === 'string') kept[rule] = phrases;
    else if (typeof phrases === 'number') kept[rule] = String(phrases);
    else if (
      Array.isArray(phrases) &&
      phrases.every((phrase) => typeof phrase === 'string' || typeof phrase === 'number')
    )
      kept[rule] = phrases.map(String);
    else return null;
  }
  return kept;
}

/** One task, or why it is none. */
export function readWebArenaTask(value: unknown): WebArenaTask | string {
  if (!isJsonObject(value)) return 'not an object';
  if (typeof value.task_id !== 'number') return 'no numeric task_id';
  if (typeof value.intent !== 'string' || value.intent === '') return 'no intent';
  if (!isJsonObject(value.eval)) return 'no eval';
  const evalTypes = texts(value.eval.eval_types);
  if (evalTypes.length === 0) return 'no eval_types';
  const answers = references(value.eval.reference_answers);
  if (answers === null) return 'reference_answers is not a map from rule to phrases';
  const targets: PageTarget[] = [];
  const programs = value.eval.program_html ?? [];
  if (!Array.isArray(programs)) return 'program_html is not a list';
  for (const target of programs as unknown[]) {
    const required = isJsonObject(target) ? references(target.required_contents) : null;
    if (!isJsonObject(target) || required === null || typeof target.url !== 'string')
      return 'a program_html target is unreadable';
    const prepare = texts(target.prep_actions);
    targets.push({
      url: target.url,
      locator: text(target.locator),
      required_contents: required,
      ...(prepare.length > 0 ? { prep_actions: prepare } : {}),
    });
  }
  return {
    task_id: value.task_id,
    sites: texts(value.sites),
    require_login: value.require_login === true,
    start_url: text(value.start_url),
    intent: value.intent,
    intent_template: text(value.intent_template),
    instantiation_dict: isJsonObject(value.instantiation_dict) ? value.instantiation_dict : {},
    intent_template_id: typeof value.intent_template_id === 'number' ? value.intent_template_id : -1,
    eval: {
      eval_types: evalTypes,
      reference_answers: answers,
      reference_url: text(value.eval.reference_url),
      program_html: targets,
      string_note: text(value.eval.string_note),
      url_note: text(value.eval.url_note),
    },
  };
}

export function scoringOf(task: WebArenaTask): Scoring {
  if (task.eval.eval_types.includes('program_html')) return 'live-site';
  const fuzzy = task.eval.eval_types.includes('string_match') && 'fuzzy_match' in task.eval.reference_answers;
  return fuzzy ? 'judge' : 'offline';
}

/**
 * Reads the text (or the parsed value) of a WebArena task file: a list of tasks or one task.
 * @throws DreamError `web-configs-unreadable` when it is not JSON or holds no task at all.
 */
export function loadWebArenaConfigs(source: unknown): ConfigReport {
  let value = source;
  if (typeof source === 'string') {
    try {
      value = JSON.parse(source);
    } catch (cause) {
      throw new DreamError(
        'web-configs-unreadable',
        'The file is not JSON.',
        'Choose a WebArena task file such as test.raw.json or test_webarena_lite.raw.json.',
        { cause },
      );
    }
  }
  const entries: unknown[] = Array.isArray(value) ? value : [value];
  const tasks: WebArenaTask[] = [];
  const dropped: { where: string; why: string }[] = [];
  entries.forEach((entry, index) => {
    const task = readWebArenaTask(entry);
    if (typeof task === 'string') dropped.push({ where: `entry ${index}`, why: task });
    else tasks.push(task);
  });
  if (tasks.length === 0) {
    throw new DreamError(
      'web-configs-unreadable',
      `The file holds no WebArena task (${dropped[0]?.why ?? 'it is empty'}).`,
      'Choose a WebArena task file such as test.raw.json or test_webarena_lite.raw.json.',
    );
  }
  const byEvaluator: Record<string, number> = {};
  const bySite: Record<string, number> = {};
  const byScoring: Record<Scoring, number> = { offline: 0, judge: 0, 'live-site': 0 };
  for (const task of tasks) {
    const kind = task.eval.eval_types.join('+');
    byEvaluator[kind] = (byEvaluator[kind] ?? 0) + 1;
    const site = task.sites.length > 1 ? 'multi' : (task.sites[0] ?? 'none');
    bySite[site] = (bySite[site] ?? 0) + 1;
    byScoring[scoringOf(task)]++;
  }
  return { tasks, byEvaluator, bySite, byScoring, dropped };
}
