/**
 * @file Groups of tasks that are alike, for methods that try each task once (DreamGym, below Eq. 7).
 *
 * One rollout has no variance, so with PPO's groups of one no task would ever be worth varying. Tasks whose instructions
 * lie near each other in the embedding of the frozen model form a group instead, and the variance of the group's rewards is
 * the value of each of its tasks. k-means (k-means++ seeding: Arthur and Vassilvitskii 2007) on centred unit vectors: without
 * centring all hidden states point the same way and the clusters follow noise.
 */
import type { Task } from '../envs/environment';
import type { LanguageModel } from '../nn/language-model';
import type { Domain } from './domain';
import { Draws } from './random';

/** Tasks of a cluster on average: enough for a variance, few enough to be alike. */
const clusterSize = 4;
const mostRounds = 50;

/** The cluster of each task: [tasks]. The same for the same model, tasks and seed. */
export async function clusterTasks(
  model: Pick<LanguageModel, 'embed' | 'contextLength'>,
  domain: Pick<Domain, 'dialect'>,
  tasks: readonly Task[],
  seed: number,
): Promise<number[]> {
  const { generator } = domain.dialect;
  const sequences = tasks.map((task) => generator.instruction?.(task) ?? generator.opening([task], []));
  const vectors = await model.embed(sequences.map((tokens) => tokens.slice(-model.contextLength)));
  return kMeans(centredUnits(vectors), Math.round(tasks.length / clusterSize), new Draws(seed));
}

/**
 * The variance that each group of rollouts (one task, usually one rollout) has as a part of its cluster.
 * @param clusters the cluster of group i
 * @param rates success rate of the groups that have one
 */
export function clusterVariances(clusters: readonly number[], rates: ReadonlyMap<number, number>): Map<number, number> {
  const members = new Map<number, number[]>();
  for (const [group, rate] of rates) {
    const known = members.get(clusters[group]);
    if (known) known.push(rate);
    else members.set(clusters[group], [rate]);
  }
  const variance = (p: number) => p * (1 - p);
  const mean = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length;
  return new Map([...rates.keys()].map((group) => [group, variance(mean(members.get(clusters[group])!))]));
}

/** Differences to the common mean, scaled to length 1; what does not differ stays zero. */
export function centredUnits(vectors: readonly Float32Array[]): Float64Array[] {
  const width = vectors[0]?.length ?? 0;
  const mean = new Float64Array(width);
  for (const vector of vectors) for (let d = 0; d < width; d++) mean[d] += vector[d] / vectors.length;
  return vectors.map((vector) => {
    const centred = Float64Array.from(vector, (x, d) => x - mean[d]);
    const norm = Math.sqrt(centred.reduce((sum, x) => sum + x * x, 0));
    return norm > 1e-9 ? centred.map((x) => x / norm) : centred.fill(0);
  });
}

/** Cluster numbers 0.. of the points. At most `count` clusters, fewer where points coincide; ties go to the lower number. */
export function kMeans(points: readonly Float64Array[], count: number, draws: Draws): number[] {
  if (points.length === 0) return [];
  const centres = seeds(points, Math.max(1, Math.min(count, points.length)), draws);
  let assigned = points.map((point) => nearest(point, centres).index);
  for (let round = 0; round < mostRounds; round++) {
    centres.forEach((centre, c) => {
      const own = points.filter((_, i) => assigned[i] === c);
      // A cluster that lost all its points keeps its place.
      if (own.length > 0)
        for (let d = 0; d < centre.length; d++) centre[d] = own.reduce((s, p) => s + p[d], 0) / own.length;
    });
    const next = points.map((point) => nearest(point, centres).index);
    if (next.every((c, i) => c === assigned[i])) break;
    assigned = next;
  }
  return assigned;
}

/** k-means++: each further centre is a point, drawn with probability proportional to its squared distance from the others. */
function seeds(points: readonly Float64Array[], count: number, draws: Draws): Float64Array[] {
  const centres = [points[draws.below(points.length)].slice()];
  while (centres.length < count) {
    const distances = points.map((point) => nearest(point, centres).distance);
    const total = distances.reduce((a, b) => a + b, 0);
    if (total <= 0) break;
    let left = draws.next() * total;
    // Rounding may leave a rest behind the last one.
    let chosen = distances.findLastIndex((distance) => distance > 0);
    for (const [i, distance] of distances.entries()) {
      left -= distance;
      if (distance > 0 && left < 0) {
        chosen = i;
        break;
      }
    }
    centres.push(points[chosen].slice());
  }
  return centres;
}

function nearest(point: Float64Array, centres: readonly Float64Array[]): { index: number; distance: number } {
  let best = { index: 0, distance: Number.POSITIVE_INFINITY };
  for (const [index, centre] of centres.entries()) {
    let distance = 0;
    for (let d = 0; d < point.length; d++) distance += (point[d] - centre[d]) ** 2;
    if (distance < best.distance) best = { index, distance };
  }
  return best;
}
