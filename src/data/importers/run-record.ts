/**
 * @file Reads an exported run without believing it: zip, gzipped JSON or plain JSON; sizes capped, every value checked.
 */
import * as v from 'valibot';
import type { RunConfig, RunRecord } from '../../worker/protocol';
import { asDreamError, DreamError } from '../errors';
import { entryNames } from '../exporters/run-record';
import type { Trajectory } from '../trajectory';
import { parsePlainJson } from './plain-json';
import { recordSchema, trajectorySchema } from './run-schema';
import { unpackGzip, unpackZip } from './unpack';

/** A run of 1000 iterations with its rollouts is some tens of megabytes; its run.json is two. */
const maxBytes = 128 * 2 ** 20;
const maxRunBytes = 16 * 2 ** 20;
/** Text of ours packs 5 to 20 times smaller; what promises more is a bomb. */
const maxRatio = 200;
const unpackedLimit = (packed: number) => Math.min(maxBytes, 2 ** 20 + maxRatio * packed);
const maxLineBytes = 2 ** 20;
const maxRollouts = 100_000;

const wanted: ReadonlySet<string> = new Set(Object.values(entryNames));

export interface ImportedRun {
  record: RunRecord;
  /** What the reader should know, e.g. entries that were ignored. */
  notices: string[];
}

/**
 * Throws DreamError `not-a-run` (some other file), `corrupt-run` (ours, but damaged or made up) or `newer-run`.
 * `checkConfig` throws for settings that are not valid here.
 */
export async function readRunRecord(
  bytes: Uint8Array,
  checkConfig: (config: unknown) => RunConfig,
): Promise<ImportedRun> {
  if (bytes.byteLength > maxBytes) throw notARun('it is larger than 128 MB');
  const notices: string[] = [];
  if (startsWith(bytes, 0x50, 0x4b)) return { record: readZip(bytes, checkConfig, notices), notices };
  const gzipped = startsWith(bytes, 0x1f, 0x8b);
  const json = gzipped ? attempt(notARun, () => unpackGzip(bytes, unpackedLimit(bytes.byteLength))) : bytes;
  const value = attempt(notARun, () => parsePlainJson(json));
  return { record: checkRecord(value, checkConfig), notices };
}

function readZip(bytes: Uint8Array, checkConfig: (config: unknown) => RunConfig, notices: string[]): RunRecord {
  const { entries, ignored } = attempt(corrupt, () => unpackZip(bytes, wanted, unpackedLimit(bytes.byteLength)));
  const run = entries.get(entryNames.run);
  if (!run) throw notARun(`this zip has no ${entryNames.run}`);
  if (run.byteLength > maxRunBytes) throw corrupt(`its ${entryNames.run} is larger than 16 MB`);
  if (ignored.length > 0)
    notices.push(`Ignored in the file: ${ignored.slice(0, 5).join(', ')}${ignored.length > 5 ? ' and more' : ''}.`);
  const record = checkRecord(
    attempt(corrupt, () => parsePlainJson(run)),
    checkConfig,
  );
  const lines = entries.get(entryNames.rollouts);
  if (lines) record.rollouts = attempt(corrupt, () => readRollouts(lines));
  else notices.push(`The file has no ${entryNames.rollouts}: there are no episodes to look at.`);
  return record;
}

/** The same for a value that is already parsed. */
export function checkRecord(value: unknown, checkConfig: (config: unknown) => RunConfig): RunRecord {
  const { format, version } = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>;
  if (format !== 'dreamgym-run') throw notARun('it does not say that it is one');
  if (typeof version === 'number' && version > 1) throw newer(version);
  const result = v.safeParse(recordSchema, value, { abortEarly: true });
  if (!result.success) {
    const [issue] = result.issues;
    throw corrupt(`${v.getDotPath(issue) ?? 'the top level'} is wrong: ${issue.message.slice(0, 120)}`);
  }
  const config = attempt(corrupt, () => checkConfig(result.output.config));
  return { ...result.output, config } as RunRecord;
}

/** Line by line: no line is parsed that is longer than any episode of ours. */
function readRollouts(bytes: Uint8Array): RunRecord['rollouts'] {
  const line = v.object({ iteration: v.pipe(v.number(), v.integer(), v.minValue(0)), ...trajectorySchema.entries });
  const byIteration = new Map<number, Trajectory[]>();
  let rows = 0;
  for (let start = 0; start < bytes.length; ) {
    const newline = bytes.indexOf(10, start);
    const end = newline === -1 ? bytes.length : newline;
    if (end - start > maxLineBytes) throw new Error(`line ${rows + 1} of the rollouts is longer than 1 MB`);
    if (end > start) {
      if (++rows > maxRollouts) throw new Error(`there are more than ${maxRollouts} rollouts`);
      const { iteration, ...trajectory } = v.parse(line, parsePlainJson(bytes.subarray(start, end)), {
        abortEarly: true,
      });
      const group = byIteration.get(iteration) ?? [];
      group.push(trajectory as Trajectory);
      byIteration.set(iteration, group);
    }
    start = end + 1;
  }
  return [...byIteration].map(([iteration, trajectories]) => ({ iteration, trajectories }));
}

const startsWith = (bytes: Uint8Array, ...magic: number[]) => magic.every((byte, i) => bytes[i] === byte);

function attempt<T>(failure: (what: string, cause?: unknown) => DreamError, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw failure(asDreamError(error).message.slice(0, 200), error);
  }
}

function notARun(what: string, cause?: unknown): DreamError {
  return new DreamError(
    'not-a-run',
    `That file is not a run of this program: ${what}.`,
    'Choose a file that was saved with "Export run". Nothing on the page was changed.',
    { cause },
  );
}

function corrupt(what: string, cause?: unknown): DreamError {
  return new DreamError(
    'corrupt-run',
    `That run file is damaged: ${what}.`,
    'Download or export it again. Nothing on the page was changed.',
    { cause },
  );
}

function newer(version: number): DreamError {
  return new DreamError(
    'newer-run',
    `That run was saved by a newer version of this program (format ${version}).`,
    'Reload the page to get the newest version, then import it again.',
  );
}
