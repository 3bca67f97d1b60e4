/**
 * @file WebGPU in Node for code written for browsers: Dawn behind `navigator.gpu`, the same for every contestant.
 * Import it before the contestant: some look for WebGPU while they are loaded.
 */
import { create, globals } from 'webgpu';
import './iterator-helpers.mjs';

Object.assign(globalThis, globals);
// As src/cli/node-gpu.ts does for our engine, and for the same reason: Dawn's busy polling takes a core of those on which
// a software adapter computes. All contestants get it.
globalThis.setImmediate = /** @type {typeof setImmediate} */ (
  /** @type {unknown} */ (
    (/** @type {() => void} */ callback, /** @type {unknown[]} */ ...args) => setTimeout(callback, 1, ...args)
  )
);
const gpu = create([]);
Object.defineProperty(globalThis, 'navigator', {
  value: { gpu, userAgent: `Node ${process.versions.node}`, hardwareConcurrency: 1 },
  configurable: true,
});

const adapter = await gpu.requestAdapter({ powerPreference: 'high-performance' });
if (!adapter) throw new Error('Dawn found no adapter.');
const { vendor, architecture, device, description } = adapter.info;
export const adapterName = description || [vendor, architecture, device].filter(Boolean).join(' ');
