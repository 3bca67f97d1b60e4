/**
 * @file How sure the agent was of each word: pale where it had no doubt, strong where it surprised itself.
 *
 * Log-probabilities are those of the sampler at temperature 1, exactly what the update used.
 */
import { chance, number } from '../text/format';
import { visibleLine } from '../text/visible';
import { tokenName } from './token-names';

/** At this many nats (a chance of 5 %) a word is as surprising as the scale shows. */
const strongest = 3;

export function HeatStrip({ tokens, logProbs }: { tokens: readonly number[]; logProbs: readonly number[] }) {
  if (tokens.length === 0 || logProbs.length !== tokens.length) return null;
  return (
    <ol class="heat" aria-label="How likely the agent found each of its words">
      {tokens.map((token, i) => {
        const surprise = Math.min(1, Math.max(0, -logProbs[i]) / strongest);
        const name = visibleLine(tokenName(token), 40);
        return (
          <li
            key={i}
            title={`${name}: chance ${chance(logProbs[i])}, log-probability ${number(logProbs[i])}`}
            style={{ '--heat': surprise.toFixed(2) }}
          >
            {name}
            <span class="sr-only"> {chance(logProbs[i])}</span>
          </li>
        );
      })}
    </ol>
  );
}
