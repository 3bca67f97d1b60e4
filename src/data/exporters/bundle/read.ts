/**
 * @file Reads a run bundle without believing it: sizes counted as they come out, every checksum and every value checked.
 *
 * Only the known entries are unpacked, each once, so names that climb out of a folder never become paths.
 */
import * as v from 'valibot';
import type { StoredRun, StoredTask, Transition } from '../../../dream/run-store';
import type { RunConfig, RunRecord } from '../../../worker/protocol';
import { asDreamError, DreamError } from '../../errors';
import { parsePlainJson } from '../../importers/plain-json';
import { checkRecord } from '../../importers/run-record';
import { trajectorySchema } from '../../importers/run-schema';
import { unpackZip } from '../../importers/unpack';
import type { Trajectory } from '../../trajectory';
import { adapterEntry, adapterNames, allEntries, bundleNames, sha256, type TensorEntry, tensorKinds } from './layout';

export interface ReadBundle {
  /** Everything to continue it. */
  stored: StoredRun;
  /** PEFT files by their plain names; empty where the run has no adapter. */
  adapter: Map<string, Uint8Array>;
  /** What the reader should know, e.g. entries that were ignored. */
  notices: string[];
}

export interface BundleLimits {
  /** Of the file, and of what it unpacks to. Default 2 GiB: weights and moments of a large adapter. */
  maxBytes?: number;
}

const defaultMaxBytes = 2 * 2 ** 30;
/** Text of ours packs 5 to 20 times smaller; what promises more is a bomb. */
const maxRatio = 200;
const maxJsonBytes = 64 * 2 ** 20;
const maxLineBytes = 2 ** 20;
const maxTransitions = 200_000;
const maxRollouts = 100_000;
const maxTensors = 100_000;

const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const shortText = v.pipe(v.string(), v.maxLength(2_000));
const text = v.pipe(v.string(), v.maxLength(20_000));

const manifestSchema = v.object({
  format: v.literal('dreamgym-bundle'),
  version: v.number(),
  files: v.record(v.string(), v.object({ bytes: count, sha256: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)) })),
});

const storedTask = v.looseObject({
  id: shortText,
  instruction: shortText,
  task: v.looseObject({
    id: shortText,
    instruction: shortText,
    room: shortText,
    family: shortText,
    firstObservation: text,
  }),
});

const longestSequence = 65_536;
/** What the experience model was taught on the way: it will be trained on it again. */
const refresh = v.object({
  iteration: count,
  transitions: count,
  sequences: v.pipe(
    v.array(
      v.pipe(
        v.object({
          tokens: v.pipe(v.array(count), v.maxLength(longestSequence)),
          weights: v.pipe(v.array(v.pipe(v.number(), v.finite(), v.minValue(0))), v.maxLength(longestSequence)),
        }),
        v.check(({ tokens, weights }) => tokens.length === weights.length, 'a sequence has a weight for every token'),
      ),
    ),
    v.maxLength(100_000),
  ),
});

/** Beyond run.json. Later versions keep more, and it must survive the journey. */
const stateSchema = v.looseObject({
  format: v.literal(1),
  runId: shortText,
  created: v.pipe(v.string(), v.isoTimestamp()),
  savedAt: v.pipe(v.string(), v.isoTimestamp()),
  adapter: shortText,
  weightsHash: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
  iteration: count,
  phase: v.picklist(['running', 'stopped', 'finished', 'collapsed']),
  measurementSteps: count,
  refreshes: v.optional(v.pipe(v.array(refresh), v.maxLength(1000))),
  bufferNextId: count,
  pool: v.pipe(v.array(storedTask), v.maxLength(100_000)),
  policy: v.object({
    step: count,
    tensors: v.pipe(
      v.array(v.object({ kind: v.picklist(tensorKinds), name: v.pipe(v.string(), v.maxLength(300)), length: count })),
      v.maxLength(maxTensors),
    ),
  }),
});

