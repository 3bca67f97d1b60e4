/**
 * @file How far the dream can be believed: every dreamed episode's actions are replayed in the real world.
 *
 * The paper never audits its rewards; here each iteration does, and the run stops when the dream has begun to pay for
 * things that do not work (recipe.md: 21 true / 11 false successes at first, 13 / 52 ten iterations later). Replays
 * measure only: nothing of them reaches the learner, and their steps are not counted as training transitions.
 */
import type { Trajectory } from '../../data/trajectory';
import type { EnvironmentBatch, Task } from '../../envs/environment';
import type { Fact } from './household-facts';
import { wordAccuracy } from './words';

export interface FidelityReport {
  /** Dreamed successes that are real successes too, and those that are not. */
  replayTrue: number;
  replayFalse: number;
  /** replayTrue / all dreamed successes; null when there was none. */
  replayPrecision: number | null;
  /** Share of all dreamed episodes whose actions succeed in the real world. */
  replaySuccess: number | null;
  /** Mean |dreamed return - real return| over all dreamed episodes; null when there was none. */
  rewardError: number | null;
  /** Share of dreamed next observations that equal the real ones after the same actions. */
  nextStateAccuracy: number | null;
  /** The same word by word. */
  nextWordAccuracy: number | null;
  /** Share of dreamed facts (places, things, contents) that could be so in the task's room; null where no world tells. */
  admissibility: number | null;
  /** Share of dreamed facts that the real next observation holds too. */
  factTruth: number | null;
  /**
   * The two errors of the finite-horizon bound (bound.ts), measured while dream and world still told the same: wrong
   * rewards per episode, and wrong next states per step.
   */
  epsilonReward: number | null;
  epsilonState: number | null;
  /** Share of dreamed episodes that departed from the real one anywhere. */
  departed: number | null;
  /** Share of really valid steps that really succeed: what an honest dream's claims come to. */
  realSuccessesPerStep: number | null;
  /** Real steps taken to find out. */
  realSteps: number;
}

/** Reads the facts of an observation, where a world tells (`Domain.facts`). */
export type ReadFacts = (task: Task, observation: string) => readonly Fact[];

/**
 * Replays dreamed trajectories and writes `replay` into each. Lost and real ones are left alone. Without a real world
 * (null) everything is null.
 */
export async function measureFidelity(
  trajectories: readonly Trajectory[],
  realWorld: EnvironmentBatch | null,
  factsOf?: ReadFacts,
): Promise<FidelityReport> {
  const dreamed = realWorld ? trajectories.filter((t) => t.source === 'imagined' && !t.lost) : [];
  const audits = dreamed.map((trajectory) => new Audit(trajectory, factsOf));
  // A server has so many sessions and no more: the rest waits.
  const together = realWorld?.capacity ?? audits.length;
  for (let from = 0; realWorld && from < audits.length; from += together)
    await replay(audits.slice(from, from + together), realWorld);
  // What the connection cut short says nothing of the dream.
  return reportOf(audits.filter((audit) => !audit.lost));
}

async function replay(audits: readonly Audit[], realWorld: EnvironmentBatch): Promise<void> {
  await realWorld.reset(
    audits.map(({ trajectory }) => trajectory.task),
    0,
  );
  const longest = Math.max(...audits.map(({ trajectory }) => trajectory.turns.length));
  for (let k = 0; k < longest; k++) {
    const results = await realWorld.step(audits.map((audit) => audit.action(k)));
    results.forEach((result, i) => {
      if (result?.lost) audits[i].lose();
      else if (result) audits[i].compare(k, result);
      else audits[i].skip(k);
    });
  }
  for (const audit of audits) if (!audit.lost) audit.conclude();
}

/** One dreamed episode beside the real one of the same actions. */
class Audit {
  realReturn = 0;
  /** The real world was lost on the way. */
  lost = false;
  compared = 0;
  equal = 0;
  words = { right: 0, of: 0 };
  facts = { claimed: 0, admissible: 0, true: 0 };
  /** Steps asked while everything before them was true, and what went wrong in the first that was not. */
  trueSteps = 0;
  wrongState = false;
  wrongReward = false;
  realValid = 0;
  private firstMismatch = -1;
  private realDone = false;
  private trueText: { observation: string; reward: number } | null = null;

