/** @file `dream annotate FILE.jsonl`: reasoning for trajectories that have none, by a model or by the world's own rules. */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { DreamError } from '../../data/errors';
import type { Trajectory } from '../../data/trajectory';
import { annotate, annotateHousehold, needsReasoning } from '../../dream/annotation';
import { endpointTextModel, type TextModel } from '../../dream/text-models';
import { AtomicLines } from '../atomic-lines';
import type { CommandIo } from '../command';
import { describeOptions, type OptionSpecs, parseOptions, UsageError } from '../options';
import { givenReflector, reflectorOptions } from '../reflector';

const options = {
  out: { type: 'string', value: 'FILE.jsonl', help: 'where to write them' },
  rules: { type: 'string', help: "by the world's own rules, without a model", choices: ['household'] as const },
  ...reflectorOptions,
  batch: { type: 'integer', help: 'trajectories asked together', default: 16, min: 1, max: 512 },
  retries: { type: 'integer', help: 'further tries for an answer that cannot be used', default: 2, min: 0, max: 10 },
} as const satisfies OptionSpecs;

export const help = `Usage: dream annotate FILE.jsonl --out FILE.jsonl (--rules household | --endpoint URL --endpoint-model NAME)

FILE.jsonl holds one trajectory a line, as \`dream import --out\` writes them. Each is annotated whole or kept as it was.

${describeOptions(options)}
  --json             {"trajectories","annotated","complete","refused":[{"line","why"}],"questions"}`;

interface Report {
  trajectories: number;
  annotated: number;
  /** They had reasoning already. */
  complete: number;
  refused: { line: number; why: string }[];
  questions: number;
}

export async function run(args: string[], io: CommandIo): Promise<void> {
  const [file, ...rest] = args;
  if (file === undefined || file.startsWith('--'))
    throw new UsageError('no-file', 'annotate needs a file.', 'Type: annotate FILE.jsonl --out FILE.jsonl');
  const values = parseOptions(rest, options);
  if (values.out === undefined)
    throw new UsageError('bad-option', 'There is no place to write to.', 'Add --out FILE.jsonl.');
  const model = values.rules ? null : modelOf(values);
  const out = new AtomicLines(io.resolve(values.out));
  const report: Report = { trajectories: 0, annotated: 0, complete: 0, refused: [], questions: 0 };
  try {
    let batch: { line: number; trajectory: Trajectory }[] = [];
    const flush = async () => {
      await work(batch, model, values.retries, out, report, io.signal);
      batch = [];
      io.note(`${report.trajectories} trajectories, ${report.annotated} annotated, ${report.refused.length} refused`);
    };
    let line = 0;
    for await (const text of createInterface({ input: createReadStream(io.resolve(file)), crlfDelay: Infinity })) {
      line++;
      io.signal.throwIfAborted();
      if (text.trim() === '') continue;
      batch.push({ line, trajectory: readTrajectory(text, line) });
      if (batch.length === values.batch) await flush();
    }
    if (batch.length > 0) await flush();
    await out.finish();
  } catch (error) {
    await out.discard();
    throw error;
  } finally {
    await model?.dispose();
  }
  io.print(`${report.annotated} of ${report.trajectories} trajectories annotated, ${report.complete} had reasoning.`);
  for (const { line, why } of report.refused.slice(0, 10)) io.print(`  line ${line}: ${why}`);
  io.result(report);
}

async function work(
  batch: readonly { line: number; trajectory: Trajectory }[],
  model: TextModel | null,
  retries: number,
  out: AtomicLines,
  report: Report,
  signal: AbortSignal,
): Promise<void> {
  const given = batch.map(({ trajectory }) => trajectory);
  const done = model
    ? await annotate(given, { model, retries, signal })
    : given.map((trajectory) => {
        const annotated = annotateHousehold(trajectory);
        const refused = annotated ? null : 'its task is none of the household’s';
        return { trajectory: annotated ?? trajectory, refused, questions: 0 };
      });
  for (const [i, { trajectory, refused, questions }] of done.entries()) {
    report.trajectories++;
    report.questions += questions;
    if (!needsReasoning(given[i])) report.complete++;
    else if (refused === null) report.annotated++;
    else report.refused.push({ line: batch[i].line, why: refused });
    await out.write(trajectory);
  }
}

function modelOf(values: { endpoint?: string; 'endpoint-model'?: string }): TextModel {
  const given = givenReflector(values);
  if (given) return endpointTextModel({ ...given, key: process.env.DREAM_ENDPOINT_KEY });
  throw new UsageError(
    'bad-option',
    'Nobody was named to annotate.',
    'Give --rules, or --endpoint and --endpoint-model.',
  );
}

/** Throws `bad-trajectory`, naming the line. */
function readTrajectory(text: string, line: number): Trajectory {
  const bad = (why: string) =>
    new DreamError(
      'bad-trajectory',
      `Line ${line} is no trajectory: ${why}.`,
      'Use a file that `dream import --out` wrote.',
    );
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw bad('it is not JSON');
  }
  const { task, turns, firstObservation } = (value ?? {}) as Partial<Trajectory>;
  if (typeof task?.instruction !== 'string' || typeof firstObservation !== 'string') throw bad('it has no task');
  if (!Array.isArray(turns)) throw bad('it has no turns');
  for (const turn of turns) {
    if (typeof turn?.action !== 'string' || typeof turn.observation !== 'string')
      throw bad('a turn lacks its action or observation');
    turn.reasoning = typeof turn.reasoning === 'string' ? turn.reasoning : '';
  }
  return value as Trajectory;
}
