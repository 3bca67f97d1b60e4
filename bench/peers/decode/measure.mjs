/** @file How decoding is timed: one sequence, greedy, the prompt read before the clock starts. */

/**
 * @typedef {{name: string, blob: Blob}} ModelFile
 * @typedef {object} Contestant
 * @property {(prompt: readonly number[]) => Promise<number>} start Forgets everything, reads the prompt; the first token.
 * @property {(count: number) => Promise<number[]>} more Draws that many more, greedily.
 */

const rounds = 3;

/**
 * @param {(files: ModelFile[]) => Promise<Contestant>} prepare
 * @param {ModelFile[]} files
 * @param {{prompt: number[], tokens: number}} settings
 */
export async function measureDecode(prepare, files, { prompt, tokens }) {
  const began = performance.now();
  const contestant = await prepare(files);
  const loadMs = performance.now() - began;
  console.error(`loaded in ${(loadMs / 1000).toFixed(1)} s`);
  await contestant.start(prompt); // compiles the kernels
  await contestant.more(4);
  console.error(`warm after ${((performance.now() - began) / 1000).toFixed(1)} s`);
  const times = [];
  const promptTimes = [];
  /** @type {number[]} */
  let drawn = [];
  for (let round = 0; round < rounds; round++) {
    const start = performance.now();
    const first = await contestant.start(prompt);
    const read = performance.now();
    drawn = [first, ...(await contestant.more(tokens))];
    promptTimes.push(read - start);
    times.push(performance.now() - read);
  }
  const median = (/** @type {number[]} */ list) => [...list].sort((a, b) => a - b)[list.length >> 1];
  return {
    tokensPerSecond: tokens / (median(times) / 1000),
    promptMs: Math.round(median(promptTimes)),
    timesMs: times.map(Math.round),
    loadMs: Math.round(loadMs),
    drawn,
  };
}
