/** @file What this browser keeps of downloaded models, one line per repository. */
import type { FileCache } from '../../models/sources/file-cache';
import type { KeptModel } from './protocol';

/** Largest first. */
export async function keptModels(cache: FileCache): Promise<KeptModel[]> {
  const models = new Map<string, KeptModel>();
  for (const { key, bytes, complete } of await cache.list()) {
    const repository = key.split('/').slice(0, 2).join('/');
    const known = models.get(repository) ?? { repository, bytes: 0, complete: true };
    models.set(repository, { repository, bytes: known.bytes + bytes, complete: known.complete && complete });
  }
  return [...models.values()].sort((a, b) => b.bytes - a.bytes);
}
