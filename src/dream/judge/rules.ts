/**
 * @file The four scores by rule, where the world knows the truth: the same axes, with nothing left to opinion.
 *
 * The dreamed episode's actions are played in the real world; each dreamed step then stands beside the true one. The
 * rubric's words become comparisons: of the facts told, of the text with its own history, of success and failure.
 */
import type { Trajectory, Turn } from '../../data/trajectory';
import type { EnvironmentBatch, StepResult } from '../../envs/environment';
import type { Domain } from '../domain';
import { wordAccuracy } from '../fidelity';
import type { Scores } from './rubric';
import type { JudgedTransition } from './sample';

export type KnowingDomain = Pick<Domain, 'realWorld' | 'contradicts' | 'facts' | 'failureObservation'>;

type Rollouts = readonly { iteration: number; trajectories: readonly Trajectory[] }[];

/** A verdict for each transition; null where the world cannot be entered as the episode was (another beginning). */
export async function judgeByRules(
  domain: KnowingDomain,
  rollouts: Rollouts,
  transitions: readonly JudgedTransition[],
): Promise<(Scores | null)[]> {
  const truths = new Map<string, (StepResult | null)[] | null>();
  for (const { iteration, trajectories } of rollouts) {
    const wanted = trajectories
      .map((trajectory, episode) => ({ trajectory, key: `${iteration} ${episode}` }))
      .filter(({ key }) => transitions.some((one) => `${one.iteration} ${one.episode}` === key));
    if (wanted.length === 0) continue;
    const played = await play(
      wanted.map(({ trajectory }) => trajectory),
      domain.realWorld(),
    );
    wanted.forEach(({ key }, i) => {
      truths.set(key, played[i]);
    });
  }
  return transitions.map((transition) => {
    const truth = truths.get(`${transition.iteration} ${transition.episode}`)?.[transition.turn];
    const trajectory = rollouts.find(({ iteration }) => iteration === transition.iteration)!.trajectories[
      transition.episode
    ];
    return truth ? scoreStep(domain, trajectory, transition.turn, truth) : null;
  });
}

/** The real answers to each episode's actions; null for the whole episode when it begins otherwise in the real world. */
async function play(
  trajectories: readonly Trajectory[],
  world: EnvironmentBatch,
): Promise<((StepResult | null)[] | null)[]> {
  const firsts = await world.reset(
    trajectories.map(({ task }) => task),
    0,
  );
  const answers = trajectories.map((): (StepResult | null)[] => []);
  const over = trajectories.map(() => false);
  for (let k = 0; k < Math.max(...trajectories.map(({ turns }) => turns.length)); k++) {
    const results = await world.step(trajectories.map(({ turns }, i) => (over[i] ? null : turns[k]?.action || null)));
    results.forEach((result, i) => {
      answers[i].push(result);
      if (result?.done) over[i] = true;
    });
  }
  return answers.map((answer, i) => (firsts[i] === trajectories[i].firstObservation ? answer : null));
}

function scoreStep(domain: KnowingDomain, trajectory: Trajectory, k: number, truth: StepResult): Scores {
  const { turns, firstObservation, task } = trajectory;
  const turn = turns[k];
  const before = turns.slice(0, k).filter(({ action }) => action !== '');
  const state = turns[k - 1]?.observation ?? firstObservation;
  const contradicts = domain.contradicts(firstObservation, [...before, turn]);
  const facts = (text: string) => new Set(domain.facts?.(task, text).map((fact) => fact.text) ?? text.split(' '));
  const refused = (observation: string) => observation === domain.failureObservation;
  return {
    causal_consistency: consistency(turn, truth, contradicts, refused),
    diversity: diversity(turn.observation, state, contradicts, refused(turn.observation), facts),
    informativeness: informativeness(turn.observation, truth.observation, facts),
    hallucination: honesty(turn, truth, refused),
  };
}

/** 2: right, or nothing in its own history speaks against it; 1: the outcome is right, a detail is not; 0: neither. */
function consistency(turn: Turn, truth: StepResult, contradicts: boolean, refused: (text: string) => boolean): number {
  if (turn.observation === truth.observation || !contradicts) return 2;
  return refused(turn.observation) === refused(truth.observation) ? 1 : 0;
}

/** 2: shows something that the state before did not; 1: other words, nothing new; 0: no change, a failure, a jump. */
function diversity(
  next: string,
  state: string,
  contradicts: boolean,
  failed: boolean,
  facts: (text: string) => ReadonlySet<string>,
): number {
  if (failed || contradicts || next === state) return 0;
  const known = facts(state);
  return [...facts(next)].some((fact) => !known.has(fact)) ? 2 : 1;
}

/** Facts told against facts there are: 2 for all and only those, 0 for none of them. */
function informativeness(dreamed: string, real: string, facts: (text: string) => ReadonlySet<string>): number {
  if (dreamed === real) return 2;
  const there = facts(real);
  if (there.size === 0) return wordAccuracy(dreamed, real).right > 0 ? 1 : 0;
  return [...facts(dreamed)].some((fact) => there.has(fact)) ? 1 : 0;
}

/** 2: success and failure both as in the world; 0: an invented success, or an impossible action that works; else 1. */
function honesty(turn: Turn, truth: StepResult, refused: (text: string) => boolean): number {
  const falseSuccess = turn.reward > 0 && truth.reward === 0;
  const impossibleWorks = refused(truth.observation) && !refused(turn.observation);
  if (falseSuccess || impossibleWorks) return 0;
  return turn.reward === truth.reward && refused(turn.observation) === refused(truth.observation) ? 2 : 1;
}
