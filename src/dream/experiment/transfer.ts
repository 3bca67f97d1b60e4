/**
 * @file How far does what was learned on some families of tasks carry to the others (DreamGym, Fig. 3)?
 *
 * Every row is examined on all families, so one grid gives the whole matrix: trained on (rows) x tested on (columns). A row's
 * transfer is its success on the families it never trained on, held against the baseline on these very tasks.
 */
import { mean } from '../../data/statistics';
import type { Task } from '../../envs/environment';
import type { ExperimentDefinition } from './definition';
import { pairedDifference, type RunResult } from './results';

export interface Transfer {
  name: string;
  /** null: all families. */
  trainedOn: readonly string[] | null;
  /** Success on every family, mean over seeds. */
  families: Record<string, number>;
  /** Success on the families trained on and on the others; null where there are none. */
  seen: number | null;
  unseen: number | null;
  /** On the others against the baseline's on the same tasks, with its 95 % interval over tasks. */
  difference: { mean: number; low: number; high: number; tasks: number } | null;
}

/** Outcomes (`1`, `0`, in the tasks' order) by the tasks' family. */
export function outcomesByFamily(tasks: readonly Pick<Task, 'family'>[], outcomes: string): Record<string, string> {
  const found: Record<string, string> = {};
  tasks.forEach(({ family }, i) => {
    found[family] = (found[family] ?? '') + (outcomes[i] ?? '');
  });
  return found;
}

/** One entry a row with results; empty where no row is bound to families. */
export function transferOf(
  { rows, baseline }: Pick<ExperimentDefinition, 'rows' | 'baseline'>,
  results: readonly RunResult[],
): Transfer[] {
  const bound = rows.some(({ stages }) => stages.some((stage) => stage.kind === 'rl' && stage.families));
  if (!bound) return [];
  const of = (name?: string) => results.filter((r) => r.row === name && r.byFamily).sort((a, b) => a.seed - b.seed);
  return rows.flatMap(({ name, stages }): Transfer[] => {
    const seeds = of(name);
    if (seeds.length === 0) return [];
    const trained = stages.flatMap((stage) => (stage.kind === 'rl' ? [stage.families ?? null] : []));
    // Nothing trained: every family is one of the others.
    const trainedOn =
      trained.length === 0 ? [] : trained.includes(null) ? null : [...new Set(trained.flat() as string[])];
    const all = Object.keys(seeds[0].byFamily!);
    const isSeen = (family: string) => trainedOn === null || trainedOn.includes(family);
    const others = all.filter((family) => !isSeen(family));
    const rate = (families: readonly string[]) =>
      families.length === 0 ? null : mean(seeds.map((run) => rateOf(joined(run, families))));
    const twins = of(baseline).filter((run) => seeds.some(({ seed }) => seed === run.seed));
    const shared = seeds.filter((run) => twins.some(({ seed }) => seed === run.seed));
    return [
      {
        name,
        trainedOn,
        families: Object.fromEntries(all.map((family) => [family, rate([family])!])),
        seen: rate(all.filter(isSeen)),
        unseen: rate(others),
        difference:
          name === baseline || others.length === 0
            ? null
            : pairedDifference(
                shared.map((run) => joined(run, others)),
                twins.map((run) => joined(run, others)),
              ),
      },
    ];
  });
}

const joined = ({ byFamily }: RunResult, families: readonly string[]): string =>
  families.map((family) => byFamily?.[family] ?? '').join('');

const rateOf = (outcomes: string): number =>
  outcomes.length === 0 ? 0 : [...outcomes].filter((o) => o === '1').length / outcomes.length;
