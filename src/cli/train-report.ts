/** @file What `dream train` tells: a line for every iteration while it runs, and the one JSON line at its end. */
import { mean } from '../data/statistics';
import { fidelityNumbers, fidelityOf } from '../dream/fidelity';
import type { RunModel } from '../dream/run-store';
import type { Evaluation, IterationMetrics, RunConfig, RunEvent } from '../worker/protocol';
import type { CommandIo } from './command';
import { duration } from './progress';

export interface MachineFacts {
  /** The world it was trained in. */
  env?: string;
  /** Memories that were brought. */
  memories?: number;
  model?: RunModel;
  adapter: string;
  bufferSize: number;
  weightsHash: string | null;
  peakGpuBytes: number;
  seconds: number;
}

/** The last line of `--json`. */
export function trainResult(
  config: RunConfig,
  metrics: readonly IterationMetrics[],
  evaluations: readonly Evaluation[],
  facts: MachineFacts,
): object {
  const last = metrics.at(-1);
  const errors = metrics.map((m) => m.rewardError).filter((error) => error !== null);
  const measured = { before: success(evaluations.at(0)), after: success(evaluations.at(-1)) };
  const dreamed = evaluations.some(({ imagined }) => imagined);
  const fidelity = fidelityOf({ metrics, evaluations, config });
  return {
    ...(facts.env === undefined ? {} : { env: facts.env }),
    preset: config.preset,
    seed: config.seed,
    iterations: metrics.length,
    rollouts: config.rollouts,
    ...(facts.model ? { model: facts.model } : {}),
    adapter: facts.adapter,
    realTransitions: last?.realTransitions ?? 0,
    dreamedTransitions: last?.dreamedTransitions ?? 0,
    measurementSteps: last?.measurementSteps ?? 0,
    tasksGenerated: last?.tasksGenerated ?? 0,
    bufferSize: facts.bufferSize,
    rewardError: errors.length > 0 ? mean(errors) : null,
    replayPrecision: metrics.map((m) => m.replayPrecision),
    fidelity: fidelity && { ...fidelityNumbers(fidelity), flags: fidelity.flags.map(({ kind }) => kind) },
    loss: metrics.map((m) => m.loss),
    gradNorm: metrics.map((m) => m.gradNorm),
    malformed: {
      actions: metrics.map((m) => m.malformedActions ?? 0),
      answers: metrics.map((m) => m.malformed),
      lostEpisodes: metrics.map((m) => m.lostEpisodes ?? 0),
    },
    ...(facts.memories === undefined ? {} : { memories: facts.memories }),
    // A world without a truth was examined in its own dream, which proves nothing about any other.
    ...(dreamed ? { realSuccess: null, dreamedSuccess: measured } : { realSuccess: measured }),
    tokensPerSecond: {
      generate: mean(metrics.map((m) => m.generateTokensPerSecond)),
      train: mean(metrics.map((m) => m.trainTokensPerSecond)),
    },
    peakGpuBytes: facts.peakGpuBytes,
    weightsHash: facts.weightsHash,
    seconds: facts.seconds,
  };
}

/** The rate at the rollout temperature, and beside it the one at the low temperature. */
function success(evaluation: Evaluation | undefined): object | null {
  if (!evaluation) return null;
  return { ...evaluation.atRolloutTemperature, lowTemperature: evaluation.atLowTemperature };
}

export const percent = (x: number) => `${(100 * x).toFixed(1)} %`;

/** Events as lines a person can follow, and a bar for what is under way. */
export function reporter(io: CommandIo): (event: RunEvent) => void {
  const bar = io.progress('starting');
  return (event) => {
    if (event.type === 'progress') {
      const { phase, iteration, iterations, fraction, secondsLeft } = event.progress;
      const left = secondsLeft === null ? '' : `run: ${duration(secondsLeft)} left`;
      bar.update(fraction, left, `${phase} ${Math.min(iteration + 1, iterations)}/${iterations}`);
    } else if (event.type === 'iteration') {
      const m = event.metrics;
      const replay = m.replayPrecision === null ? '' : `, replay ${m.replayTrue} true / ${m.replayFalse} false`;
      const lost = m.lostEpisodes ? `, ${m.lostEpisodes} lost` : '';
      const next = m.nextStateAccuracy === null ? '' : `, next state ${percent(m.nextStateAccuracy)}`;
      io.print(
        `${String(m.iteration).padStart(3)}  reward ${percent(m.trainReward)}${replay}${next}, loss ${m.loss.toFixed(4)}, ` +
          `entropy ${m.entropy.toFixed(3)}, gradient ${m.gradNorm.toPrecision(3)}, valid ${percent(m.validActionRate)}${lost}, ${m.seconds.toFixed(1)} s`,
      );
    } else if (event.type === 'evaluation') {
      const { iteration, imagined, atRolloutTemperature: high, atLowTemperature: low } = event.evaluation;
      const rate = (r: typeof high) => `${percent(r.rate)} [${percent(r.low)}, ${percent(r.high)}]`;
      io.print(
        `     ${imagined ? 'dreamed' : 'real'} success after ${iteration}: ${rate(high)} at rollout temperature, ${rate(low)} at 0.4`,
      );
    } else if (event.type === 'notice') io.note(event.message);
  };
}
