/**
 * @file Reasoning for transitions that have none: by a model that is asked, or by the world's own rules where it has them.
 *
 * Offline and imported trajectories say what happened, not why; an experience model learns next states better with the
 * reasoning before them (DreamGym, Table 2: without it 55.8 instead of 63.9 %). A trajectory is annotated whole or not at
 * all: half a trace would teach that some steps need no thought.
 */
import type { Trajectory } from '../../data/trajectory';
import type { TextModel } from '../text-models/text-model';
import { parseAnnotation } from './parse';
import { type AnnotationLimits, annotationMessages, defaultLimits } from './prompt';

export interface AnnotationOptions {
  model: TextModel;
  limits?: Partial<AnnotationLimits>;
  maxTokens?: number;
  temperature?: number;
  /** Further tries for an answer that cannot be used; each is told why. */
  retries?: number;
  seed?: number;
  signal?: AbortSignal;
}

export interface Annotated {
  /** With `reasoning` in every turn; the same object as given when it was refused. */
  trajectory: Trajectory;
  /** Why it has no reasoning; null when it has. */
  refused: string | null;
  questions: number;
}

/** Asks for all trajectories; those that have reasoning everywhere are left as they are. Rejects as the model does. */
export async function annotate(trajectories: readonly Trajectory[], options: AnnotationOptions): Promise<Annotated[]> {
  const limits = { ...defaultLimits, ...options.limits };
  const { model, retries = 2, maxTokens = 1024, temperature = 0.3, seed = 1, signal } = options;
  const open = trajectories.flatMap((trajectory, index) =>
    needsReasoning(trajectory) ? partsOf(trajectory, limits.transitions).map((steps) => ({ index, steps })) : [],
  );
  const found = new Map<string, string[]>();
  const why = new Map<number, string>();
  const asked = new Map<number, number>();
  let left = open;
  for (let attempt = 0; attempt <= retries && left.length > 0; attempt++) {
    signal?.throwIfAborted();
    const answers = await model.complete(
      left.map(({ index, steps }) => ({
        messages: annotationMessages(trajectories[index], steps, limits, attempt === 0 ? undefined : why.get(index)),
        maxTokens,
        temperature,
        seed: seed + attempt,
      })),
      signal,
    );
    const again: typeof left = [];
    left.forEach((part, i) => {
      asked.set(part.index, (asked.get(part.index) ?? 0) + 1);
      const { text, finishReason } = answers[i];
      const read =
        finishReason === 'length'
          ? { ok: false as const, why: 'it was cut off: answer shorter.' }
          : parseAnnotation(text, part.steps);
      if (read.ok) found.set(keyOf(part), read.annotation.reasoning);
      else {
        why.set(part.index, read.why);
        again.push(part);
      }
    });
    left = again;
  }
  return trajectories.map((trajectory, index): Annotated => {
    const parts = open.filter((part) => part.index === index);
    const traces = parts.map((part) => found.get(keyOf(part)));
    const questions = asked.get(index) ?? 0;
    if (parts.length === 0) return { trajectory, refused: null, questions };
    if (traces.some((trace) => !trace)) return { trajectory, refused: why.get(index) ?? 'no answer', questions };
    const reasoning = traces.flatMap((trace) => trace!);
    const turns = trajectory.turns.map((turn, t) => ({ ...turn, reasoning: turn.reasoning || reasoning[t] }));
    return { trajectory: { ...trajectory, turns }, refused: null, questions };
  });
}

export function needsReasoning({ turns }: Trajectory): boolean {
  return turns.some(({ reasoning }) => reasoning === '');
}

/** Step indices in pieces of at most `most`. */
function partsOf({ turns }: Trajectory, most: number): number[][] {
  const count = Math.ceil(turns.length / most);
  return Array.from({ length: count }, (_, part) =>
    turns
      .map((_, t) => t)
      .slice(Math.floor((part * turns.length) / count), Math.floor(((part + 1) * turns.length) / count)),
  );
}

const keyOf = ({ index, steps }: { index: number; steps: readonly number[] }) => `${index} ${steps[0]}`;
