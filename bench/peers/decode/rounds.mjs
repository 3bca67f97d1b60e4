/** @file A round of the decoding comparison: the prompt is read, then the clock runs for `tokens` greedy tokens. */

/**
 * @typedef {{name: string, blob: Blob}} ModelFile
 * @typedef {object} Contestant
 * @property {(prompt: readonly number[]) => Promise<number>} start Forgets everything, reads the prompt; the first token.
 * @property {(count: number) => Promise<number[]>} more Draws that many more, greedily.
 */

/**
 * @param {(files: ModelFile[], options?: object) => Promise<Contestant>} prepare
 * @param {ModelFile[]} files
 * @param {{prompt: number[], tokens: number, options?: object}} task
 * @returns {Promise<import('../host/contest.mjs').Opened>}
 */
export async function openDecode(prepare, files, { prompt, tokens, options }) {
  const began = performance.now();
  const contestant = await prepare(files, options);
  const loadMs = Math.round(performance.now() - began);
  await contestant.start(prompt); // compiles the kernels
  await contestant.more(4);
  return {
    first: { loadMs, warmUpMs: Math.round(performance.now() - began) - loadMs },
    async round() {
      const start = performance.now();
      const first = await contestant.start(prompt);
      const read = performance.now();
      const drawn = [first, ...(await contestant.more(tokens))];
      return { ms: performance.now() - read, promptMs: read - start, drawn };
    },
  };
}