  constructor(
    readonly trajectory: Trajectory,
    private readonly factsOf: ReadFacts | undefined,
  ) {}

  /** A malformed turn was never sent to the dream, so it is not sent to the world either. */
  action(k: number): string | null {
    return this.realDone ? null : this.trajectory.turns[k]?.action || null;
  }

  compare(k: number, { observation, reward, valid, done }: { observation: string } & Judged): void {
    const turn = this.trajectory.turns[k];
    const same = observation === turn.observation;
    if (this.firstMismatch < 0) this.trueSteps++;
    if ((!same || reward !== turn.reward) && this.firstMismatch < 0) {
      this.firstMismatch = k;
      this.wrongState = !same;
      this.wrongReward = same;
      this.trueText = { observation, reward };
    }
    this.compared++;
    if (same) this.equal++;
    if (valid) this.realValid++;
    const { right, of } = wordAccuracy(turn.observation, observation);
    this.words.right += right;
    this.words.of += of;
    this.compareFacts(turn.observation, observation);
    this.realReturn += reward;
    this.realDone = done;
  }

  /** The real episode is over but the dream went on: a success that the dream missed. */
  skip(k: number): void {
    if (this.realDone && k < this.trajectory.turns.length && this.firstMismatch < 0) this.firstMismatch = k;
  }

  lose(): void {
    this.lost = true;
    this.realDone = true;
  }

  conclude(): void {
    this.trajectory.replay = {
      success: this.realReturn > 0,
      firstMismatch: this.firstMismatch,
      ...(this.trueText ?? {}),
    };
  }

  get departed(): boolean {
    return this.firstMismatch >= 0;
  }

  private compareFacts(dreamed: string, real: string): void {
    if (!this.factsOf) return;
    const { task } = this.trajectory;
    const truths = new Set(this.factsOf(task, real).map(({ text }) => text));
    for (const { text, admissible } of this.factsOf(task, dreamed)) {
      this.facts.claimed++;
      if (admissible) this.facts.admissible++;
      if (truths.has(text)) this.facts.true++;
    }
  }
}

interface Judged {
  reward: number;
  valid: boolean;
  done: boolean;
}

function reportOf(audits: readonly Audit[]): FidelityReport {
  const sum = (pick: (audit: Audit) => number) => audits.reduce((total, audit) => total + pick(audit), 0);
  const share = (part: number, whole: number) => (whole === 0 ? null : part / whole);
  const won = audits.filter(({ trajectory }) => trajectory.success);
  const replayTrue = won.filter(({ realReturn }) => realReturn > 0).length;
  const compared = sum((a) => a.compared);
  const claimed = sum((a) => a.facts.claimed);
  const successes = sum((a) => (a.realReturn > 0 ? 1 : 0));
  return {
    replayTrue,
    replayFalse: won.length - replayTrue,
    replayPrecision: share(replayTrue, won.length),
    replaySuccess: share(successes, audits.length),
    rewardError: share(
      sum((a) => Math.abs(a.trajectory.return - a.realReturn)),
      audits.length,
    ),
    nextStateAccuracy: share(
      sum((a) => a.equal),
      compared,
    ),
    nextWordAccuracy: share(
      sum((a) => a.words.right),
      sum((a) => a.words.of),
    ),
    admissibility: share(
      sum((a) => a.facts.admissible),
      claimed,
    ),
    factTruth: share(
      sum((a) => a.facts.true),
      claimed,
    ),
    epsilonReward: share(
      sum((a) => (a.wrongReward ? 1 : 0)),
      audits.length,
    ),
    epsilonState: share(
      sum((a) => (a.wrongState ? 1 : 0)),
      sum((a) => a.trueSteps),
    ),
    departed: share(
      sum((a) => (a.departed ? 1 : 0)),
      audits.length,
    ),
    realSuccessesPerStep: share(
      successes,
      sum((a) => a.realValid),
    ),
    realSteps: compared,
  };
}
