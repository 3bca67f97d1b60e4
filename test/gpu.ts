/** @file One real device for all tests of a file: the engine on Dawn, opened as the program opens it. */
import { nodeGpu } from '../src/cli/node-gpu';
import { type Gpu, type OpenOptions, openGpu } from '../src/gpu/device';

let shared: Promise<Gpu> | undefined;

/** The process' shared device. Rejects when this machine has no driver: a kernel test without a GPU proves nothing. */
export function testGpu(): Promise<Gpu> {
  shared ??= open();
  return shared;
}

/** A device of one's own, for tests that lose or break it. */
export function ownGpu(options?: OpenOptions): Promise<Gpu> {
  return open(options);
}

async function open(options?: OpenOptions): Promise<Gpu> {
  // `npm test` has chosen already; `npx vitest` by hand has not.
  if (!process.env.DREAM_GPU_DRIVER) {
    const { findGpuDriver } = await import('../scripts/find-gpu-driver.mjs');
    const driver = await findGpuDriver({ install: false, quiet: true });
    Object.assign(process.env, driver.env);
  }
  return openGpu(await nodeGpu(), options);
}
