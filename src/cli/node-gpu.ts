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