const transitionSchema = v.looseObject({
  id: count,
  source: v.picklist(['offline', 'imagined', 'real']),
  episode: shortText,
  room: shortText,
  task: shortText,
  state: text,
  action: text,
  nextState: text,
  reward: v.pipe(v.number(), v.finite()),
});

const rolloutSchema = v.object({ iteration: count, ...trajectorySchema.entries });

/** True for a zip that says it is a bundle; reads no further than its first name. */
export function looksLikeBundle(bytes: Uint8Array): boolean {
  const name = new TextEncoder().encode(bundleNames.manifest);
  return (
    bytes[0] === 0x50 &&
    bytes[1] === 0x4b &&
    bytes[26] === name.length &&
    name.every((letter, i) => bytes[30 + i] === letter)
  );
}

/**
 * Throws DreamError `not-a-bundle` (some other file), `corrupt-run` (damaged or made up) or `newer-run`.
 * `checkConfig` throws for settings that are not valid here.
 */
export async function readBundle(
  bytes: Uint8Array,
  checkConfig: (config: unknown) => RunConfig,
  { maxBytes = defaultMaxBytes }: BundleLimits = {},
): Promise<ReadBundle> {
  if (bytes.byteLength > maxBytes) throw notABundle(`it is larger than ${Math.round(maxBytes / 2 ** 20)} MB`);
  if (bytes[0] !== 0x50 || bytes[1] !== 0x4b) throw notABundle('it is no zip file');
  const limit = Math.min(maxBytes, 2 ** 20 + maxRatio * bytes.byteLength);
  const { entries, ignored } = await attempt(() => unpackZip(bytes, allEntries, limit));
  if (!entries.has(bundleNames.manifest)) throw notABundle(`this zip has no ${bundleNames.manifest}`);
  await checkFiles(entries);
  return attempt(() => {
    const record = checkRecord(parsed(entries, bundleNames.run), checkConfig);
    const { policy, bufferNextId, pool, ...state } = v.parse(stateSchema, parsed(entries, bundleNames.state), {
      abortEarly: true,
    });
    for (const key of ['runId', 'created', 'weightsHash'] as const)
      if (state[key] !== record[key]) throw new Error(`its two accounts of ${key} differ`);
    if (record.metrics.length !== state.iteration)
      throw new Error(`it has ${record.metrics.length} metrics of ${state.iteration} iterations`);
    const { metrics, evaluations, config } = record;
    const stored: StoredRun = {
      ...(state as unknown as Omit<StoredRun, 'config' | 'policy' | 'pool' | 'buffer' | 'rollouts'>),
      config,
      metrics,
      evaluations,
      pool: pool as unknown as StoredTask[],
      policy: { step: policy.step, ...tensorsOf(policy.tensors, file(entries, bundleNames.weights)) },
      buffer: { transitions: transitionsOf(file(entries, bundleNames.buffer), bufferNextId), nextId: bufferNextId },
      rollouts: rolloutsOf(file(entries, bundleNames.rollouts)),
    };
    // A file's model was checked as a part of the record; later versions may say more of it.
    if (record.model) stored.model = { ...(state.model as object), ...record.model };
    else delete stored.model;
    const adapter = new Map<string, Uint8Array>();
    for (const name of adapterNames) {
      const bytes = entries.get(adapterEntry(name));
      if (bytes) adapter.set(name, bytes);
    }
    const notices =
      ignored.length > 0
        ? [`Ignored in the file: ${ignored.slice(0, 5).join(', ')}${ignored.length > 5 ? ' and more' : ''}.`]
        : [];
    return { stored, adapter, notices };
  });
}

type Entries = ReadonlyMap<string, Uint8Array>;

function file(entries: Entries, name: string): Uint8Array {
  const bytes = entries.get(name);
  if (!bytes) throw new Error(`it lacks ${name}`);
  return bytes;
}

function parsed(entries: Entries, name: string): unknown {
  const bytes = file(entries, name);
  if (bytes.byteLength > maxJsonBytes) throw new Error(`its ${name} is larger than ${maxJsonBytes / 2 ** 20} MB`);
  return parsePlainJson(bytes);
}

