/** @file Direct preference optimisation as a stage: real successes of the warm start against its failures on the same task. */
import { dpoDefaults, dpoUpdate, preferencePairs } from '../../rl/dpo';
import { frozenReference } from '../../rl/reference';
import type { Stage } from './definition';
import { gather } from './gather';
import type { StageContext, StageReport } from './stage';
import { courseOfRate, endless } from './supervised';

const groupSize = 8;
/** More pairs of one group repeat each other. */
const pairsPerGroup = 3;

/** Throws `no-data` where no task was both won and failed. */
export async function runDpo(context: StageContext, stage: Extract<Stage, { kind: 'dpo' }>): Promise<StageReport> {
  const { policy, seed, onProgress, dpo } = context;
  const { updates, tokensPerUpdate, learningRate, beta } = stage;
  const played = await gather(context, { tasks: stage.tasks, groupSize, world: 'real' });
  const pairs = preferencePairs(played.rollouts, pairsPerGroup);
  const next = endless(pairs, seed, 'task that was both won and failed');
  const reference = await frozenReference(policy);
  let [tokens, loss, accuracy, skippedInARow] = [0, 0, 0, 0];
  for (let i = 0; i < updates; i++) {
    await onProgress(i / updates, `update ${i + 1} of ${updates}`);
    const batch = [];
    for (let length = 0; length < tokensPerUpdate; ) {
      const pair = next();
      length += pair.chosen.tokens.length + pair.rejected.tokens.length;
      batch.push(pair);
    }
    const report = await dpoUpdate({
      policy,
      reference,
      pairs: batch,
      settings: { ...dpoDefaults, beta, learningRate: learningRate * courseOfRate(i, updates) },
      kernel: dpo,
      shuffle: (items) => [...items],
      skippedInARow,
    });
    skippedInARow = report.skippedInARow;
    tokens += report.tokens;
    if (i === updates - 1) [loss, accuracy] = [report.loss, report.accuracy];
  }
  return {
    updates,
    realTransitions: played.transitions,
    dreamedTransitions: 0,
    facts: { loss, tokens, pairs: pairs.length, preferenceAccuracy: accuracy },
  };
}
