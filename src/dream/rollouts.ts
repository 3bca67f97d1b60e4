/**
 * @file Lock-step rollouts: many episodes, one batch per turn, in the dream and in the real world alike.
 *
 * Each episode is one linear stream in the KV cache: nothing is prefilled twice, and tokens and log-probabilities are
 * kept exactly as sampled (trl#5224, verl#6719: re-tokenised text is not what was sampled).
 */
import type { Source, Trajectory, Turn } from '../data/trajectory';
import type { EnvironmentBatch, StepResult, Task } from '../envs/environment';
import type { LanguageModel, Sessions } from '../nn/language-model';
import { appendObserved, appendSampled, emptyStream, type Rollout } from '../rl/rollout';
import type { Domain } from './domain';
import { deriveSeed } from './random';

export interface RolloutRequest {
  policy: LanguageModel;
  domain: Domain;
  environment: EnvironmentBatch;
  /** One episode per entry; the same task may stand several times. */
  tasks: readonly Task[];
  /** Group id per episode. */
  groups: readonly number[];
  maxSteps: number;
  temperature: number;
  seed: number;
  /** Episodes that share the KV cache at once; more are played in waves. */
  parallel?: number;
  /** Called before every turn: the place to pause, stop or report. Fraction is 0..1 over all waves. */
  onTurn?: (fraction: number) => Promise<void> | void;
}

export interface RolloutReport {
  rollouts: Rollout[];
  /** Steps the environment answered. */
  transitions: number;
  /** Policy turns that could not be parsed. */
  malformedActions: number;
  generatedTokens: number;
  seconds: number;
}

const defaultParallel = 128;

export async function rollOut(request: RolloutRequest): Promise<RolloutReport> {
  const parallel = request.parallel ?? defaultParallel;
  const report: RolloutReport = {
    rollouts: [],
    transitions: 0,
    malformedActions: 0,
    generatedTokens: 0,
    seconds: 0,
  };
  const start = performance.now();
  const waves = Math.ceil(request.tasks.length / parallel);
  for (let wave = 0; wave < waves; wave++) {
    const slice = { from: wave * parallel, to: Math.min((wave + 1) * parallel, request.tasks.length) };
    await playWave(request, wave, waves, slice, report);
  }
  report.seconds = (performance.now() - start) / 1000;
  return report;
}

interface Episode extends Rollout {
  active: boolean;
}

async function playWave(
  request: RolloutRequest,
  wave: number,
  waves: number,
  slice: { from: number; to: number },
  report: RolloutReport,
): Promise<void> {
  const { policy, domain, environment, maxSteps } = request;
  const role = domain.dialect.policy;
  const tasks = request.tasks.slice(slice.from, slice.to);
  const sampling = {
    temperature: request.temperature,
    seed: deriveSeed(request.seed, 'policy', wave),
    stopTokens: role.stopTokens,
    maxNewTokens: role.maxNewTokens,
  };
  const firstObservations = await environment.reset(tasks, deriveSeed(request.seed, 'environment', wave));
  const sessions = policy.sessions(tasks.length);
  try {
    const episodes = tasks.map((task, i): Episode => {
      const trajectory = newTrajectory(
        task,
        environment.imagined ? 'imagined' : 'real',
        firstObservations[i],
        request.groups[slice.from + i],
      );
      return { trajectory, stream: emptyStream(), active: true };
    });
    // A stream without room for the text and one whole turn is over: a cut-off answer would be punished for the size
    // of the cache.
    const observe = (i: number, tokens: readonly number[]) => {
      if (sessions.length(i) + tokens.length + role.maxNewTokens > sessions.contextLength) {
        episodes[i].active = false;
        episodes[i].trajectory.truncated = true;
        return;
      }
      sessions.append(i, tokens);
      appendObserved(episodes[i].stream, tokens);
    };
    const openings = episodes.map(({ trajectory: { task, firstObservation } }) => role.opening(task, firstObservation));
    openings.forEach((opening, i) => {
      observe(i, opening);
    });
    await shareLongOpenings(sessions, openings);

    for (let turn = 0; turn < maxSteps; turn++) {
      await request.onTurn?.((wave + turn / maxSteps) / waves);
      const playing = episodes.map((_, i) => i).filter((i) => episodes[i].active);
      if (playing.length === 0) break;

      const answers = await sessions.generate(playing, sampling);
      const turns: Turn[] = [];
      const actions: (string | null)[] = episodes.map(() => null);
      playing.forEach((i, j) => {
        const { tokens, logProbs, stopped } = answers[j];
        appendSampled(episodes[i].stream, tokens, logProbs, turn);
        report.generatedTokens += tokens.length;
        const parsed = stopped ? role.parse(tokens) : null;
        if (parsed) actions[i] = parsed.action;
        else report.malformedActions++;
        turns[i] = {
          thought: parsed?.thought ?? '',
          action: parsed?.action ?? '',
          actionTokens: [...tokens],
          actionLogProbs: [...logProbs],
          observation: domain.failureObservation,
          reasoning: '',
          reward: 0,
          done: false,
          valid: false,
        };
      });

      // Nothing reaches the world for a malformed action: its turn already holds the failure state.
      const results = await environment.step(actions);
      for (const i of playing) {
        const { trajectory } = episodes[i];
        const result = results[i];
        if (result) {
          if (!result.lost) report.transitions++;
          takeResult(trajectory, turns[i], result);
        }
        if (!trajectory.lost) trajectory.turns.push(turns[i]);
        if (trajectory.lost || turns[i].done) {
          episodes[i].active = false;
          continue;
        }
        // Nobody reads what follows the last turn; leaving it out saves its training cost.
        if (turn + 1 < maxSteps) observe(i, role.reply(turns[i].actionTokens, turns[i].observation));
      }
    }

    for (const episode of episodes) {
      const { trajectory } = episode;
      if (episode.active) trajectory.truncated = true;
      trajectory.return = trajectory.lost ? 0 : trajectory.turns.reduce((sum, turn) => sum + turn.reward, 0);
      trajectory.success = trajectory.return > 0;
      report.rollouts.push({ trajectory, stream: episode.stream });
    }
  } finally {
    sessions.dispose();
  }
}

/** Shorter openings are computed faster together than copied. */
const LONG_OPENING = 64;

/** Rollouts of a group begin with the same words (instructions, rules, first observation): those are computed once. */
async function shareLongOpenings(sessions: Sessions, openings: readonly (readonly number[])[]): Promise<void> {
  for (let i = 0; i < openings.length; ) {
    let end = i + 1;
    while (end < openings.length && sameTokens(openings[end], openings[i])) end++;
    const fits = sessions.length(i) === openings[i].length; // else it was given up for want of room
    if (end > i + 1 && fits && openings[i].length >= LONG_OPENING) {
      const others = Array.from({ length: end - i - 1 }, (_, k) => i + 1 + k);
      await sessions.copy(i, others);
    }
    i = end;
  }
}

function sameTokens(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((token, i) => token === b[i]);
}

function newTrajectory(task: Task, source: Source, firstObservation: string, group: number): Trajectory {
  return {
    task,
    source,
    firstObservation,
    turns: [],
    return: 0,
    success: false,
    truncated: false,
    lost: false,
    group,
  };
}

function takeResult(trajectory: Trajectory, turn: Turn, result: StepResult): void {
  if (result.lost) {
    trajectory.lost = true;
    return;
  }
  turn.observation = result.observation;
  turn.reasoning = result.reasoning ?? '';
  turn.reward = result.reward;
  turn.done = result.done;
  turn.valid = result.valid;
}
