/**
 * @file The steps of an iteration that follow its rollouts: the policy learns, the buffer remembers, tasks get their value and
 * their variants, and now and then the dream itself is refreshed.
 */
import type { Trajectory } from '../data/trajectory';
import type { Task } from '../envs/environment';
import { policyUpdate, type ReferenceScorer, type UpdateReport } from '../rl/policy-update';
import type { Rollout } from '../rl/rollout';
import type { RunPhase } from '../worker/protocol';
import { learnerState } from './iteration-metrics';
import type { LoopParts } from './loop-parts';
import { partOfRun } from './practice';
import { Draws, deriveSeed } from './random';
import { gatherReal, type RefreshedModel, refreshDue, tellReal } from './refresh';
import type { ReplayBuffer } from './replay-buffer';
import type { RunState } from './run-state';
import { clusterTasks, clusterVariances } from './task-clusters';
import { type GenerationReport, generateTasks } from './task-generator';

/** Where a run may wait or be stopped (it throws then), and reports how far it is. */
export type SafePoint = (phase: RunPhase, fraction: number, detail: string) => Promise<void>;

/** One policy update on this iteration's rollouts. */
export async function learn(
  { policy, domain, kernels }: LoopParts,
  { config, iteration, metrics }: RunState,
  rollouts: readonly Rollout[],
  reference: ReferenceScorer | undefined,
  seed: number,
  safely: SafePoint,
): Promise<UpdateReport> {
  const turnTokens = domain.dialect.policy.maxNewTokens;
  await safely('learning', 0, '');
  return policyUpdate({
    policy,
    rollouts,
    settings: config,
    horizon: config.sampleUnit === 'step' ? turnTokens : config.maxSteps * turnTokens,
    ...partOfRun(config, iteration),
    kernels: kernels.advantages,
    // The first epoch's seed is the one that runs had before there were epochs.
    shuffle: (items, epoch) =>
      new Draws(deriveSeed(seed, 'mini-batches', ...(epoch === 0 ? [] : [epoch]))).shuffled(items),
    reference,
    state: learnerState(metrics.at(-1), config),
    onMiniBatch: (done, total) => safely('learning', done / total, ''),
  });
}

/** New transitions go into the buffer; lost episodes and malformed turns showed nothing. */
export function remember(buffer: ReplayBuffer, trajectories: readonly Trajectory[], label: string): void {
  trajectories.forEach(({ task, source, lost, firstObservation, turns }, i) => {
    if (lost) return;
    const episode = `${label} ${i}`;
    let state = firstObservation;
    for (const { action, observation: nextState, reward } of turns) {
      if (action === '') continue;
      buffer.add([{ source, episode, room: task.room, task: task.instruction, state, action, nextState, reward }]);
      state = nextState;
    }
  });
}

/** Where one is due: the experience model learns from real episodes of the policy as it is now, and the buffer keeps them. */
export async function refresh(
  parts: LoopParts,
  state: RunState,
  refreshed: RefreshedModel,
  at: { iteration: number; practised: number; tasks: readonly Task[]; seed: number },
  safely: SafePoint,
): Promise<{ transitions: number; loss: number } | null> {
  const { config, buffer } = state;
  const { iteration } = at;
  if (!refreshDue(config, iteration, at.practised)) return null;
  const { trajectories, transitions } = await gatherReal(parts, config, at.tasks, at.seed, (fraction) =>
    safely('rolling-out', fraction, 'in the real world, to refresh the dream'),
  );
  const sequences = await tellReal(parts, trajectories, buffer, config.retrievalTopK);
  const told = { iteration, transitions, sequences };
  const loss = await refreshed.learn(told, (fraction) => safely('learning', fraction, 'the dream, refreshed'));
  state.refreshes.push(told);
  remember(buffer, trajectories, `${iteration} refresh`);
  return { transitions, loss };
}

/** Where each task is tried once, its value is the variance of the tasks like it; otherwise it has its own. */
export async function taskVariances(
  { experience, domain }: LoopParts,
  { config }: RunState,
  tasks: readonly Task[],
  rates: ReadonlyMap<number, number>,
  seed: number,
): Promise<ReturnType<typeof clusterVariances> | undefined> {
  if (config.groupSize > 1) return undefined;
  return clusterVariances(await clusterTasks(experience, domain, tasks, deriveSeed(seed, 'clusters')), rates);
}

/** New tasks are proposed for this share of an iteration's tasks. */
const proposalShare = 0.5;

/** The tasks of this iteration that taught most become parents. */
export function inventTasks(
  { experience, domain, parallel }: LoopParts,
  { config, pool, buffer }: RunState,
  tasks: readonly Task[],
  seed: number,
): Promise<GenerationReport> {
  return generateTasks({
    model: experience,
    domain,
    pool,
    buffer,
    parents: pool.parents(tasks.map((task) => task.id)),
    proposals: config.lambda > 0 ? Math.ceil(config.tasksPerIteration * proposalShare) : 0,
    temperature: 1,
    seed: deriveSeed(seed, 'generator'),
    parallel,
    ...(config.taskSelection === 'all' ? {} : { candidates: config.taskCandidates }),
  });
}
