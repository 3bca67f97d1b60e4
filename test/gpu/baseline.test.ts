/**
 * @file Portable first: on a device with WebGPU's default limits and no optional feature every kernel compiles and the
 * self-test passes. The test machine's own adapter offers more and would hide a kernel that asks for too much.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import { nodeGpu } from '../../src/cli/node-gpu';
import { halfCacheChecks } from '../../src/gpu/checks/half-cache-checks';
import { type Gpu, openGpu } from '../../src/gpu/device';
import { runChecks, runSelfTest } from '../../src/gpu/self-test';
import { testGpu } from '../gpu';

/** Defaults of the WebGPU specification, as far as the engine asks for limits. */
const defaults = {
  maxBufferSize: 268_435_456,
  maxStorageBufferBindingSize: 134_217_728,
  maxComputeWorkgroupStorageSize: 16_384,
  maxComputeInvocationsPerWorkgroup: 256,
  maxComputeWorkgroupSizeX: 256,
  maxComputeWorkgroupSizeY: 256,
  maxComputeWorkgroupsPerDimension: 65_535,
  maxStorageBuffersPerShaderStage: 8,
};

let gpu: Gpu;

beforeAll(async () => {
  await testGpu(); // chooses the driver
  const dawn = await nodeGpu();
  const modest = {
    async requestAdapter(options?: GPURequestAdapterOptions) {
      const adapter = await dawn.requestAdapter(options);
      return (
        adapter && {
          features: new Set(),
          limits: defaults,
          info: adapter.info,
          requestDevice: (descriptor: GPUDeviceDescriptor) => adapter.requestDevice(descriptor),
        }
      );
    },
  };
  gpu = await openGpu(modest as unknown as GPU);
});

test('the device is as modest as meant', () => {
  expect(gpu.limits).toEqual(defaults);
  for (const feature of ['shader-f16', 'subgroups', 'timestamp-query']) expect(gpu.features).not.toContain(feature);
});

const shaders = import.meta.glob<string>('../../shaders/*.wgsl', { query: '?raw', import: 'default', eager: true });
const named = Object.entries(shaders).map(([path, text]) => [path.replace(/.*\/|\.wgsl/g, ''), text] as const);
/** What other shaders are made of; they have no kernel of their own. */
const parts = ['quantised-block', 'key-value', 'key-value-half'];
const portable = named.filter(([name]) => !parts.includes(name) && !name.endsWith('-subgroup'));
const textOf = (name: string) => new Map(named).get(name);

/** What a launcher puts in front of a shader: the largest heads and tiles we expect, a mask that asks for its buffer. */
const quantised = `const BITS = 4u;\nconst SINGLE = true;\nconst TILE = 16u;\n${textOf('quantised-block')}`;
const mask = `@group(0) @binding(6) var<storage, read> mask: array<u32>;
fn allowed(row: u32, i: u32) -> bool { return mask[row + i / 32u] != 0u; }\n`;
const prefixes: Record<string, string> = {
  attention: `const HEAD4 = 32u;\nconst GROUP = 2u;\n${textOf('key-value')}`,
  sampler: mask,
  'sampler-wide': mask,
  'quantised-forward': quantised,
  'quantised-backward': quantised,
  'quantised-unpack': quantised,
};

describe('compiles', () => {
  test.each(portable)('%s', async (name, text) => {
    const entries = [...text.matchAll(/@compute[^{]*?\bfn (\w+)/g)].map((match) => match[1]);
    expect(entries.length).toBeGreaterThan(0);
    const kernels = entries.map((entry) => gpu.kernel((prefixes[name] ?? '') + text, entry));
    await gpu.ready();
    for (const kernel of kernels) expect(kernel.pipeline).not.toBeNull();
  });
});

test('a cache in half precision needs no optional feature either', async () => {
  expect((await runChecks(gpu, halfCacheChecks())).filter(({ ok }) => !ok)).toEqual([]);
});

test('the self-test passes without any optional feature', async () => {
  expect((await runSelfTest(gpu)).filter(({ ok }) => !ok)).toEqual([]);
});
