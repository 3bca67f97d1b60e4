/** @file The built-in worlds by name. Each is loaded when it is first asked for: a page that tidies rooms loads no shop. */
import { DreamError } from '../data/errors';
import type { World } from './world';

export const worlds: Readonly<Record<string, () => Promise<World>>> = {
  household: async () => (await import('./household')).householdWorld,
  shop: async () => (await import('./shop')).shopWorld,
  web: async () => (await import('./web')).webWorld,
};

/** @throws DreamError `unknown-world` */
export function openWorld(name: string): Promise<World> {
  if (!Object.hasOwn(worlds, name)) {
    throw new DreamError(
      'unknown-world',
      `There is no world "${name}".`,
      `The built-in worlds are: ${Object.keys(worlds).join(', ')}.`,
    );
  }
  return worlds[name]();
}
