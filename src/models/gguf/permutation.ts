/**
 * @file Query and key rows, from the order of interleaved rotation (pairs of neighbours turn together) to that of halves
 * (i turns with i + headDim / 2): row [head, half, j] of ours is row [head, j, half] of the file.
 */

/** Where our row lies in the file. */
export function storedRow(row: number, headDim: number): number {
  const within = row % headDim;
  const half = headDim / 2;
  return row - within + (within < half ? 2 * within : 2 * (within - half) + 1);
}

/** The heads that hold rows [first, first + count): [first row, end row). */
export function wholeHeads(first: number, count: number, headDim: number): [start: number, end: number] {
  return [Math.floor(first / headDim) * headDim, Math.ceil((first + count) / headDim) * headDim];
}
