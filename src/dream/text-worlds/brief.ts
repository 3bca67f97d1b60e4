/**
 * @file Long observations for short contexts: the beginning and the end of a page, whole lines, what is between them left out.
 *
 * An episode is one stream of tokens, so every page the agent ever saw stays in its context. The checks always read the
 * whole text; only what the models are shown is shortened.
 */

/** Letters of one token of English, roughly. */
const lettersPerToken = 3.5;
/** Pages that a context should hold beside the rules. */
const pages = 8;
const longestLine = 160;
/** The end of a page has its buttons. */
const endShare = 0.35;

/** Letters that an observation may have in a context of so many tokens. */
export const briefLength = (contextLength: number): number => Math.round((contextLength / pages) * lettersPerToken);

export function brief(observation: string, longest: number): string {
  const lines = observation
    .split('\n')
    .map((line) => (line.length > longestLine ? `${line.slice(0, longestLine)}…` : line));
  const whole = lines.join('\n');
  if (whole.length <= longest) return whole;
  const head: string[] = [];
  const tail: string[] = [];
  let left = longest;
  let leftForTail = Math.floor(longest * endShare);
  while (lines.length > 1 && lines[lines.length - 1].length < leftForTail) {
    const line = lines.pop() as string;
    leftForTail -= line.length + 1;
    left -= line.length + 1;
    tail.unshift(line);
  }
  while (lines.length > 0 && lines[0].length < left) {
    const line = lines.shift() as string;
    left -= line.length + 1;
    head.push(line);
  }
  if (head.length === 0) head.push(lines[0].slice(0, Math.max(0, left)));
  return [...head, '…', ...tail].join('\n');
}
