/** @file What a world's own judge has to say, line by line: the shop's score and the web's evaluators. */
import type { ShopScore, ShopWorld } from '../../envs/shop';
import type { Evaluation, WebWorld } from '../../envs/web';
import type { PlayableEnvironment, World } from '../../envs/world';

export interface Judgement {
  title: string;
  lines: { name: string; value: string; good: boolean | null }[];
}

/** null while there is nothing to judge. */
export function judgementOf(world: World, environment: PlayableEnvironment): Judgement | null {
  // The registry's names say which world it is; its class would have to be fetched to ask.
  if (world.name === 'shop') return ofPurchase((environment as unknown as ShopWorld).lastScore);
  if (world.name === 'web') return ofAnswer((environment as unknown as WebWorld).evaluation);
  return null;
}

const number = (x: number): string => x.toFixed(2);

function ofPurchase(score: ShopScore | null): Judgement | null {
  if (score === null) return null;
  const { total, rType, rAtt, rOption, rPrice, attributeMatches, optionMatches } = score;
  return {
    title: `Score of the purchase: ${number(total)} of 1`,
    lines: [
      { name: 'Kind of product', value: number(rType), good: rType === 1 },
      { name: 'Wanted qualities', value: `${number(rAtt)} (${attributeMatches} found)`, good: rAtt === 1 },
      {
        name: 'Wanted options',
        value: rOption === null ? 'none wanted' : `${number(rOption)} (${optionMatches} chosen)`,
        good: rOption === null ? null : rOption === 1,
      },
      { name: 'Price within the limit', value: rPrice ? 'yes' : 'no', good: rPrice },
    ],
  };
}

function ofAnswer(evaluation: Evaluation | null): Judgement | null {
  if (evaluation === null) return null;
  const { score, verdict, components } = evaluation;
  return {
    title: score === null ? `Not decided: ${verdict.replaceAll('-', ' ')}` : `Score: ${score} of 1`,
    lines: components.map((component) => ({
      name: `${component.evaluator.replaceAll('_', ' ')}: ${component.rule.replaceAll('_', ' ')} “${component.expected}”`,
      value: `found “${component.found}”${component.note ? `, ${component.note}` : ''}`,
      good: component.verdict === 'pass' ? true : component.verdict === 'fail' ? false : null,
    })),
  };
}
