/** @file The shop's public surface. */
import type { World } from '../world';
import { expertAction } from './shoppers';
import { heldOutTasks, trainingTasks } from './tasks';
import { ShopWorld } from './world';

export { FIRST_PAGE, UNCHANGED } from './abstract';
export { type AbstractPage, offers, readPage, textOf } from './abstract-reader';
export { taskFromInstruction } from './built-in/from-instruction';
export { BUILT_IN, builtInCatalogue } from './built-in/generate';
export { Catalogue } from './catalogue';
export { type LoadedShop, type LoadOptions, type LoadReport, loadShop, type ShopFiles } from './files/load';
export { readLoggedGoal } from './files/records';
export { NO_CAP, type ShopGoal } from './goals';
export {
  DEMONSTRATIONS,
  EXPERIENCE_MIXTURE,
  type OfflineOptions,
  offlineTrajectories,
  playEpisode,
  type ShopMixture,
} from './offline';
export { OBSERVATION_MODES, type ObservationMode } from './pages';
export { type Product, type ProductOption, priceOf, priceTag } from './product';
export { type ShopScore, scorePurchase, totalScore, typeReward } from './reward';
export { parseAction, type ShopAction, type ShopState } from './session';
export { canFulfil, expertAction, randomAction, SHOPPER_KINDS, Shopper, type ShopperKind } from './shoppers';
export { heldOutTasks, type ShopData, shopData, taskOf, trainingTasks } from './tasks';
export * as shopWords from './words';
export { type ShopOptions, type ShopSnapshot, ShopWorld } from './world';

export const shopWorld: World = {
  name: 'shop',
  summary: 'An online shop with search, options and prices: buy what the instruction asks for (after WebShop).',
  trainingTasks,
  heldOutTasks,
  create: () => new ShopWorld(),
  expert: (environment) => (environment instanceof ShopWorld ? expertAction(environment) : null),
};
