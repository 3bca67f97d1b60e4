/** @file What makes two runs over one base the same on any machine: which base it is, and how many episodes share its caches. */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import type { Gpu } from '../gpu/device';
import type { DecoderConfig } from '../nn/config';
import { cacheBytes, type Precision } from '../nn/precision';
import type { WeightSource } from './weights';

/** Keys and values of the policy's and of the experience model's episodes, together. */
const CACHE_BYTES = 2 * 2 ** 30;
const mostParallel = 128;

/** So many that the caches of both roles fit into the budget, and each layer's into one buffer. */
export function parallelEpisodes(
  { limits }: Pick<Gpu, 'limits'>,
  config: DecoderConfig,
  precision: Precision = 'f32',
): number {
  const layerBytes = 2 * config.kvHeads * config.headDim * cacheBytes[precision] * config.contextLength;
  const inBudget = CACHE_BYTES / (2 * config.layers * layerBytes);
  const inBuffer = Math.min(limits.maxBufferSize, limits.maxStorageBufferBindingSize) / layerBytes;
  return Math.max(1, Math.floor(Math.min(mostParallel, inBudget, inBuffer)));
}

/**
 * The same for the same model wherever its file lies and whatever it is called: its settings, every tensor's description, and
 * every tensor's first row, in which models of one shape differ.
 */
export async function baseHash(
  source: Pick<WeightSource, 'architecture' | 'config' | 'tensors' | 'read'>,
): Promise<string> {
  const tensors = [...source.tensors.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  const config = Object.entries(source.config).sort(([a], [b]) => (a < b ? -1 : 1));
  const described = tensors.map(({ name, rows, columns, stored }) => [name, rows, columns, stored]);
  const hash = sha256.create();
  hash.update(new TextEncoder().encode(JSON.stringify([source.architecture, config, described])));
  for (const { name } of tensors) {
    const row = await source.read(name, 0, 1, 'f32', 'single');
    if (row.form === 'f32')
      hash.update(new Uint8Array(row.values.buffer, row.values.byteOffset, row.values.byteLength));
  }
  return bytesToHex(hash.digest());
}
