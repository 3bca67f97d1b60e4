/** @file The web world's public surface. */
import type { PlayableEnvironment, World } from '../world';
import { expertAction } from './expert';
import { webHeldOutTasks, webTrainingTasks } from './tasks';
import { WebWorld } from './world';

export { cleanTree, formatTree } from './accessibility';
export { type Action, actionText, badFormatText, noElementText, type Parsed } from './actions';
export type { View } from './browser';
export {
  type ConfigReport,
  loadWebArenaConfigs,
  readWebArenaTask,
  type Scoring,
  scoringOf,
  type WebArenaTask,
} from './configs';
export { type ActionDialect, parseAction } from './dialects';
export { type DocumentOptions, renderDocument } from './document';
export { earlyStop, MAX_STEPS } from './early-stop';
export {
  type Component,
  type Evaluation,
  evaluate,
  evaluateNow,
  type Judge,
  type Outcome,
  type Profile,
  type Question,
  type Verdict,
} from './evaluate';
export { expertAction } from './expert';
export { offlineTrajectories, type Player, playWeb, randomAction } from './offline';
export { fillPlaceholders, SITES } from './sites';
export type { BrowserState } from './tabs';
export { knownTasks, TEMPLATES, webHeldOutTasks, webTask, webTrainingTasks } from './tasks';
export { isWebObservation, webWords } from './words';
export { EPISODE_ENDED, NOTHING_HAPPENS, type WebOptions, type WebSnapshot, type WebTaskData, WebWorld } from './world';

export const webWorld: World = {
  name: 'web',
  summary: 'Six small web sites (shop, back office, forum, code host, map, wiki) with tasks in the style of WebArena',
  trainingTasks: webTrainingTasks,
  heldOutTasks: webHeldOutTasks,
  create: () => new WebWorld(),
  expert: (environment: PlayableEnvironment) => (environment instanceof WebWorld ? expertAction(environment) : null),
};
