/**
 * @file Data sets for TRL and everything that reads its formats: `messages` for supervised fine-tuning, `prompt` / `chosen` /
 * `rejected` for preference learning. One JSON object a line; every episode that is left out is named.
 */
import type { RunRecord } from '../../worker/protocol';
import type { Trajectory } from '../trajectory';
import {
  type ChatMessage,
  type Dropped,
  type MessageOptions,
  reactMessages,
  toolMessages,
  untellable,
} from './chat-messages';

export interface DataSet {
  /** JSONL, one object a line. */
  text: string;
  lines: number;
  dropped: Dropped[];
}

export interface Episode {
  where: string;
  iteration: number;
  trajectory: Trajectory;
}

export function episodesOf({ rollouts }: Pick<RunRecord, 'rollouts'>): Episode[] {
  return rollouts.flatMap(({ iteration, trajectories }) =>
    trajectories.map((trajectory, i) => ({ where: `iteration ${iteration}, episode ${i + 1}`, iteration, trajectory })),
  );
}

export interface MessagesOptions extends MessageOptions {
  /** Also episodes that did not succeed; they carry `success: false`. Default: successes only. */
  all?: boolean;
  /** With tool calls instead of ReAct's words. */
  tools?: boolean;
}

/** `{"messages": [...], "task", "success", "return", "source", "iteration"}` a line. */
export function messagesJsonl(episodes: readonly Episode[], options: MessagesOptions = {}): DataSet {
  const write = options.tools ? toolMessages : reactMessages;
  return dataSet(episodes, ({ trajectory, iteration }) => {
    const why = untellable(trajectory) ?? (trajectory.success || options.all ? null : 'it did not succeed');
    if (why) return why;
    const { task, success, return: total, source } = trajectory;
    return { messages: write(trajectory, options), task: task.id, success, return: total, source, iteration };
  });
}

function dataSet(episodes: readonly Episode[], lineOf: (episode: Episode) => object | string): DataSet {
  const lines: string[] = [];
  const dropped: Dropped[] = [];
  for (const episode of episodes) {
    const line = lineOf(episode);
    if (typeof line === 'string') dropped.push({ where: episode.where, why: line });
    else lines.push(`${JSON.stringify(line)}\n`);
  }
  return { text: lines.join(''), lines: lines.length, dropped };
}

/** More pairs of one task say the same again. */
const maxPairsPerTask = 8;

/**
 * Pairs of a success and a failure of the same task from the same first observation. What both did alike is the prompt;
 * `chosen` and `rejected` begin where they part.
 */
export function preferenceJsonl(episodes: readonly Episode[], options: MessageOptions = {}): DataSet {
  const tasks = new Map<string, { won: Episode[]; failed: Episode[] }>();
  const dropped: Dropped[] = [];
  for (const episode of episodes) {
    const { trajectory } = episode;
    const why = untellable(trajectory);
    if (why) {
      dropped.push({ where: episode.where, why });
      continue;
    }
    const key = JSON.stringify([trajectory.task.id, trajectory.firstObservation]);
    const sides = tasks.get(key) ?? { won: [], failed: [] };
    (trajectory.success ? sides.won : sides.failed).push(episode);
    tasks.set(key, sides);
  }
  const lines: string[] = [];
  for (const { won, failed } of tasks.values()) {
    if (won.length === 0 || failed.length === 0) {
      const why = `the task has no ${won.length === 0 ? 'success' : 'failure'} to compare with`;
      for (const { where } of [...won, ...failed]) dropped.push({ where, why });
      continue;
    }
    const pairs = Math.min(maxPairsPerTask, Math.max(won.length, failed.length));
    for (let i = 0; i < pairs; i++) {
      const [better, worse] = [won[i % won.length], failed[i % failed.length]];
      const pair = pairOf(reactMessages(better.trajectory, options), reactMessages(worse.trajectory, options));
      const task = better.trajectory.task.id;
      if (pair) lines.push(`${JSON.stringify({ ...pair, task })}\n`);
      else dropped.push({ where: `${better.where} with ${worse.where}`, why: 'one is the beginning of the other' });
    }
    for (const { where } of [...won.slice(pairs), ...failed.slice(pairs)])
      dropped.push({ where, why: `the task has ${maxPairsPerTask} pairs already` });
  }
  return { text: lines.join(''), lines: lines.length, dropped };
}

function pairOf(
  better: readonly ChatMessage[],
  worse: readonly ChatMessage[],
): { prompt: readonly ChatMessage[]; chosen: readonly ChatMessage[]; rejected: readonly ChatMessage[] } | null {
  let common = 0;
  while (common < better.length && better[common].content === worse[common]?.content) common++;
  // They part in an answer of the policy: where the world alone answered otherwise, neither is to blame there.
  if (common % 2 === 0) common--;
  if (common < 1 || common >= better.length || common >= worse.length) return null;
  if (better[common].content === worse[common].content) return null;
  return { prompt: better.slice(0, common), chosen: better.slice(common), rejected: worse.slice(common) };
}
