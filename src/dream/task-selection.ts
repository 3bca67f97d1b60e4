/**
 * @file Of a parent's variants, the most challenging one that is still feasible (DreamGym, appendix C).
 *
 * A model that speaks is asked (`Dialect.generator.selection`). One that does not is replaced by a rule on the pool's own
 * record: a variant will go as tasks with the same family and the same words (its things and places) went so far, and the
 * lowest success above zero is the hardest that somebody like this agent has managed at all.
 */
import type { Task } from '../envs/environment';
import type { LanguageModel } from '../nn/language-model';
import type { Domain } from './domain';
import type { StoredTask, Transition } from './run-store';

/** Visited tasks that a prediction rests on. */
const neighbours = 5;

/** Success that the pool's record promises each of `tasks`; null where nothing like it was ever visited. */
export function predictedSuccess(tasks: readonly Task[], pool: readonly StoredTask[]): (number | null)[] {
  const known = pool.map((entry) => ({ entry, features: featuresOf(entry.task) }));
  const frequency = new Map<string, number>();
  for (const { features } of known) for (const f of features) frequency.set(f, (frequency.get(f) ?? 0) + 1);
  // Inverse document frequency: `put` stands in every task and says nothing, `lettuce` says a lot.
  const weight = (feature: string) => Math.log((1 + pool.length) / (frequency.get(feature) ?? 0.5));
  const visited = known.filter(({ entry }) => entry.lastSuccess !== null);
  return tasks.map((task) => {
    const own = featuresOf(task);
    const like = visited
      .map(({ entry, features }) => ({ success: entry.lastSuccess!, alike: similarity(own, features, weight) }))
      .filter(({ alike }) => alike > 0)
      .sort((a, b) => b.alike - a.alike)
      .slice(0, neighbours);
    // Squared: the nearest decides more than four that share one word.
    const total = like.reduce((sum, { alike }) => sum + alike ** 2, 0);
    return total > 0 ? like.reduce((sum, { alike, success }) => sum + alike ** 2 * success, 0) / total : null;
  });
}

/**
 * Index of the variant with the lowest predicted success above zero (`unknown` where there is no prediction); -1 when none
 * is expected to succeed at all. The first of equals.
 */
export function mostChallenging(predictions: readonly (number | null)[], unknown: number): number {
  let best = -1;
  let lowest = Number.POSITIVE_INFINITY;
  for (const [i, prediction] of predictions.entries()) {
    const success = prediction ?? unknown;
    if (success > 0 && success < lowest) {
      best = i;
      lowest = success;
    }
  }
  return best;
}

function featuresOf({ family, instruction }: Task): Set<string> {
  const words = instruction
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
  return new Set([`family ${family}`, ...words]);
}

/** Weighted share of common features (Jaccard): 0 to 1. */
function similarity(a: ReadonlySet<string>, b: ReadonlySet<string>, weight: (feature: string) => number): number {
  let common = 0;
  let all = 0;
  for (const feature of new Set([...a, ...b])) {
    all += weight(feature);
    if (a.has(feature) && b.has(feature)) common += weight(feature);
  }
  return all > 0 ? common / all : 0;
}

export interface Family {
  parent: StoredTask;
  variants: readonly Task[];
}

export interface Chosen {
  /** Of the variants; -1: none is worth keeping. */
  index: number;
  by: 'model' | 'rule';
  reasoning: string;
}

export interface SelectionRequest {
  model: LanguageModel;
  domain: Domain;
  families: readonly Family[];
  pool: readonly StoredTask[];
  /** What is known of a family's room. */
  seenIn(room: string): readonly Transition[];
  seed: number;
  /** Questions at once; all by default. */
  parallel?: number;
}

/** One choice a family, and what it cost. An answer that cannot be read is replaced by the rule's. */
export async function selectVariants(
  request: SelectionRequest,
): Promise<{ choices: Chosen[]; unreadable: number; generatedTokens: number }> {
  const { families, pool } = request;
  const said = await askModel(request);
  let unreadable = 0;
  const choices = families.map(({ parent, variants }, i): Chosen => {
    const answer = said.answers.get(i);
    if (answer) return { ...answer, by: 'model' };
    if (answer === null) unreadable++;
    const predictions = predictedSuccess(variants, pool);
    const index = mostChallenging(predictions, parent.lastSuccess ?? 0.5);
    const promise = predictions[index];
    const reasoning =
      index < 0
        ? 'Nothing like these variants has ever succeeded.'
        : typeof promise === 'number'
          ? `Tasks like it succeed in ${Math.round(100 * promise)} % of the tries, the lowest share above zero.`
          : 'Nothing like it was tried yet; it is judged by its parent.';
    return { index, by: 'rule', reasoning };
  });
  return { choices, unreadable, generatedTokens: said.generatedTokens };
}

/** Answers by family; null for one that could not be read, none where nothing was to be asked. */
async function askModel({ model, domain, families, seenIn, seed, parallel }: SelectionRequest): Promise<{
  answers: Map<number, { index: number; reasoning: string } | null>;
  generatedTokens: number;
}> {
  const answers = new Map<number, { index: number; reasoning: string } | null>();
  const { stopTokens, selection } = domain.dialect.generator;
  // A single variant needs no choice.
  const asking = selection ? families.map((_, i) => i).filter((i) => families[i].variants.length > 1) : [];
  let generatedTokens = 0;
  const atOnce = parallel ?? asking.length;
  for (let first = 0; first < asking.length; first += atOnce) {
    const batch = asking.slice(first, first + atOnce);
    const sessions = model.sessions(batch.length);
    try {
      const streams: number[] = [];
      batch.forEach((i, stream) => {
        const { parent, variants } = families[i];
        const fits = (tokens: number[]) => tokens.length + selection!.maxNewTokens <= sessions.contextLength;
        const opening = [seenIn(parent.room), []]
          .map((memories) => selection!.opening(parent.task, variants, memories))
          .find(fits);
        if (!opening) return;
        sessions.append(stream, opening);
        streams.push(stream);
      });
      if (streams.length === 0) continue;
      // Greedy: a choice is a judgement, not an idea.
      const options = { temperature: 0, seed, stopTokens, maxNewTokens: selection!.maxNewTokens };
      const generated = await sessions.generate(streams, options);
      streams.forEach((stream, j) => {
        const family = batch[stream];
        generatedTokens += generated[j].tokens.length;
        answers.set(family, selection!.parse(generated[j].tokens, families[family].variants.length));
      });
    } finally {
      sessions.dispose();
    }
  }
  return { answers, generatedTokens };
}
