/** @file `dream import FILE`: reads anyone's trajectories, says what was kept and dropped, and writes them as our records. */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { DreamError } from '../../data/errors';
import { type Dropped, importFormats, importTrajectories, transitionExamples } from '../../data/importers';
import { AtomicLines } from '../atomic-lines';
import type { CommandIo } from '../command';
import { describeOptions, parseOptions, UsageError } from '../options';

const OPTIONS = {
  format: { type: 'string', help: 'read it as this, instead of recognising it', choices: importFormats },
  out: { type: 'string', help: 'write one trajectory a line', value: 'FILE.jsonl' },
  examples: { type: 'string', help: 'write one step a line, to train an experience model on', value: 'FILE.jsonl' },
} as const;

export const help = `Usage: dream import FILE [options]

Imports trajectories: OpenAI messages, ShareGPT, AgentGym, ReAct text, ADaPT results, WebShop and WebArena logs, ATIF;
JSON, JSONL, text, .gz and .zip of any size. Reports what was kept and what was dropped, and why.

${describeOptions(OPTIONS)}`;

export async function run(args: string[], io: CommandIo): Promise<number> {
  const [file, ...rest] = args;
  if (file === undefined || file.startsWith('--'))
    throw new UsageError('no-file', 'import needs a file.', 'Type: import FILE [options]');
  const options = parseOptions(rest, OPTIONS);
  const path = io.resolve(file);
  const size = await sizeOf(path, file);
  const bar = io.progress('Importing');
  const out = options.out === undefined ? null : new AtomicLines(io.resolve(options.out));
  const examples = options.examples === undefined ? null : new AtomicLines(io.resolve(options.examples));
  try {
    const report = await importTrajectories(createReadStream(path, { highWaterMark: 256 * 1024 }), {
      name: basename(file),
      format: options.format,
      signal: io.signal,
      onProgress: ({ bytes, episodes, dropped }) =>
        bar.update(size === 0 ? 1 : bytes / size, `${episodes} episodes, ${dropped} dropped`),
      onEpisode: async ({ where, trajectory, raw }) => {
        await out?.write({ ...trajectory, where, raw });
        if (examples) for (const example of transitionExamples(trajectory)) await examples.write(example);
      },
    });
    await out?.finish();
    await examples?.finish();
    bar.clear();
    const { kept } = report;
    io.print(
      `${report.formats.join(', ')}: ${report.episodes} episodes (${kept.successes} successes, ${kept.failures} failures, ${kept.unknownOutcomes} of unknown outcome), ${kept.turns} turns, ${report.transitions} transitions.`,
    );
    for (const [why, count] of Object.entries(report.withoutTransition))
      io.print(`  ${count} turns are no transition: ${why}.`);
    for (const line of byReason(report.dropped, report.droppedTotal)) io.print(line);
    io.result(report);
    return 0;
  } catch (error) {
    await Promise.all([out?.discard(), examples?.discard()]);
    bar.clear();
    if (io.signal.aborted)
      throw new DreamError('cancelled', 'The import was cancelled.', 'Nothing was written. Run it again to import.');
    throw error;
  }
}

async function sizeOf(path: string, shown: string): Promise<number> {
  try {
    const found = await stat(path);
    if (found.isFile()) return found.size;
  } catch (cause) {
    throw new DreamError('file-read', `${shown} cannot be read: there is no such file.`, 'Check the path.', { cause });
  }
  throw new DreamError('file-read', `${shown} is not a file.`, 'Give one file; pack a folder as a .zip.');
}

/** For a person: each reason once, with its first places. */
function byReason(dropped: readonly Dropped[], total: number): string[] {
  const places = new Map<string, string[]>();
  for (const { where, why } of dropped) places.set(why, [...(places.get(why) ?? []), where]);
  const lines = [...places].map(([why, wheres]) => {
    const more = wheres.length > 3 ? ` and ${wheres.length - 3} more` : '';
    return `  ${why}: ${wheres.slice(0, 3).join('; ')}${more}`;
  });
  return total === 0 ? ['Nothing was dropped.'] : [`Dropped: ${total}`, ...lines];
}
