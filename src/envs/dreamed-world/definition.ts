/**
 * @file A world that nobody programmed: a description, a few tasks and a few example steps, as JSON. An experience model
 * imagines the rest (DreamGym, Eq. 4). This file says what such a definition is, and reads one without believing it.
 */
import * as v from 'valibot';
import { DreamError } from '../../data/errors';
import { parsePlainJson } from '../../data/importers/plain-json';

const maxBytes = 32 * 2 ** 20;

const line = v.pipe(v.string(), v.trim(), v.nonEmpty('must not be empty'), v.maxLength(400));
const maybeEmpty = v.pipe(v.string(), v.trim(), v.maxLength(400));
const text = v.pipe(v.string(), v.trim(), v.nonEmpty('must not be empty'), v.maxLength(2_000));

const task = v.strictObject({
  /** What the agent is asked to do, without a trailing full stop. */
  instruction: line,
  /** What the agent sees first. */
  firstObservation: text,
  /** World instance: memories are shared within one. Default: one for the whole world. */
  room: v.optional(line),
  /** Kind of task, for reports. */
  family: v.optional(line),
  /** Kept for evaluation; never trained on. */
  heldOut: v.optional(v.boolean(), false),
  /** The task is done when an observation has all of these. Without them the model's own word counts. */
  success: v.optional(v.pipe(v.array(line), v.minLength(1), v.maxLength(20))),
});

const transition = v.strictObject({
  state: text,
  action: line,
  nextState: text,
  reward: v.optional(v.picklist([0, 1]), 0),
  /** Instruction that the step served. */
  task: v.optional(maybeEmpty, ''),
  room: v.optional(line),
});

const definition = v.strictObject({
  format: v.literal('dreamed-world'),
  version: v.literal(1),
  name: v.pipe(v.string(), v.regex(/^[a-z][a-z0-9-]{0,39}$/, 'must be lower-case letters, digits and hyphens')),
  /** One sentence for people. */
  summary: v.optional(maybeEmpty, ''),
  /** For the experience model: what the world is, what the agent can do, what its actions change. */
  systemPrompt: v.pipe(v.string(), v.trim(), v.nonEmpty('must not be empty'), v.maxLength(8_000)),
  /** How an observation looks. */
  observationForm: v.optional(text, 'One short line of plain words about what the agent now sees.'),
  /** Forms of actions, `<...>` for free text: `close <ticket>`. An action of no form changes nothing. */
  actions: v.optional(v.pipe(v.array(line), v.minLength(1), v.maxLength(100))),
  /** What the world answers to an action that changes nothing. */
  failureText: v.optional(text, 'nothing happens'),
  /** Can an episode end without success? */
  endsInFailure: v.optional(v.boolean(), false),
  maxSteps: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(200)), 15),
  tasks: v.pipe(v.array(task), v.minLength(1, 'needs at least one task'), v.maxLength(10_000)),
  transitions: v.optional(v.pipe(v.array(transition), v.maxLength(100_000)), []),
});

export type DreamedWorldDefinition = v.InferOutput<typeof definition>;

/**
 * Reads a definition from JSON. Throws DreamError `bad-world-definition`, which names the first wrong place.
 */
export function parseDreamedWorld(json: string | Uint8Array): DreamedWorldDefinition {
  if ((typeof json === 'string' ? json.length : json.byteLength) > maxBytes) throw bad('it is larger than 32 MB');
  let value: unknown;
  try {
    value = parsePlainJson(json);
  } catch (cause) {
    throw bad(cause instanceof SyntaxError ? 'it is not JSON' : (cause as Error).message.slice(0, 120), cause);
  }
  const result = v.safeParse(definition, value, { abortEarly: true });
  if (!result.success) {
    const [issue] = result.issues;
    throw bad(`${v.getDotPath(issue) ?? 'the top level'}: ${issue.message.slice(0, 160)}`);
  }
  const trained = result.output.tasks.filter(({ heldOut }) => !heldOut);
  if (trained.length === 0) throw bad('tasks: every task is held out, so there is none to train on');
  return result.output;
}

function bad(what: string, cause?: unknown): DreamError {
  return new DreamError(
    'bad-world-definition',
    `That is no definition of a dreamed world: ${what}.`,
    'Compare it with examples/dreamed-world/ticket-desk.json. Nothing was changed.',
    { cause },
  );
}
