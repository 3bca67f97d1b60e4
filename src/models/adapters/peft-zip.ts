/** @file The PEFT folder as one zip, as a browser saves and opens it. */
import { zipSync } from 'fflate';
import { unpackZip } from '../../data/importers/unpack';
import type { DecoderConfig } from '../../nn/config';
import { badAdapter, type LoraAdapter } from './adapter';
import type { AdapterFacts } from './card';
import { CARD_FILE, CONFIG_FILE, readPeft, WEIGHTS_FILE, writePeft } from './peft';

/** A rank-64 LoRA of a 3B model has 0.4 GB in f32; what unpacks to more is no adapter. */
const MAX_BYTES = 2 ** 30;

/** Throws `bad-adapter`. */
export function zipPeft(adapter: LoraAdapter, facts?: AdapterFacts): Uint8Array<ArrayBuffer> {
  // Stored, not deflated: trained floats do not shrink, and a big adapter would only take longer.
  return zipSync(Object.fromEntries(writePeft(adapter, facts)), { level: 0 });
}

/** Files at the top or in one folder. Throws `bad-adapter` or `adapter-mismatch`. */
export function readPeftZip(bytes: Uint8Array, config?: DecoderConfig, baseHash?: string): LoraAdapter {
  return readPeft(unpack(bytes), config, baseHash);
}

function unpack(bytes: Uint8Array): ReadonlyMap<string, Uint8Array> {
  const wanted = [CONFIG_FILE, WEIGHTS_FILE, CARD_FILE];
  try {
    const { entries, ignored } = unpackZip(bytes, new Set(wanted), MAX_BYTES);
    if (entries.size > 0) return entries;
    // Zipped by hand, the folder itself is often inside.
    const nested = ignored.find((name) => name.endsWith(`/${CONFIG_FILE}`));
    if (!nested) return entries;
    const folder = nested.slice(0, -CONFIG_FILE.length);
    return unpackZip(bytes, new Set(wanted.map((name) => folder + name)), MAX_BYTES).entries;
  } catch (error) {
    throw badAdapter(`The zip cannot be read: ${error instanceof Error ? error.message : String(error)}.`);
  }
}
