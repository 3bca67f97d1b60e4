import { expect, test } from 'vitest';
import { ownGpu, testGpu } from '../gpu';

const good = (value: number) => `
struct Params { n: u32 }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
@compute @workgroup_size(64)
fn fill(@builtin(global_invocation_id) id: vec3u) { if (id.x < params.n) { y[id.x] = ${value}u; } }`;

test('same text, same pipeline', async () => {
  const gpu = await testGpu();
  expect(gpu.kernel(good(1), 'fill')).toBe(gpu.kernel(good(1), 'fill'));
  expect(gpu.kernel(good(1), 'fill')).not.toBe(gpu.kernel(good(2), 'fill'));
  await gpu.ready();
});

test('a shader that does not compile: typed, with line and kernel, once', async () => {
  const gpu = await ownGpu();
  gpu.kernel('fn broken(', 'matmul_new');
  const neighbour = gpu.kernel(good(3), 'fill');
  await new Promise((resolve) => setTimeout(resolve, 20)); // the failure waits for somebody to ask
  await expect(gpu.ready()).rejects.toMatchObject({
    code: 'kernel-compile',
    message: expect.stringMatching(/"matmul_new".*1:11/s),
  });
  expect(neighbour.pipeline).not.toBeNull();
  await gpu.ready();
  gpu.assertHealthy();
  // Asking again tries again instead of handing out the ruin.
  gpu.kernel('fn broken(', 'matmul_new');
  await expect(gpu.ready()).rejects.toMatchObject({ code: 'kernel-compile' });
  gpu.destroy();
});

test('a missing entry point is a compile error too', async () => {
  const gpu = await ownGpu();
  gpu.kernel(good(1), 'other');
  await expect(gpu.ready()).rejects.toMatchObject({ code: 'kernel-compile' });
  gpu.destroy();
});

test('dispatched before it is compiled', async () => {
  const gpu = await testGpu();
  const kernel = gpu.kernel(good(77), 'fill');
  const y = gpu.alloc(256, 'y');
  expect(() => gpu.record('x').dispatch(kernel, [y], [1], [1])).toThrow(
    expect.objectContaining({ code: 'kernel-not-ready' }),
  );
  y.release();
  await gpu.ready();
});
