/** @file The first words between page and worker, before Comlink speaks. */

/** Page to worker, first of all messages. */
export interface BootMessage {
  dreamgym: 'boot';
  /** The folder of the page: the worker's own address lies elsewhere once bundled. */
  baseUrl: string;
  /** A Web Lock the worker holds as long as it lives: the only sign of life that a killed worker cannot fake. */
  lifeLock: string;
}

/** Worker to page: the lock is held; whoever gets it from now on knows that the worker is dead. */
export interface AliveMessage {
  dreamgym: 'alive';
}

export const isBoot = (data: unknown): data is BootMessage => marked(data) === 'boot';
export const isAlive = (data: unknown): data is AliveMessage => marked(data) === 'alive';

function marked(data: unknown): unknown {
  return typeof data === 'object' && data !== null && 'dreamgym' in data ? data.dreamgym : null;
}
