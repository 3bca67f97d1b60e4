/**
 * @file Reads a run file (JSON, plain or gzipped) without believing it: sizes are capped, every value is checked.
 *
 * Used for the recorded run on the first paint and for imports when the trainer cannot run on this machine.
 */
import * as v from 'valibot';
import { DreamError } from '../../data/errors';
import { runConfigSchema } from '../../dream/presets';
import type { RunRecord } from '../../worker/protocol';

/** A run of 1000 iterations with its rollouts is a few megabytes; what unpacks to more than this is not one. */
const maxBytes = 128 * 1024 * 1024;

const finite = v.pipe(v.number(), v.finite());
const share = v.pipe(finite, v.minValue(0), v.maxValue(1));
const text = v.pipe(v.string(), v.maxLength(20_000));
const shortText = v.pipe(v.string(), v.maxLength(2_000));
const maybe = v.nullable(finite);

const rateSchema = v.object({ rate: share, low: share, high: share, episodes: v.pipe(finite, v.minValue(0)) });
const evaluationSchema = v.object({
  iteration: finite,
  atRolloutTemperature: rateSchema,
  atLowTemperature: rateSchema,
});

const metricsSchema = v.object({
  iteration: finite,
  trainReward: finite,
  replayPrecision: maybe,
  replayTrue: finite,
  replayFalse: finite,
  rewardError: maybe,
  nextStateAccuracy: maybe,
  loss: finite,
  entropy: finite,
  kl: finite,
  clipFraction: finite,
  gradNorm: finite,
  logProbGap: finite,
  groupStd: finite,
  zeroVarianceGroups: finite,
  validActionRate: finite,
  meanTurns: finite,
  malformed: finite,
  syntheticShare: finite,
  taskDifficulty: finite,
  tasksGenerated: finite,
  bufferSize: finite,
  realTransitions: finite,
  dreamedTransitions: finite,
  generateTokensPerSecond: finite,
  trainTokensPerSecond: finite,
  gpuBytes: finite,
  seconds: finite,
  evaluation: v.optional(evaluationSchema),
});

const turnSchema = v.object({
  thought: text,
  action: text,
  actionTokens: v.pipe(v.array(finite), v.maxLength(4096)),
  actionLogProbs: v.pipe(v.array(finite), v.maxLength(4096)),
  observation: text,
  reasoning: text,
  reward: finite,
  done: v.boolean(),
  valid: v.boolean(),
});

const trajectorySchema = v.object({
  task: v.object({
    id: shortText,
    instruction: shortText,
    room: shortText,
    family: shortText,
    firstObservation: text,
    data: v.unknown(),
  }),
  source: v.picklist(['real', 'imagined', 'offline']),
  firstObservation: text,
  turns: v.pipe(v.array(turnSchema), v.maxLength(512)),
  return: finite,
  success: v.boolean(),
  truncated: v.boolean(),
  lost: v.boolean(),
  group: finite,
  advantage: v.optional(finite),
  replay: v.optional(v.object({ success: v.boolean(), firstMismatch: finite })),
});

const taskSchema = v.object({
  id: shortText,
  instruction: shortText,
  room: shortText,
  family: shortText,
  parent: v.nullable(shortText),
  generated: v.boolean(),
  visits: finite,
  lastSuccess: maybe,
  variance: maybe,
});

const recordSchema = v.object({
  format: v.literal('dreamgym-run'),
  version: v.literal(1),
  runId: shortText,
  created: shortText,
  adapter: shortText,
  config: runConfigSchema,
  metrics: v.pipe(v.array(metricsSchema), v.maxLength(10_000)),
  evaluations: v.pipe(v.array(evaluationSchema), v.maxLength(10_000)),
  rollouts: v.pipe(
    v.array(v.object({ iteration: finite, trajectories: v.pipe(v.array(trajectorySchema), v.maxLength(1024)) })),
    v.maxLength(10_000),
  ),
  tasks: v.pipe(v.array(taskSchema), v.maxLength(100_000)),
  weightsHash: v.nullable(shortText),
});

function corrupt(what: string, cause?: unknown): DreamError {
  return new DreamError(
    'corrupt-run',
    `This is not a run file of this program: ${what}.`,
    'Choose a file that was saved with “Export run”. Nothing on the page was changed.',
    { cause },
  );
}

/** Unpacks gzip up to `maxBytes`: the size a file declares is not believed. */
async function gunzip(bytes: Uint8Array): Promise<Uint8Array> {
  const stream = new Blob([bytes as Uint8Array<ArrayBuffer>]).stream().pipeThrough(new DecompressionStream('gzip'));
  const reader = stream.getReader();
  const chunks: Uint8Array[] = [];
  let total = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    total += value.byteLength;
    if (total > maxBytes) {
      await reader.cancel();
      throw corrupt('it unpacks to more than 128 MiB');
    }
    chunks.push(value);
  }
  const all = new Uint8Array(total);
  let offset = 0;
  for (const chunk of chunks) {
    all.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return all;
}

/** Throws DreamError `corrupt-run` for anything that is not a run. */
export async function readRunRecord(bytes: Uint8Array): Promise<RunRecord> {
  if (bytes.byteLength > maxBytes) throw corrupt('it is larger than 128 MiB');
  let plain = bytes;
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) {
    try {
      plain = await gunzip(bytes);
    } catch (error) {
      throw error instanceof DreamError ? error : corrupt('it cannot be unpacked', error);
    }
  }
  let json: unknown;
  try {
    json = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(plain));
  } catch (error) {
    throw corrupt('it is not JSON text', error);
  }
  return checkRunRecord(json);
}

/** The same for a value that is already parsed. */
export function checkRunRecord(json: unknown): RunRecord {
  const result = v.safeParse(recordSchema, json);
  if (!result.success) {
    const issue = result.issues[0];
    throw corrupt(`${v.getDotPath(issue) ?? 'the top level'} is wrong (${issue.message.slice(0, 120)})`);
  }
  return result.output as RunRecord;
}
