/** @file The tensor types of GGUF: how many weights and bytes a block has, and which of our forms keeps it as it is. */
import type { ScaleForm, WeightForm } from '../weights';

export interface StoredType {
  readonly name: string;
  /** Weights per block; a row is whole blocks. */
  readonly block: number;
  /** Bytes per block. */
  readonly bytes: number;
  readonly form: WeightForm;
  readonly scales: ScaleForm;
}

const table: readonly [id: number, name: string, block: number, bytes: number, form: WeightForm, scales: ScaleForm][] =
  [
    [0, 'F32', 1, 4, 'f32', 'single'],
    [1, 'F16', 1, 2, 'f32', 'single'],
    [2, 'Q4_0', 32, 18, 'q4', 'half'],
    [3, 'Q4_1', 32, 20, 'q4', 'half'],
    [6, 'Q5_0', 32, 22, 'q8', 'half'],
    [7, 'Q5_1', 32, 24, 'q8', 'half'],
    [8, 'Q8_0', 32, 34, 'q8', 'half'],
    // The scales of K-quants are products of a f16 and a 6-bit number: 17 bits, too many for a half.
    [12, 'Q4_K', 256, 144, 'q4', 'single'],
    [13, 'Q5_K', 256, 176, 'q8', 'single'],
    // Sub-scales over 16 weights: no form of ours is exact; q8 is the nearest (see convert.ts).
    [14, 'Q6_K', 256, 210, 'q8', 'single'],
    [30, 'BF16', 1, 2, 'f32', 'single'],
  ];

export const storedTypes: ReadonlyMap<number, StoredType> = new Map(
  table.map(([id, name, block, bytes, form, scales]) => [id, { name, block, bytes, form, scales }]),
);

const unsupported: Readonly<Record<number, string>> = {
  9: 'Q8_1',
  10: 'Q2_K',
  11: 'Q3_K',
  15: 'Q8_K',
  16: 'IQ2_XXS',
  17: 'IQ2_XS',
  18: 'IQ3_XXS',
  19: 'IQ1_S',
  20: 'IQ4_NL',
  21: 'IQ3_S',
  22: 'IQ2_S',
  23: 'IQ4_XS',
  24: 'I8',
  25: 'I16',
  26: 'I32',
  27: 'I64',
  28: 'F64',
  29: 'IQ1_M',
  34: 'TQ1_0',
  35: 'TQ2_0',
  39: 'MXFP4',
};

/** What people call a type that is not read here. */
export function typeName(id: number): string {
  return unsupported[id] ?? `number ${id}`;
}
