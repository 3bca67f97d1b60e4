/**
 * @file The PEFT folder of a stored run, from its weights alone: no base model has to be opened.
 *
 * The engine stacks the adapters of q, k, v and of gate and up; how tall each part is follows from the other stacks: what the
 * attention's output takes in is what q puts out, and k and v share the rest.
 */
import type { StoredRun } from '../dream/run-store';
import { adapterFromEngine, writePeft } from '../models/adapters';
import type { DecoderConfig } from '../nn/config';

/** Name of the fact on an adapter's card that says where it was trained. */
export const WORLD_FACT = 'world';

/** The world that an exported adapter's card names; null for adapters of other programs. */
export function worldOnCard(card: string): string | null {
  return new RegExp(`^\\| ${WORLD_FACT} \\| ([^|\n]{1,200}) \\|$`, 'm').exec(card)?.[1].trim() ?? null;
}

/** Empty for a run that trains a whole model. */
export function runAdapter({ model, policy: { weights } }: StoredRun): Map<string, Uint8Array> {
  if (!model) return new Map();
  const { rank, alpha, label, sha256, world = 'household' } = model;
  const config = shapesOf(weights, rank);
  if (!config) return new Map();
  const adapter = adapterFromEngine(weights, config, { rank, alpha }, { baseModel: label, baseHash: sha256 });
  return writePeft(adapter, { facts: [[WORLD_FACT, world]] });
}

/** Only what projections are as wide as; heads of one number each, since nothing here needs to know them. */
function shapesOf(weights: ReadonlyMap<string, Float32Array>, rank: number): DecoderConfig | null {
  const size = (name: string) => weights.get(`layer.0.${name}`)?.length ?? 0;
  const layers = [...weights.keys()].filter((name) => /^layer\.\d+\.out\.lora_A$/.test(name)).length;
  const width = size('qkv.lora_A') / (3 * rank);
  const queries = size('out.lora_A') / rank;
  const keys = (size('qkv.lora_B') / (3 * rank) - queries) / 2;
  const ffn = size('down.lora_A') / rank;
  if (layers === 0 || ![width, queries, keys, ffn].every((n) => Number.isSafeInteger(n) && n > 0)) return null;
  return {
    vocabSize: 1,
    width,
    layers,
    heads: queries,
    kvHeads: keys,
    headDim: 1,
    ffn,
    ropeTheta: 1,
    normEps: 1,
    contextLength: 1,
  };
}
