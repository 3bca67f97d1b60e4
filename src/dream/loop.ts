/**
 * @file The DreamGym loop (arXiv 2511.03773, section 3), thin and whole:
 *
 *   tasks <- curriculum; rollouts <- policy in the dream; advantages, policy update; buffer <- rollouts;
 *   new tasks <- generator; the dream is audited against the real world; now and then the policy is examined there.
 *
 * Every random draw is a function of (seed, iteration, purpose), and everything else that an iteration reads is in the
 * snapshot of the one before, so a resumed run equals an uninterrupted one bit for bit.
 */

import { mean } from '../data/statistics';
import type { ReferenceScorer } from '../rl/policy-update';
import type { Evaluation, RunConfig, RunPhase } from '../worker/protocol';
import { collect, dreamOf } from './collect';
import { RunControl, RunStopped } from './control';
import { evaluate } from './evaluation';
import { type FidelityReport, hasCollapsed, measureFidelity, newFlags } from './fidelity';
import { iterationMetrics, refreshMetrics, rolloutsForViewer } from './iteration-metrics';
import { inventTasks, learn, refresh, remember, type SafePoint, taskVariances } from './iteration-steps';
import { type LoopParts, referenceOf } from './loop-parts';
import { isOver, practiceOf } from './practice';
import { Draws, deriveSeed } from './random';
import { checkRefresh, RefreshedModel } from './refresh';
import { RunReporter } from './run-reporter';
import { RunState } from './run-state';
import type { StoredPhase, StoredRun } from './run-store';

/**
 * One run. `run()` once; after a stop or an error the object is spent (its weights may belong to a half-finished
 * iteration): `DreamLoop.restore` continues from the store.
 */
export class DreamLoop {
  readonly control: RunControl;
  private readonly report: RunReporter;
  private readonly refreshed: RefreshedModel;

  private constructor(
    private readonly parts: LoopParts,
    readonly state: RunState,
    private reference: ReferenceScorer | undefined,
  ) {
    this.report = new RunReporter(state, (event) => parts.emit(event));
    this.control = new RunControl((halted) => this.report.halted(halted));
    this.refreshed = new RefreshedModel(parts.experience, parts.domain, state.config.seed);
  }

  get phase(): RunPhase {
    return this.report.phase;
  }

  /** A new run. Nothing is computed before `run`. Throws DreamError `config-invalid`. */
  static fresh(parts: LoopParts, config: RunConfig, runId: string): DreamLoop {
    return new DreamLoop(parts, RunState.fresh(config, parts.domain, runId, parts.adapter, parts.model), undefined);
  }

  /**
   * Continues a stored run. `parts.policy` must hold the warm start it began from; its weights are replaced.
   * `changes` may lengthen the run or move it to the real world (sim-to-real).
   */
  static async restore(parts: LoopParts, stored: StoredRun, changes: Partial<RunConfig> = {}): Promise<DreamLoop> {
    const klCoef = changes.klCoef ?? stored.config.klCoef;
    const reference = klCoef > 0 ? await referenceOf(parts) : undefined;
    return new DreamLoop(parts, await RunState.restore(stored, parts.policy, changes, parts.model), reference);
  }

  /** Runs to the end, a collapse or a stop. Pausing is `control.pause()`. Errors are emitted, then thrown. */
  async run(): Promise<void> {
    const { state } = this;
    try {
      checkRefresh(state.config, this.parts);
      for (const refresh of state.refreshes)
        await this.refreshed.learn(refresh, (fraction) => this.safely('loading', fraction, 'the dream as it was'));
      if (state.evaluations.length === 0) await this.begin();
      while (!this.over() && !this.collapsed()) {
        await this.control.gate();
        await this.iterate();
        this.control.iterationFinished();
      }
      if (this.collapsed()) this.report.collapse();
      this.report.progress(this.over() ? 'finished' : 'stopped', 1, '');
    } catch (error) {
      if (error instanceof RunStopped) {
        this.report.progress('stopped', 0, 'Stopped; the last finished iteration is kept.');
        return;
      }
      this.report.failure(error);
      throw error;
    } finally {
      await this.giveBack();
    }
  }

  /** The experience model is not the run's own. A device that is gone has nothing to give back. */
  private async giveBack(): Promise<void> {
    try {
      await this.refreshed.restore();
    } catch {
      // The next run loads its models anew.
    }
  }

  /** A fresh optimiser, and the examination before anything was learned: the run's zero. */
  private async begin(): Promise<void> {
    const { policy } = this.parts;
    // Whatever trained these weights before must not linger in Adam's moments.
    const { weights } = await policy.exportState(false);
    await policy.importState({ step: 0, weights });
    if (this.state.config.klCoef > 0) this.reference = await referenceOf(this.parts);
    const evaluation = await this.examine(0);
    this.state.evaluations.push(evaluation);
    await this.save('running');
    this.parts.emit({ type: 'evaluation', evaluation });
  }

