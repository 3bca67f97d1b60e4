/**
 * @file WebGPU in Node: Dawn, the implementation inside Chrome, from the npm package `webgpu`.
 *
 * Which driver Dawn finds is decided before it is loaded, by the environment (scripts/find-gpu-driver.mjs).
 */
import { DreamError } from '../data/errors';

let instance: Promise<GPU> | undefined;

/** The process' one Dawn instance, with the WebGPU globals installed. Throws `webgpu-missing`. End with process.exit: Dawn holds the process. */
export function nodeGpu(): Promise<GPU> {
  instance ??= load();
  return instance;
}

async function load(): Promise<GPU> {
  try {
    const { create, globals } = await import('webgpu');
    Object.assign(globalThis, globals);
    pollGently();
    return create([]);
  } catch (cause) {
    throw new DreamError(
      'webgpu-missing',
      `Dawn (the npm package "webgpu") could not be loaded on ${process.platform}-${process.arch}.`,
      'Run npm ci again; Dawn exists for Linux, macOS and Windows on x64 and arm64.',
      { cause },
    );
  }
}

/**
 * While work is under way Dawn asks for its events through the global setImmediate: a busy loop that takes one core, half
 * of a two-core machine whose other core *is* the GPU (measured on lavapipe: training 1.9 times slower). A short timer asks
 * nearly as soon and costs nothing.
 */
function pollGently(): void {
  globalThis.setImmediate = ((callback: (...args: unknown[]) => void, ...args: unknown[]) =>
    setTimeout(callback, 1, ...args)) as unknown as typeof setImmediate;
}
