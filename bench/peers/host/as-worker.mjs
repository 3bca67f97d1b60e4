/** @file tfjs decides by globals where it runs, and its bundle for browsers cannot run as "Node": there it poses as a worker. */
if (typeof process !== 'undefined') Object.assign(globalThis, { WorkerGlobalScope: class {} });
