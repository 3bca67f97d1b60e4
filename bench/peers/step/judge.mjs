/** @file Do the contestants take the same step? Otherwise their times say nothing. */

/** On the first loss (forward pass alone), and after three updates (gradients and AdamW as well). */
const tolerances = [
  { step: 0, within: 1e-3 },
  { step: 3, within: 1e-2 },
];

/**
 * @param {Record<string, {losses?: number[], medianMs?: number, error?: string}>} contestants `ours` is what the others are held against.
 * @returns {{comparable: boolean, says: string, oursFaster: Record<string, number>}} oursFaster: their time over ours
 */
export function judgeLosses(contestants) {
  const { ours, ...others } = contestants;
  /** @type {Record<string, number>} */
  const oursFaster = {};
  const { losses: reference, medianMs: oursMs } = ours ?? {};
  if (!reference || !oursMs) return { comparable: false, says: 'our engine has no result', oursFaster };
  const says = [];
  let comparable = true;
  for (const [name, { losses, medianMs, error }] of Object.entries(others)) {
    if (!losses || !medianMs) {
      comparable = false;
      says.push(`${name} did not finish: ${error?.split('\n', 1)[0]}`);
      continue;
    }
    const gaps = tolerances.map(({ step }) => Math.abs(losses[step] - reference[step]));
    const agrees = gaps.every((gap, i) => gap <= tolerances[i].within);
    if (agrees) oursFaster[name] = medianMs / oursMs;
    else comparable = false;
    says.push(`${name} differs by ${gaps.map((gap) => gap.toExponential(1)).join(' at first, ')} after 3 updates`);
  }
  return { comparable, says: says.join('; '), oursFaster };
}
