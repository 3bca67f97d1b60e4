/** @file Imports a text or bytes held in memory, in chunks of any size. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  type Dropped,
  type ImportedEpisode,
  type ImportOptions,
  type ImportReport,
  importTrajectories,
} from '../../../src/data/importers';

export interface Imported {
  report: ImportReport;
  episodes: ImportedEpisode[];
  /** All of them, also those that the report only counts. */
  dropped: Dropped[];
}

export async function* chunksOf(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

export async function importBytes(
  content: string | Uint8Array,
  { size = 64 * 1024, ...options }: Partial<ImportOptions> & { size?: number } = {},
): Promise<Imported> {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
  const episodes: ImportedEpisode[] = [];
  const dropped: Dropped[] = [];
  const report = await importTrajectories(chunksOf(bytes, size), {
    name: 'file',
    onEpisode: (episode) => void episodes.push(episode),
    onDropped: (entry) => void dropped.push(entry),
    ...options,
  });
  return { report, episodes, dropped };
}

export const lines = (...values: unknown[]): string => values.map((value) => JSON.stringify(value)).join('\n');

/** Real files of public projects, beside the checkout; not everybody has them. */
export const samples = fileURLToPath(new URL('../../../../shared/samples/', import.meta.url));
export const haveSamples = existsSync(samples);
