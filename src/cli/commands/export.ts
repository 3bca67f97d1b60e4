/** @file `dream export`: a run as a bundle to continue elsewhere, as data sets, as a table, or as a kit for TRL and verl. */
import { DreamError } from '../../data/errors';
import { writeBundle } from '../../data/exporters/bundle/write';
import type { Dropped } from '../../data/exporters/chat-messages';
import { metricsCsv } from '../../data/exporters/run-record';
import { writeServerKit } from '../../data/exporters/server-kit';
import { episodesOf, messagesJsonl, preferenceJsonl } from '../../data/exporters/trl';
import { toRaw } from '../../envs/household';
import type { CommandIo } from '../command';
import { describeOptions, type OptionSpecs, parseOptions, UsageError } from '../options';
import { type OpenedRun, openRun, writeWhole } from '../run-files';

const formats = ['bundle', 'trl', 'preference', 'csv', 'server-kit'] as const;

const options = {
  run: { type: 'string', value: 'DIR|FILE', help: 'the folder of a run, or a file of train --out or export' },
  format: { type: 'string', help: 'what to write', choices: formats },
  out: { type: 'string', value: 'FILE', help: 'where to' },
  all: { type: 'boolean', help: 'trl: also episodes that did not succeed' },
  tools: { type: 'boolean', help: 'trl: with tool calls instead of lines of Action:' },
} as const satisfies OptionSpecs;

export const help = `Usage: dream export --run DIR|FILE --format FORMAT --out FILE

  bundle      zip: settings, seeds, metrics, rollouts, adapter, checkpoint; import-run continues it elsewhere
  trl         JSONL of conversations ("messages") of the episodes that succeeded
  preference  JSONL "prompt", "chosen", "rejected": a success and a failure of the same task
  csv         the metrics, column "step" first
  server-kit  zip: data, adapter, a TRL script and a verl (Ray) configuration with the run's algorithm settings

${describeOptions(options)}
  --json             {"format","file","bytes","episodes","pairs","tasks","adapter","dropped":[{"where","why"}...]}`;

interface Written {
  content: Uint8Array | string;
  counts: { episodes?: number; pairs?: number; tasks?: number; adapter?: boolean };
  dropped: readonly Dropped[];
}

export async function run(args: string[], io: CommandIo): Promise<number> {
  const values = parseOptions(args, options);
  const { format } = values;
  for (const name of ['run', 'format', 'out'] as const)
    if (values[name] === undefined)
      throw new UsageError('bad-option', `--${name} is missing.`, '--help shows what export needs.');
  for (const name of ['all', 'tools'] as const)
    if (values[name] && format !== 'trl')
      throw new UsageError('bad-option', `--${name} belongs to --format trl.`, 'Leave it out.');
  const opened = await openRun(io.resolve(values.run as string));
  for (const notice of opened.notices) io.note(notice);
  const path = io.resolve(values.out as string);
  const { content, counts, dropped } = await written(format as (typeof formats)[number], opened, values);
  await writeWhole(path, content);
  const bytes = Buffer.byteLength(content);
  const counted = Object.entries(counts).filter(([, count]) => typeof count === 'number');
  io.print(`${values.out}: ${bytes} bytes${counted.map(([name, count]) => `, ${count} ${name}`).join('')}`);
  for (const [why, count] of reasons(dropped)) io.print(`  left out ${count}: ${why}`);
  io.result({ format, file: path, bytes, ...counts, dropped });
  return 0;
}

async function written(
  format: (typeof formats)[number],
  { record, stored, adapter }: OpenedRun,
  { all, tools }: { all: boolean; tools: boolean },
): Promise<Written> {
  const episodes = episodesOf(record);
  // Our own world's abstract text becomes the sentences that policies of words are trained on.
  const sentenceOf = record.config.preset.startsWith('household')
    ? (observation: string, action: string) => toRaw(observation, action).replace(/\s+/g, ' ').trim()
    : undefined;
  switch (format) {
    case 'bundle': {
      if (!stored)
        throw new DreamError(
          'no-checkpoint',
          'That file shows a run, but holds no checkpoint to continue from.',
          'Export the bundle from the run’s folder (train --run), or choose another format.',
        );
      const counts = { episodes: episodes.length, adapter: adapter.size > 0 };
      return { content: await writeBundle(stored, adapter), counts, dropped: [] };
    }
    case 'trl': {
      const { text, lines, dropped } = messagesJsonl(episodes, { all, tools, sentenceOf });
      return { content: text, counts: { episodes: lines }, dropped };
    }
    case 'preference': {
      const { text, lines, dropped } = preferenceJsonl(episodes, { sentenceOf });
      return { content: text, counts: { pairs: lines }, dropped };
    }
    case 'csv':
      return { content: metricsCsv(record), counts: {}, dropped: [] };
    case 'server-kit': {
      const tasks = stored?.pool.map(({ task }) => task);
      const kit = writeServerKit({ record, adapter, sentenceOf, ...(tasks ? { tasks } : {}) });
      const { zip, episodes: told, pairs, dropped } = kit;
      return { content: zip, counts: { episodes: told, pairs, tasks: kit.tasks, adapter: adapter.size > 0 }, dropped };
    }
  }
}

function reasons(dropped: readonly Dropped[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const { why } of dropped) counts.set(why, (counts.get(why) ?? 0) + 1);
  return [...counts];
}
