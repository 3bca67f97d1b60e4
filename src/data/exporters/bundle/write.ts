/** @file A whole run as one zip: everything a stored run holds, readable, checksummed, and nothing that names this machine. */
import { strToU8, zipSync } from 'fflate';
import type { StoredRun } from '../../../dream/run-store';
import type { RunRecord } from '../../../worker/protocol';
import { recordFiles, zipDate } from '../run-record';
import { adapterEntry, type BundleManifest, bundleNames, sha256, type TensorEntry, tensorKinds } from './layout';

/** The record of a stored run: what the viewer shows of it. */
export function recordOf({
  runId,
  created,
  adapter,
  model,
  config,
  metrics,
  evaluations,
  rollouts,
  pool,
  weightsHash,
}: StoredRun): RunRecord {
  return {
    format: 'dreamgym-run',
    version: 1,
    runId,
    created,
    adapter,
    ...(model ? { model } : {}),
    config,
    metrics,
    evaluations,
    rollouts,
    tasks: pool.map(({ task: _, ...entry }) => entry),
    weightsHash,
  };
}

/**
 * `adapter`: the files of a PEFT folder by name, when there is one. Weights are stored as they are (trained floats do not
 * shrink), text is deflated.
 */
export async function writeBundle(
  stored: StoredRun,
  adapter: ReadonlyMap<string, Uint8Array> = new Map(),
): Promise<Uint8Array> {
  const { policy, buffer, rollouts: _r, metrics: _m, evaluations: _e, ...header } = stored;
  const tensors = tensorKinds.flatMap((kind) =>
    [...(policy[kind] ?? new Map<string, Float32Array>())].map(([name, data]) => ({ kind, name, data })),
  );
  const table: TensorEntry[] = tensors.map(({ kind, name, data }) => ({ kind, name, length: data.length }));
  const state = { ...header, policy: { step: policy.step, tensors: table }, bufferNextId: buffer.nextId };
  const files = new Map<string, Uint8Array>([
    ...recordFiles(recordOf(stored)),
    [bundleNames.config, json(stored.config)],
    [bundleNames.state, json(state)],
    [bundleNames.weights, joined(tensors.map(({ data }) => data))],
    [bundleNames.buffer, strToU8(buffer.transitions.map((transition) => `${JSON.stringify(transition)}\n`).join(''))],
    ...[...adapter].map(([name, bytes]): [string, Uint8Array] => [adapterEntry(name), bytes]),
  ]);
  const manifest: BundleManifest = { format: 'dreamgym-bundle', version: 1, files: {} };
  for (const [name, bytes] of files) manifest.files[name] = { bytes: bytes.byteLength, sha256: await sha256(bytes) };
  const mtime = new Date(zipDate);
  return zipSync({
    [bundleNames.manifest]: [json(manifest), { level: 6, mtime }],
    ...Object.fromEntries(
      [...files].map(([name, bytes]) => [name, [bytes, { level: /\.(bin|safetensors)$/.test(name) ? 0 : 6, mtime }]]),
    ),
  });
}

const json = (value: unknown) => strToU8(`${JSON.stringify(value, null, 1)}\n`);

function joined(tensors: readonly Float32Array[]): Uint8Array {
  const all = new Uint8Array(tensors.reduce((sum, { byteLength }) => sum + byteLength, 0));
  let offset = 0;
  for (const { buffer, byteOffset, byteLength } of tensors) {
    all.set(new Uint8Array(buffer, byteOffset, byteLength), offset);
    offset += byteLength;
  }
  return all;
}