/** Sizes and checksums as the manifest has them; whatever it does not name is not believed. */
async function checkFiles(entries: Entries): Promise<void> {
  const raw = await attempt(() => parsed(entries, bundleNames.manifest));
  const { version } = (typeof raw === 'object' && raw !== null ? raw : {}) as { version?: unknown };
  if (typeof version === 'number' && version > 1)
    throw new DreamError(
      'newer-run',
      `That bundle was written by a newer version of this program (format ${version}).`,
      'Get the newest version, then import it again.',
    );
  const { files } = await attempt(() => v.parse(manifestSchema, raw, { abortEarly: true }));
  for (const [name, bytes] of entries) {
    if (name === bundleNames.manifest) continue;
    const said = Object.hasOwn(files, name) ? files[name] : undefined;
    if (!said || said.bytes !== bytes.byteLength || said.sha256 !== (await sha256(bytes)))
      throw corrupt(`${name} does not match its checksum`);
  }
}

function tensorsOf(table: readonly TensorEntry[], bytes: Uint8Array): Omit<StoredRun['policy'], 'step'> {
  const total = table.reduce((sum, { length }) => sum + 4 * length, 0);
  if (total !== bytes.byteLength) throw new Error(`the weights have ${bytes.byteLength} bytes instead of ${total}`);
  const state: Omit<StoredRun['policy'], 'step'> = { weights: new Map() };
  let offset = 0;
  for (const { kind, name, length } of table) {
    state[kind] ??= new Map();
    if (state[kind].has(name)) throw new Error(`the tensor ${name} is there twice`);
    const data = new Float32Array(length);
    new Uint8Array(data.buffer).set(bytes.subarray(offset, offset + 4 * length));
    state[kind].set(name, data);
    offset += 4 * length;
  }
  return state;
}

function transitionsOf(bytes: Uint8Array, nextId: number): Transition[] {
  const transitions = [...lines(bytes, maxTransitions)].map((line) =>
    v.parse(transitionSchema, line, { abortEarly: true }),
  );
  transitions.forEach(({ id }, i) => {
    if (id >= nextId || (i > 0 && id <= transitions[i - 1].id)) throw new Error('the buffer is out of order');
  });
  return transitions;
}

function rolloutsOf(bytes: Uint8Array): RunRecord['rollouts'] {
  const byIteration = new Map<number, Trajectory[]>();
  for (const line of lines(bytes, maxRollouts)) {
    const { iteration, ...trajectory } = v.parse(rolloutSchema, line, { abortEarly: true });
    const group = byIteration.get(iteration) ?? [];
    group.push(trajectory as Trajectory);
    byIteration.set(iteration, group);
  }
  return [...byIteration].map(([iteration, trajectories]) => ({ iteration, trajectories }));
}

function* lines(bytes: Uint8Array, most: number): Generator<unknown> {
  let rows = 0;
  for (let start = 0; start < bytes.length; ) {
    const newline = bytes.indexOf(10, start);
    const end = newline === -1 ? bytes.length : newline;
    if (end - start > maxLineBytes) throw new Error(`line ${rows + 1} is longer than 1 MB`);
    if (end > start) {
      if (++rows > most) throw new Error(`there are more than ${most} lines`);
      yield parsePlainJson(bytes.subarray(start, end));
    }
    start = end + 1;
  }
}

async function attempt<T>(work: () => T): Promise<T> {
  try {
    return work();
  } catch (error) {
    if (error instanceof DreamError) throw error;
    throw corrupt(asDreamError(error).message.slice(0, 200), error);
  }
}

function notABundle(what: string): DreamError {
  return new DreamError(
    'not-a-bundle',
    `That file is not a run bundle: ${what}.`,
    'Choose a file that was written with "export --format bundle". Nothing was changed.',
  );
}

function corrupt(what: string, cause?: unknown): DreamError {
  return new DreamError(
    'corrupt-run',
    `That bundle is damaged: ${what}.`,
    'Copy or export it again. Nothing was changed.',
    { cause },
  );
}
