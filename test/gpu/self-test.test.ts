import { describe, expect, test } from 'vitest';
import { assertDevicePasses, falsified, runSelfTest, selfTestNames } from '../../src/gpu/self-test';
import { testGpu } from '../gpu';

test('this device passes, quickly once the kernels are compiled', async () => {
  const gpu = await testGpu();
  const inUse = gpu.memory.bytesInUse;
  const first = await runSelfTest(gpu);
  expect(first.filter((result) => !result.ok)).toEqual([]);
  expect(first.length).toBeGreaterThanOrEqual(12);
  assertDevicePasses(first);
  // The best of three: other test files share the machine's cores.
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 3; round++) {
    const start = performance.now();
    expect(await runSelfTest(gpu)).toEqual(first);
    best = Math.min(best, performance.now() - start);
  }
  expect(best).toBeLessThan(1000);
  expect(gpu.memory.bytesInUse).toBe(inUse);
});

describe('a device with one wrong kernel is refused', () => {
  test.each(selfTestNames())('%s', async (name) => {
    const results = await runSelfTest(await testGpu(), { breakKernel: name });
    expect(results.filter((result) => !result.ok).map((result) => result.name)).toEqual([name]);
    const broken = results.find((result) => result.name === name);
    expect(broken?.maxError).toBeGreaterThan(0);
    expect(broken?.maxError).toBeLessThan(Number.MAX_VALUE); // it ran, and was wrong
    expect(() => assertDevicePasses(results)).toThrow(expect.objectContaining({ code: 'self-test-failed' }));
    expect(() => assertDevicePasses(results)).toThrow(name);
  });
});

test('an unknown name is refused with the list of names', async () => {
  await expect(runSelfTest(await testGpu(), { breakKernel: 'nonsense' })).rejects.toMatchObject({
    code: 'unknown-kernel',
    advice: expect.stringContaining('matmul-nn'),
  });
});

test('falsified changes stores and nothing else', () => {
  const source = `
// y[i] = x[i] is a formula
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
@group(0) @binding(3) var<storage, read_write> z: array<vec2u>;
@group(0) @binding(4) var<storage, read_write> w: array<i32>;
fn f(i: u32) { if (y[i] == x[i]) { y[index[i] + 1u] += x[i]; } z[i].x = i; z[i] = vec2u(i, i); w[i] = -1; let a = y[i]; }`;
  const text = falsified(source);
  expect(text).toContain('if (y[i] == x[i])');
  expect(text).toContain('y[index[i] + 1u] += (x[i]) * 1.0625;');
  expect(text).toContain('z[i].x = (i) + 1u;');
  expect(text).toContain('z[i] = (vec2u(i, i)) + vec2u(1);');
  expect(text).toContain('w[i] = (-1) + i32(1);');
  expect(text).toContain('let a = y[i];');
  expect(text).not.toContain('formula');
});
