/** @file Reads an annotator's answer: the count, the numbers and the form must be right, or it is refused with the reason. */
import * as v from 'valibot';

export interface Annotation {
  tutorial: { plan: string; success: string; failure: string };
  /** One per step asked for, in order. */
  reasoning: string[];
}

const sentence = v.pipe(v.string(), v.trim(), v.minLength(1), v.maxLength(2000));
const answer = v.object({
  tutorial: v.object({ plan: sentence, success: sentence, failure: sentence }),
  transitions: v.array(v.object({ step: v.number(), reasoning: sentence })),
});

/** @param steps indices (from 0) that were asked for. On failure, what to tell the model. */
export function parseAnnotation(
  text: string,
  steps: readonly number[],
): { ok: true; annotation: Annotation } | { ok: false; why: string } {
  const refuse = (why: string) => ({ ok: false as const, why });
  const body = jsonIn(text);
  if (body === null) return refuse('it holds no JSON object.');
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return refuse('its JSON cannot be read.');
  }
  const read = v.safeParse(answer, value);
  if (!read.success) {
    const [issue] = read.issues;
    return refuse(`${v.getDotPath(issue) ?? 'the object'} is not as asked (${issue.message}).`);
  }
  const { tutorial, transitions } = read.output;
  if (transitions.length !== steps.length)
    return refuse(`it has ${transitions.length} transitions for ${steps.length} steps.`);
  const wrong = transitions.findIndex(({ step }, i) => step !== steps[i] + 1);
  if (wrong >= 0) return refuse(`transition ${wrong + 1} is numbered ${transitions[wrong].step}.`);
  const doubled = transitions.findIndex(({ reasoning }) => saidTwice(reasoning));
  if (doubled >= 0) return refuse(`the reasoning of step ${steps[doubled] + 1} says everything twice.`);
  return { ok: true, annotation: { tutorial, reasoning: transitions.map(({ reasoning }) => reasoning) } };
}

/** The outermost braces: models like to wrap an object in words or a code fence. */
function jsonIn(text: string): string | null {
  const start = text.indexOf('{');
  const end = text.lastIndexOf('}');
  return start < 0 || end <= start ? null : text.slice(start, end + 1);
}

/** A few per cent of long generations are exact doubles (dreamgym.md 2.4). */
function saidTwice(text: string): boolean {
  const half = Math.floor(text.length / 2);
  return text.length > 40 && text.slice(0, half).trim() === text.slice(half).trim();
}
