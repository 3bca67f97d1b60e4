/** @file Discounted returns of one sequence in double precision; masked steps carry the running return; mask 2 = no discount. */

export function discountedReturns(rewards: readonly number[], mask: readonly number[], gamma: number): number[] {
  const returns = new Array<number>(rewards.length);
  let running = 0;
  for (let t = rewards.length - 1; t >= 0; t--) {
    if (mask[t]) running = rewards[t] + (mask[t] === 2 ? 1 : gamma) * running;
    returns[t] = running;
  }
  return returns;
}
