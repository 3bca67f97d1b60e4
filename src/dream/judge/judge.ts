/** @file The four scores by any text model: one question a transition, answers that do not keep to the form counted apart. */
import { mean, standardDeviation } from '../../data/statistics';
import { deriveSeed } from '../random';
import type { TextModel } from '../text-models/text-model';
import { type MalformedVerdict, parseVerdict } from './parse';
import { type AxisKey, axes, judgeMessages, type Scores } from './rubric';
import type { JudgedTransition } from './sample';

export interface AxisScore {
  /** 0 ... 2; null when nothing was judged. */
  mean: number | null;
  /** 95 % interval of the mean (normal), within 0 ... 2. */
  low: number | null;
  high: number | null;
  /** How many got 0, 1 and 2. */
  counts: [number, number, number];
}

export interface JudgeReport {
  judge: string;
  judged: number;
  /** Answers that were no verdict, by what was wrong. They have no score. */
  malformed: number;
  reasons: Partial<Record<MalformedVerdict, number>>;
  scores: Record<AxisKey, AxisScore>;
}

export interface JudgeOptions {
  /** 0 = the judge's likeliest answer, so that judging twice agrees where the model can be seeded. */
  temperature?: number;
  seed?: number;
  /** Room for the answer; a model that thinks first needs more. Default 512. */
  maxTokens?: number;
  signal?: AbortSignal;
  onProgress?: (done: number, total: number) => void;
}

/** Questions that are on their way together. */
const batch = 32;

/** A verdict (or null) for each transition, in order, and what they come to. Throws what the model throws. */
export async function judgeWith(
  model: TextModel,
  transitions: readonly JudgedTransition[],
  { temperature = 0, seed = 1, maxTokens = 512, signal, onProgress }: JudgeOptions = {},
): Promise<{ report: JudgeReport; verdicts: (Scores | null)[] }> {
  const verdicts: (Scores | null)[] = [];
  const reasons: JudgeReport['reasons'] = {};
  for (let from = 0; from < transitions.length; from += batch) {
    const part = transitions.slice(from, from + batch);
    const completions = await model.complete(
      part.map((transition, i) => ({
        messages: judgeMessages(transition),
        maxTokens,
        temperature,
        seed: deriveSeed(seed, 'verdict', from + i),
      })),
      signal,
    );
    for (const { text, finishReason } of completions) {
      const verdict = parseVerdict(text, finishReason === 'stop');
      verdicts.push(verdict.ok ? verdict.scores : null);
      if (!verdict.ok) reasons[verdict.why] = (reasons[verdict.why] ?? 0) + 1;
    }
    onProgress?.(verdicts.length, transitions.length);
  }
  return { report: { ...reportOf(model.label, verdicts), reasons }, verdicts };
}

/** What a list of verdicts comes to; null is a malformed one. */
export function reportOf(judge: string, verdicts: readonly (Scores | null)[]): JudgeReport {
  const found = verdicts.filter((verdict) => verdict !== null);
  return {
    judge,
    judged: found.length,
    malformed: verdicts.length - found.length,
    reasons: {},
    scores: Object.fromEntries(axes.map(({ key }) => [key, scoreOf(found.map((scores) => scores[key]))])) as Record<
      AxisKey,
      AxisScore
    >,
  };
}

function scoreOf(values: readonly number[]): AxisScore {
  const counts: [number, number, number] = [0, 0, 0];
  for (const value of values) counts[value as 0 | 1 | 2]++;
  if (values.length === 0) return { mean: null, low: null, high: null, counts };
  const centre = mean(values);
  const half = (1.96 * standardDeviation(values)) / Math.sqrt(values.length);
  return { mean: centre, low: Math.max(0, centre - half), high: Math.min(2, centre + half), counts };
}

/**
 * Share of transitions on which two judges give the same score, by axis, over those that both judged; null for none. A
 * model that agrees with the rules no more than chance is no judge of this world.
 */
export function agreement(
  a: readonly (Scores | null)[],
  b: readonly (Scores | null)[],
): Record<AxisKey, number | null> {
  const pairs = a.flatMap((left, i) => {
    const right = b[i];
    return left && right ? [[left, right] as const] : [];
  });
  return Object.fromEntries(
    axes.map(({ key }) => [
      key,
      pairs.length === 0 ? null : mean(pairs.map(([left, right]) => (left[key] === right[key] ? 1 : 0))),
    ]),
  ) as Record<AxisKey, number | null>;
}
