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

interface Properties {
  tokens: readonly number[];
  logProbs: readonly number[];
  /** Default: those of the embedded model's vocabulary. */
  names?: readonly string[];
  label?: string;
  /** This many tokens at the start were given, not predicted. */
  given?: number;
}

export function HeatStrip({ tokens, logProbs, names, label, given = 0 }: Properties) {
  if (tokens.length === 0 || logProbs.length !== tokens.length) return null;
  return (
    <ol class="heat" aria-label={label ?? 'How likely the agent found each of its words'}>
      {tokens.map((token, i) => {
        const name = visibleLine(names ? (names[i] ?? '') : tokenName(token), 40);
        if (i < given)
          return (
            <li key={i} title={`${name}: given`} style={{ '--heat': '0' }}>
              {name}
              <span class="sr-only"> given</span>
            </li>
          );
        const surprise = Math.min(1, Math.max(0, -logProbs[i]) / strongest);
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
