/**
 * @file Named tensors as one blob: three large values a snapshot instead of hundreds of small ones.
 */

export interface PackedTensors {
  names: string[];
  /** Elements of each tensor, in the order of `names`. */
  lengths: number[];
  /** All tensors, one after the other. */
  data: Float32Array;
}

export function pack(tensors: ReadonlyMap<string, Float32Array>): PackedTensors {
  const names = [...tensors.keys()];
  const lengths = names.map((name) => tensors.get(name)!.length);
  const data = new Float32Array(lengths.reduce((sum, length) => sum + length, 0));
  let offset = 0;
  for (const name of names) {
    data.set(tensors.get(name)!, offset);
    offset += tensors.get(name)!.length;
  }
  return { names, lengths, data };
}

/** Views into one shared array. Throws RangeError when names, lengths and data do not fit together. */
export function unpack({ names, lengths, data }: PackedTensors): Map<string, Float32Array> {
  const total = lengths.reduce((sum, length) => sum + length, 0);
  if (names.length !== lengths.length || total !== data.length || new Set(names).size !== names.length)
    throw new RangeError(`${names.length} names, ${total} of ${data.length} numbers`);
  const tensors = new Map<string, Float32Array>();
  let offset = 0;
  names.forEach((name, i) => {
    tensors.set(name, data.subarray(offset, offset + lengths[i]));
    offset += lengths[i];
  });
  return tensors;
}
