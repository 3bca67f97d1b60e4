/**
 * @file The reasoning the models are taught, computed by program from the text so far.
 *
 * Experience model, before it answers an action: where the agent is, what it holds, the one fact that decides the action,
 * the verdict, and where the goal may now be reached a look at it piece by piece:
 *
 *   at sidetable 1 hold nothing cup 1 in sidetable 1 valid
 *   at cabinet 2 hold cup 1 fits valid object cup cup yes place cabinet cabinet yes clean no
 *   at room hold nothing absent invalid
 *
 * Policy, before it acts: what it holds and what comes next (an object it knows of, a treatment still missing, a place):
 *
 *   hold nothing object cup 1
 *   hold cup 1 clean no place sinkbasin
 *
 * `at` and `hold` are running state: each thought can copy them from the last one and correct them by the last answer.
 */
import { type Goal, treatmentOf } from '../../envs/household/goals';
import { STATIONS } from '../../envs/household/vocabulary';
import { type Belief, GOAL_WORDS, type Judgement, typeOf } from './belief';

export interface ExperienceThought {
  /** `at sidetable 1 hold nothing` */
  state: string;
  /** `cup 1 in sidetable 1 valid`: the deciding fact and the verdict. */
  verdict: string;
  /** `object cup cup yes ...`, or empty where the goal cannot be reached by this action. */
  check: string;
  judgement: Judgement;
  /** True when every piece of the goal is there. */
  reached: boolean;
}

/** The experience model's thought about `action`, before the answer is known. */
export function experienceThought(belief: Belief, goal: Goal, action: string): ExperienceThought {
  const judgement = belief.judge(action);
  const check = judgement.valid ? belief.check(goal, judgement.command!) : null;
  return {
    state: `at ${belief.at ?? 'room'} hold ${belief.hold ?? 'nothing'}`,
    verdict: `${judgement.clause}${judgement.clause === '' ? '' : ' '}${judgement.valid ? 'valid' : 'invalid'}`,
    check: check?.text ?? '',
    judgement,
    reached: check?.reached ?? false,
  };
}

/** The whole thought as text. */
export function thoughtText({ state, verdict, check }: ExperienceThought): string {
  return check === '' ? `${state} ${verdict}` : `${state} ${verdict} ${check}`;
}

/**
 * The policy's thought before it acts.
 * @param target the object the demonstrator pursues (`Demonstrator.target`), null while it has seen none.
 */
export function policyThought(belief: Belief, goal: Goal, target: string | null): string {
  const { hold } = belief;
  if (hold === null) return `hold nothing object ${target ?? 'nothing'}`;
  // Something else is in the hand: put it away first.
  if (typeOf(hold) !== goal.object) return `hold ${hold} object no`;
  if (goal.family === 'look_at_obj_in_light') return `hold ${hold} light ${placeOfLamp(belief, goal) ?? 'nothing'}`;
  const treatment = treatmentOf(goal.family);
  if (treatment !== null) {
    const done = belief.isTreated(hold, treatment);
    const next = done ? goal.receptacle : STATIONS[treatment];
    return `hold ${hold} ${GOAL_WORDS[treatment]} ${done ? 'yes' : 'no'} place ${next}`;
  }
  const pair = goal.family === 'pick_two_obj_and_place' ? placeOfPair(belief, goal) : null;
  return `hold ${hold} place ${pair ?? goal.receptacle}`;
}

function placeOfLamp(belief: Belief, goal: Goal): string | null {
  for (const [object, place] of belief.places) if (typeOf(object) === goal.toggle) return place;
  return null;
}

/** The place of the goal's type that already holds one of the pair. */
function placeOfPair(belief: Belief, goal: Goal): string | null {
  let best: string | null = null;
  let most = 0;
  for (const receptacle of belief.receptacles) {
    if (typeOf(receptacle) !== goal.receptacle) continue;
    const count = belief.contentsOf(receptacle).filter((object) => typeOf(object) === goal.object).length;
    if (count > most) [best, most] = [receptacle, count];
  }
  return best;
}

/** What a sampled thought of the experience model claims: its verdict and whether its goal check says yes throughout. */
export function readExperienceThought(text: string): { valid: boolean | null; checked: boolean; reached: boolean } {
  const words = text.split(' ');
  const verdicts = words.filter((word) => word === 'valid' || word === 'invalid');
  const valid = verdicts.length === 1 ? verdicts[0] === 'valid' : null;
  const check = valid === true ? words.slice(words.indexOf('valid') + 1) : [];
  return { valid, checked: check.length > 0, reached: check.includes('yes') && !check.includes('no') };
}
