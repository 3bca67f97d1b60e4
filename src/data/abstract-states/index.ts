/** @file The abstract state mapping of every world, rule-based and the same for imports, rollouts and dreams. */
import { householdStates } from './household';
import { shopStates } from './shop';
import { type AbstractStates, stateless } from './states';
import { webStates } from './web';

const folded = (text: string) => text.replace(/\s+/g, ' ').trim();

/** A world nobody wrote rules for: its text as it is. */
const plainStates: AbstractStates = {
  recognises: () => true,
  split: (first) => ({ observation: first }),
  begin: () => stateless(folded),
  action: (raw) => raw.trim(),
  family: () => undefined,
  room: folded,
  unchanged: null,
};

export const abstractStates = {
  household: householdStates,
  shop: shopStates,
  web: webStates,
  text: plainStates,
} as const satisfies Record<string, AbstractStates>;

export { shopPageState } from './shop';
export type { AbstractStates, EpisodeStates } from './states';
export { webState } from './web';
