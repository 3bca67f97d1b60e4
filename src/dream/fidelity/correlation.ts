/**
 * @file Does the dream rank checkpoints as the real world does? Spearman's rank correlation.
 *
 * A dream may be too generous throughout and still be of use, as long as what looks better in it is better. It is the
 * question "can I choose a checkpoint by its dreamed success?", which DreamGym's paper leaves open (dreamgym.md, 3).
 */
import { mean } from '../../data/statistics';

/** Pairs below which a correlation says nothing. */
export const fewestPairs = 3;

/** -1 ... 1; equal values share their mean rank. null for fewer than three pairs, or where one side never varies. */
export function rankCorrelation(pairs: readonly (readonly [number, number])[]): number | null {
  if (pairs.length < fewestPairs) return null;
  const a = ranks(pairs.map(([x]) => x));
  const b = ranks(pairs.map(([, y]) => y));
  const [meanA, meanB] = [mean(a), mean(b)];
  let covariance = 0;
  let varianceA = 0;
  let varianceB = 0;
  a.forEach((rank, i) => {
    covariance += (rank - meanA) * (b[i] - meanB);
    varianceA += (rank - meanA) ** 2;
    varianceB += (b[i] - meanB) ** 2;
  });
  return varianceA === 0 || varianceB === 0 ? null : covariance / Math.sqrt(varianceA * varianceB);
}

/** Ranks from 1; ties get their mean. */
function ranks(values: readonly number[]): number[] {
  const order = values.map((_, i) => i).sort((i, j) => values[i] - values[j]);
  const result = new Array<number>(values.length);
  for (let from = 0; from < order.length; ) {
    let to = from;
    while (to + 1 < order.length && values[order[to + 1]] === values[order[from]]) to++;
    for (let k = from; k <= to; k++) result[order[k]] = (from + to) / 2 + 1;
    from = to + 1;
  }
  return result;
}
