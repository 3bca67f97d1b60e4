/** @file One turn: what the agent thought and did, and what its world, imagined or real, answered. */
import type { Source, Turn } from '../../data/trajectory';
import { visible } from '../text/visible';
import { HeatStrip } from './heat-strip';

/** The word that goes with the colour; colour alone tells nobody who cannot see it. */
export const worldWords: Record<Source, string> = { imagined: 'imagined', real: 'real', offline: 'demonstrated' };

interface Properties {
  turn: Turn;
  number: number;
  source: Source;
  /** True where the real world, given the same actions, answered differently for the first time. */
  mismatch: boolean;
  fresh: boolean;
}

export function TurnRow({ turn, number, source, mismatch, fresh }: Properties) {
  return (
    <li class={fresh ? 'turn fresh' : 'turn'}>
      <span class="turn-number" aria-hidden="true">
        {number}
      </span>
      <div class="says agent">
        <p class="who">
          Agent
          {!turn.valid && <span class="tag tag-warn">action had no effect</span>}
        </p>
        {turn.thought && <p class="thought">{visible(turn.thought)}</p>}
        {turn.action ? (
          <p class="action">{visible(turn.action)}</p>
        ) : (
          <p class="thought">(what it said could not be read as an action)</p>
        )}
        <HeatStrip tokens={turn.actionTokens} logProbs={turn.actionLogProbs} />
      </div>
      <div class={`says world ${source}`}>
        <p class="who">
          World <span class={`tag tag-${source}`}>{worldWords[source]}</span>
          {mismatch && <span class="tag tag-warn">the real world says otherwise</span>}
        </p>
        {turn.reasoning && <p class="thought">{visible(turn.reasoning)}</p>}
        <p class="observation">{visible(turn.observation)}</p>
        {turn.reward > 0 && <p class="reward">reward {turn.reward}</p>}
      </div>
    </li>
  );
}
