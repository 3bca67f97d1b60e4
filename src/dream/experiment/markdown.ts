/** @file What an experiment found as a Markdown table, to paste into a report, an issue or a README. */
import { type Row, seedMean } from './results';

/** Characters that Markdown or a page would read as markup, and line ends. */
const plain = (text: string) => text.replace(/\s+/g, ' ').replace(/[\\`*_{}[\]<>#|~]/g, (sign) => `\\${sign}`);
const percent = (rate: number) => (100 * rate).toFixed(1);
const signed = (rate: number) => `${rate < 0 ? '' : '+'}${percent(rate)}`;
const count = (steps: number) => Math.round(steps).toLocaleString('en-US');

interface Column {
  title: string;
  /** Whether it is there at all; a column that no row fills is left out. */
  where(rows: readonly Row[]): boolean;
  cell(row: Row): string;
}

function columns(baseline?: string): readonly Column[] {
  const always = () => true;
  return [
    { title: 'method', where: always, cell: ({ name }) => plain(name) },
    {
      title: 'paper',
      where: (rows) => rows.some(({ paper }) => paper !== undefined),
      cell: ({ paper }) => plain(paper ?? ''),
    },
    { title: 'real success, %', where: always, cell: success },
    {
      title: 'of each seed',
      where: (rows) => rows.some(({ seeds }) => seeds.length > 1),
      cell: ({ seeds }) => seeds.map((run) => percent(run.realSuccess)).join(', '),
    },
    { title: 'real steps', where: always, cell: (row) => count(seedMean(row, (run) => run.realTransitions) ?? 0) },
    {
      title: 'dreamed steps',
      where: always,
      cell: (row) => count(seedMean(row, (run) => run.dreamedTransitions) ?? 0),
    },
    {
      title: 'reward error',
      where: (rows) => rows.some(({ seeds }) => seeds.some((run) => run.rewardError !== null)),
      cell: (row) => seedMean(row, (run) => run.rewardError)?.toFixed(3) ?? '',
    },
    {
      title: `against ${plain(baseline ?? '')}`,
      where: () => baseline !== undefined,
      cell: ({ difference: d }) => (d ? `${signed(d.mean)} [${signed(d.low)}, ${signed(d.high)}]` : ''),
    },
  ];
}

function success({ mean: centre, low, high }: Row): string {
  if (low === null || high === null) return percent(centre);
  return `${percent(centre)} [${percent(low)}, ${percent(high)}]`;
}

/**
 * `rows` as one Markdown table: mean real success with its 95 % interval over seeds, steps as means over seeds, and the
 * difference from `baseline` with its interval over tasks, in points. Names are escaped: they are data, not markup.
 */
export function resultsMarkdown(rows: readonly Row[], baseline?: string): string {
  const shown = columns(baseline).filter((column) => column.where(rows));
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return `${[
    line(shown.map(({ title }) => title)),
    line(shown.map(() => '---')),
    ...rows.map((row) => line(shown.map(({ cell }) => cell(row)))),
  ].join('\n')}\n`;
}
