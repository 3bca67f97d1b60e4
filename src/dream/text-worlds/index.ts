/** @file Any world in plain words, for models with a chat template. */
import type { SpokenWorld } from './world';

export { worldTextDomain } from './domain';
export { demonstration } from './imitation';
export { memoriesOf } from './memories';
export { worldRun } from './model-run';
export { spokenDream, spokenWorldOf } from './own';
export type { SpokenWorld } from './world';

/** The built-in worlds in words; the household has words of its own (text-household/). */
export const spokenWorlds: Readonly<Record<string, () => Promise<SpokenWorld>>> = {
  shop: async () => (await import('./shop')).spokenShop,
  web: async () => (await import('./web')).spokenWeb,
};
