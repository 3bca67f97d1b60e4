/** @file What a run record must look like, value by value. Unknown keys are dropped; the config has its own check. */
import * as v from 'valibot';

const finite = v.pipe(v.number(), v.finite());
const count = v.pipe(finite, v.integer(), v.minValue(0));
const share = v.pipe(finite, v.minValue(0), v.maxValue(1));
const text = v.pipe(v.string(), v.maxLength(20_000));
const shortText = v.pipe(v.string(), v.maxLength(2_000));
const maybe = v.nullable(finite);
const many = <T extends v.GenericSchema>(item: T, most: number) => v.pipe(v.array(item), v.maxLength(most));

const rate = v.object({ rate: share, low: share, high: share, episodes: count });
const evaluation = v.object({ iteration: count, atRolloutTemperature: rate, atLowTemperature: rate });

/** Later versions measure more: further numbers are kept, anything else is refused. */
const metrics = v.objectWithRest(
  {
    iteration: count,
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
    evaluation: v.optional(evaluation),
  },
  maybe,
);

const turn = v.object({
  thought: text,
  action: text,
  actionTokens: many(count, 4096),
  actionLogProbs: many(finite, 4096),
  observation: text,
  reasoning: text,
  reward: finite,
  done: v.boolean(),
  valid: v.boolean(),
});

export const trajectorySchema = v.object({
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
  turns: many(turn, 512),
  return: finite,
  success: v.boolean(),
  truncated: v.boolean(),
  lost: v.boolean(),
  group: finite,
  advantage: v.optional(finite),
  replay: v.optional(
    v.object({
      success: v.boolean(),
      firstMismatch: finite,
      observation: v.optional(text),
      reward: v.optional(finite),
    }),
  ),
});

const task = v.object({
  id: shortText,
  instruction: shortText,
  room: shortText,
  family: shortText,
  parent: v.nullable(shortText),
  generated: v.boolean(),
  visits: finite,
  lastSuccess: maybe,
  variance: maybe,
  history: v.optional(many(v.object({ iteration: count, success: share, variance: finite }), 1_000)),
});

/** Everything but `config`, which whoever imports checks by its own rules. */
export const recordSchema = v.object({
  format: v.literal('dreamgym-run'),
  version: v.literal(1),
  runId: shortText,
  created: shortText,
  adapter: shortText,
  model: v.optional(
    v.object({
      label: shortText,
      sha256: shortText,
      rank: count,
      alpha: v.number(),
      contextLength: count,
      parallel: count,
      world: v.optional(shortText),
      precision: v.optional(v.picklist(['f32', 'f16'])),
      /** How it plays in words (dream/text-household/settings.ts); the run goes on as it began. */
      text: v.optional(
        v.object({
          constrain: v.picklist(['admissible', 'none']),
          thoughtTokens: count,
          listActions: v.boolean(),
          dreamForm: v.picklist(['guided', 'free']),
          expertSteps: count,
          headStart: count,
          warmStart: count,
        }),
      ),
    }),
  ),
  config: v.unknown(),
  metrics: many(metrics, 10_000),
  evaluations: many(evaluation, 10_000),
  /** In a zip they stand in rollouts.jsonl instead. */
  rollouts: v.optional(many(v.object({ iteration: count, trajectories: many(trajectorySchema, 1024) }), 10_000), []),
  tasks: many(task, 100_000),
  weightsHash: v.nullable(shortText),
});
