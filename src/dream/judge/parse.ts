/** @file Reads a judge's answer strictly: four whole numbers from 0 to 2, or it does not count. */
import { axes, type Scores } from './rubric';

export type MalformedVerdict =
  /** Cut by the token limit, or withheld. */
  'unfinished' | 'no-json' | 'missing-axis' | 'unknown-key' | 'bad-score';

export type Verdict = { ok: true; scores: Scores } | { ok: false; why: MalformedVerdict };

/** What a thinking model says before its answer, and the fence that chat models put around JSON. */
const thought = /^\s*<think>[\s\S]*?<\/think>/i;
const fence = /^```(?:json)?\s*\n([\s\S]*?)\n?```$/i;

export function parseVerdict(text: string, finished = true): Verdict {
  if (!finished) return { ok: false, why: 'unfinished' };
  const said = text.replace(thought, '').trim();
  const json = fence.exec(said)?.[1] ?? said;
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return { ok: false, why: 'no-json' };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { ok: false, why: 'no-json' };
  const keys = new Set<string>(axes.map(({ key }) => key));
  if (Object.keys(value).some((key) => !keys.has(key))) return { ok: false, why: 'unknown-key' };
  const scores = {} as Scores;
  for (const { key } of axes) {
    if (!Object.hasOwn(value, key)) return { ok: false, why: 'missing-axis' };
    const score = (value as Record<string, unknown>)[key];
    if (score !== 0 && score !== 1 && score !== 2) return { ok: false, why: 'bad-score' };
    scores[key] = score;
  }
  return { ok: true, scores };
}