  /** One iteration, as on paper. Nothing of it is in `state.iteration` or the store until all of it is done. */
  private async iterate(): Promise<void> {
    const { parts, state } = this;
    const { config, pool } = state;
    const iteration = state.iteration + 1;
    const seed = deriveSeed(config.seed, 'iteration', iteration);
    const start = performance.now();

    const { world, mostTasks } = practiceOf(config, iteration, state.metrics.at(-1));
    const asked = pool.choose(mostTasks, config.lambda, new Draws(deriveSeed(seed, 'tasks')));
    const { rollouts, dream, tasks } = await collect(
      parts,
      state,
      asked,
      seed,
      (fraction, detail) => this.safely('rolling-out', fraction, detail),
      // A budget of real transitions has been dealt out already.
      (count, round) =>
        world === 'real' && config.realBudget > 0
          ? []
          : pool.choose(count, config.lambda, new Draws(deriveSeed(seed, 'tasks', round))),
      world,
    );
    const generatedShare = tasks.filter((task) => pool.get(task.id)?.generated).length / tasks.length;
    const trajectories = rollouts.rollouts.map((rollout) => rollout.trajectory);

    const trainStart = performance.now();
    const learned = await learn(parts, state, rollouts.rollouts, this.reference, seed, this.safely);
    const trainSeconds = (performance.now() - trainStart) / 1000;

    remember(state.buffer, trajectories, String(iteration));
    const variances = await taskVariances(parts, state, tasks, learned.successRate, seed);
    for (const [group, rate] of learned.successRate)
      pool.record(tasks[group].id, rate, iteration, variances?.get(group));
    const generated = await inventTasks(parts, state, tasks, seed);
    const fidelity = await measureFidelity(
      trajectories,
      parts.domain.dreamedOnly ? null : parts.domain.realWorld(),
      parts.domain.facts,
    );
    state.measurementSteps += fidelity.realSteps;
    const before = state.metrics.at(-1);
    const real = world === 'real';
    const practised = (before?.realTransitions ?? 0) + (real ? rollouts.transitions : 0);
    const refreshed = await refresh(parts, state, this.refreshed, { iteration, practised, tasks, seed }, this.safely);
    const realTransitions = practised + (refreshed?.transitions ?? 0);
    const due = this.examinationDue(iteration, realTransitions, fidelity);
    const evaluation = due ? await this.examine(iteration) : undefined;

    const metrics = iterationMetrics({
      iteration,
      rollouts,
      dream,
      learned,
      trainSeconds,
      fidelity,
      syntheticShare: generatedShare,
      redrawnGroups: tasks.length - asked.length,
      bufferSize: state.buffer.size,
      totals: {
        tasksGenerated: (before?.tasksGenerated ?? 0) + generated.accepted.length,
        realTransitions,
        dreamedTransitions: (before?.dreamedTransitions ?? 0) + (real ? 0 : rollouts.transitions),
        measurementSteps: state.measurementSteps,
        ...refreshMetrics(before, refreshed),
      },
      gpuBytes: parts.gpuBytes(),
      seconds: (performance.now() - start) / 1000,
    });
    if (variances) metrics.taskDifficulty = mean([...variances.values()]);
    if (evaluation) {
      metrics.evaluation = evaluation;
      state.evaluations.push(evaluation);
    }
    state.metrics.push(metrics);
    const shown = rolloutsForViewer(trajectories);
    state.rollouts.push({ iteration, trajectories: shown });
    state.iteration = iteration;
    await this.save(this.over() ? 'finished' : this.collapsed() ? 'collapsed' : 'running');

    // Only what is safely kept is shown as done.
    if (learned.skipped > 0) this.report.warn(`${learned.skipped} update(s) had no finite gradient: skipped.`);
    parts.emit({ type: 'iteration', metrics, rollouts: shown });
    for (const { message, advice } of newFlags(state.metrics)) this.report.warn(`${message} ${advice}`);
    if (evaluation) parts.emit({ type: 'evaluation', evaluation });
  }

  /** Every few iterations, at the end, and before a collapse ends the run: no run ends unexamined. */
  private examinationDue(iteration: number, realTransitions: number, fidelity: FidelityReport): boolean {
    const { config, metrics } = this.state;
    if (iteration % config.evalEvery === 0 || isOver(config, iteration, { realTransitions })) return true;
    // The end of the dream is what sim-to-real is compared with.
    if (config.rollouts === 'dream' && iteration === config.iterations - config.realIterations) return true;
    return hasCollapsed([...metrics, fidelity], config.minReplayPrecision);
  }

  private async examine(iteration: number): Promise<Evaluation> {
    const { parts } = this;
    const { config } = this.state;
    const dream = parts.domain.dreamedOnly ? dreamOf(parts, this.state) : undefined;
    const where = dream ? 'in the dream: this world has no other' : 'in the real world, on tasks never trained on';
    try {
      const { atRolloutTemperature, atLowTemperature, realSteps } = await evaluate({
        policy: parts.policy,
        domain: parts.domain,
        environment: dream,
        tasks: config.evalTasks,
        rolloutTemperature: config.temperature,
        maxSteps: config.maxSteps,
        seed: config.seed,
        parallel: parts.parallel,
        onTurn: (fraction) => this.safely('evaluating', fraction, where),
      });
      this.state.measurementSteps += realSteps;
      return { iteration, atRolloutTemperature, atLowTemperature, ...(dream ? { imagined: true } : {}) };
    } finally {
      dream?.dispose();
    }
  }

  private async save(phase: StoredPhase): Promise<void> {
    this.report.progress('saving', 0, '');
    const snapshot = await this.state.snapshot(this.parts.policy, phase);
    await this.parts.store?.save(snapshot.iteration, snapshot);
  }

  private over(): boolean {
    const { config, iteration, metrics } = this.state;
    return isOver(config, iteration, metrics.at(-1));
  }

  private collapsed(): boolean {
    return hasCollapsed(this.state.metrics, this.state.config.minReplayPrecision);
  }

  /** A safe point: may wait or throw, then reports. */
  private readonly safely: SafePoint = async (phase, fraction, detail) => {
    await this.control.gate();
    this.report.progress(phase, fraction, detail);
  };
}
