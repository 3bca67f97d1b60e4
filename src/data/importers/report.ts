/** @file What an import kept, what it dropped and why; bounded, whatever the file is. */
import type { ImportedEpisode } from './episode';
import { importedData } from './episode';
import type { ImportFormat } from './formats';
import { maxListedDrops } from './limits';
import type { Dropped, WorldName } from './pieces';
import { stepsOf } from './transitions';

export interface ImportReport {
  format: ImportFormat | 'several';
  /** Of a zip with several kinds of files: all of them. */
  formats: ImportFormat[];
  /** Bytes read, as stored. */
  bytes: number;
  episodes: number;
  /** Steps with a known state before, an answer after, and a reward. */
  transitions: number;
  kept: {
    turns: number;
    /** Turns whose agent said what it thought. */
    thoughts: number;
    successes: number;
    failures: number;
    unknownOutcomes: number;
    worlds: Partial<Record<WorldName, number>>;
  };
  /** Turns that are kept in their episode but are no transition, by reason. */
  withoutTransition: Record<string, number>;
  /** In the file's order. After the first few thousand, one entry for each reason: `where: "312 more"`. */
  dropped: Dropped[];
  droppedTotal: number;
}

export class ReportKeeper {
  readonly report: Omit<ImportReport, 'format' | 'formats' | 'bytes'> = {
    episodes: 0,
    transitions: 0,
    kept: { turns: 0, thoughts: 0, successes: 0, failures: 0, unknownOutcomes: 0, worlds: {} },
    withoutTransition: {},
    dropped: [],
    droppedTotal: 0,
  };
  private readonly unlisted = new Map<string, number>();

  drop(dropped: Dropped): void {
    const { report, unlisted } = this;
    report.droppedTotal++;
    if (report.dropped.length < maxListedDrops) {
      report.dropped.push({ where: dropped.where.slice(0, 400), why: dropped.why.slice(0, 200) });
      return;
    }
    const why = unlisted.has(dropped.why) || unlisted.size < 100 ? dropped.why : 'other reasons';
    unlisted.set(why, (unlisted.get(why) ?? 0) + 1);
  }

  keep({ trajectory }: ImportedEpisode): void {
    const { report } = this;
    const { kept } = report;
    const data = importedData(trajectory);
    report.episodes++;
    kept.turns += trajectory.turns.length;
    kept.thoughts += trajectory.turns.filter(({ thought }) => thought !== '').length;
    if (data?.outcome === 'unknown') kept.unknownOutcomes++;
    else if (trajectory.success) kept.successes++;
    else kept.failures++;
    const world = data?.world ?? 'text';
    kept.worlds[world] = (kept.worlds[world] ?? 0) + 1;
    for (const step of stepsOf(trajectory)) {
      const why = typeof step === 'string' ? step : step.reward === null ? 'its reward is not known' : null;
      if (why === null) report.transitions++;
      else report.withoutTransition[why] = (report.withoutTransition[why] ?? 0) + 1;
    }
  }

  finish(formats: readonly ImportFormat[], bytes: number): ImportReport {
    const rest = [...this.unlisted].map(([why, count]): Dropped => ({ where: `${count} more`, why }));
    return {
      format: formats.length === 1 ? formats[0] : 'several',
      formats: [...formats],
      bytes,
      ...this.report,
      dropped: [...this.report.dropped, ...rest],
    };
  }
}
