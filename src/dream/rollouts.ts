/**
 * @file Lock-step rollouts: many episodes, one batch per turn, in the dream and in the real world alike.
 *
 * Each episode is one linear stream in the KV cache: nothing is prefilled twice, and tokens and log-probabilities are
 * kept exactly as sampled (trl#5224, verl#6719: re-tokenised text is not what was sampled).
 */
import type { Source, Trajectory, Turn } from '../data/trajectory';
import type { EnvironmentBatch, StepResult, Task } from '../envs/environment';
import type { Generated, LanguageModel, SamplingOptions } from '../nn/language-model';
import { appendObserved, appendSampled, emptyStream, type Rollout, type TokenStream } from '../rl/rollout';
import type { Domain } from './domain';
import { deriveSeed } from './random';
import { shareBeginning, shareLongOpenings } from './shared-openings';

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
  /** Episodes that share the KV cache at once; more, or more than the environment has room for, are played in waves. */
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
  const parallel = Math.min(
    request.parallel ?? defaultParallel,
    request.environment.capacity ?? Number.POSITIVE_INFINITY,
  );
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
    const observe = (i: number, tokens: readonly number[], held = 0) => {
      if (sessions.length(i) - held + tokens.length + role.maxNewTokens > sessions.contextLength) {
        episodes[i].active = false;
        episodes[i].trajectory.truncated = true;
        return;
      }
      sessions.append(i, held === 0 ? tokens : tokens.slice(held));
      appendObserved(episodes[i].stream, tokens);
    };
    const possible = (i: number): readonly string[] | undefined => {
      const { firstObservation, turns } = episodes[i].trajectory;
      if (!domain.admissible) return undefined;
      return environment.admissible?.(i) ?? domain.admissible(firstObservation, turns);
    };
    const openings = episodes.map(({ trajectory: { task, firstObservation } }, i) =>
      role.opening(task, firstObservation, possible(i)),
    );
    const held = await shareBeginning(sessions, openings);
    openings.forEach((opening, i) => {
      observe(i, opening, held);
    });
    await shareLongOpenings(sessions, openings);

    for (let turn = 0; turn < maxSteps; turn++) {
      await request.onTurn?.((wave + turn / maxSteps) / waves);
      const playing = episodes.map((_, i) => i).filter((i) => episodes[i].active);
      if (playing.length === 0) break;

      const led = lead(role.guide, playing, possible);
      const answers = await sessions.generate(playing, led ? { ...sampling, allowed: led.allowed } : sampling);
      const turns: Turn[] = [];
      const actions: (string | null)[] = episodes.map(() => null);
      playing.forEach((i, j) => {
        const { tokens, logProbs, stopped } = answers[j];
        if (led) appendLed(episodes[i].stream, answers[j], turn, led.given.get(i)!);
        else appendSampled(episodes[i].stream, tokens, logProbs, turn);
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
        if (turn + 1 < maxSteps) observe(i, role.reply(turns[i].actionTokens, turns[i].observation, possible(i)));
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

interface Led {
  allowed: NonNullable<SamplingOptions['allowed']>;
  /** Per episode: places in its answer where one token alone could be drawn. */
  given: Map<number, Set<number>>;
}

/** Leads the turn of every playing episode; null where the policy speaks as it likes. */
function lead(
  guideOf: Domain['dialect']['policy']['guide'],
  playing: readonly number[],
  possible: (i: number) => readonly string[] | undefined,
): Led | null {
  if (!guideOf) return null;
  const guides = new Map(playing.map((i) => [i, guideOf(possible(i) ?? [])]));
  const given = new Map(playing.map((i) => [i, new Set<number>()]));
  return {
    given,
    allowed(stream, drawn) {
      const tokens = guides.get(stream)!(drawn);
      if (tokens?.length === 1) given.get(stream)!.add(drawn.length);
      return tokens;
    },
  };
}

/** A token that alone could be drawn was no decision: it bears no loss, like the words of the world. */
function appendLed(
  stream: TokenStream,
  { tokens, logProbs }: Generated,
  turn: number,
  given: ReadonlySet<number>,
): void {
  tokens.forEach((token, at) => {
    if (given.has(at)) appendObserved(stream, [token]);
    else appendSampled(stream, [token], [logProbs[at]], turn);
  });
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
