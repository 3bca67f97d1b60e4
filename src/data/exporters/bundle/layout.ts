/**
 * @file What lies in a run bundle: an exported run (run-record.ts) and beside it everything that continues it.
 *
 * A program that knows only exported runs opens a bundle too: it finds its four files and leaves the rest.
 */
import { entryNames } from '../run-record';

export const bundleNames = {
  ...entryNames,
  manifest: 'bundle.json',
  config: 'config.json',
  state: 'checkpoint/state.json',
  weights: 'checkpoint/weights.bin',
  buffer: 'checkpoint/buffer.jsonl',
} as const;

/** The PEFT folder's own names. */
export const adapterNames = ['adapter_config.json', 'adapter_model.safetensors', 'README.md'] as const;
export const adapterEntry = (name: string): string => `adapter/${name}`;

export const allEntries: ReadonlySet<string> = new Set([
  ...Object.values(bundleNames),
  ...adapterNames.map((name) => adapterEntry(name)),
]);

export type TensorKind = 'weights' | 'moments1' | 'moments2';
export const tensorKinds = ['weights', 'moments1', 'moments2'] as const satisfies readonly TensorKind[];

/** One tensor of weights.bin (f32, little-endian), in order. */
export interface TensorEntry {
  kind: TensorKind;
  name: string;
  /** Numbers, not bytes. */
  length: number;
}

export interface BundleManifest {
  format: 'dreamgym-bundle';
  version: 1;
  files: Record<string, { bytes: number; sha256: string }>;
}

export async function sha256(bytes: Uint8Array): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>);
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
