import { describe, expect, test } from 'vitest';
import type { Gpu } from '../../src/gpu/device';
import { testGpu } from '../gpu';

/** y[at] = value, y[at + 1] = bits of scale: shows that every dispatch sees its own parameters. */
const source = `
struct Params { at: u32, value: u32, scale: f32 }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
@compute @workgroup_size(1)
fn put() { y[params.at] = params.value; y[params.at + 1u] = bitcast<u32>(params.scale); }`;

async function put(gpu: Gpu) {
  const kernel = gpu.kernel(source, 'put');
  await gpu.ready();
  return kernel;
}

test('more dispatches than one page of parameters holds', async () => {
  const gpu = await testGpu();
  const kernel = await put(gpu);
  const count = gpu.uniforms.slotsPerPage * 2 + 7;
  const y = gpu.alloc(count * 8, 'y');
  const rec = gpu.record('many');
  for (let i = 0; i < count; i++) rec.dispatch(kernel, [y], [1], [2 * i, i + 1], [i / 4]);
  rec.submit();
  expect(rec.dispatches).toBe(count);
  const words = await gpu.readU32(y, count * 2);
  const scales = new Float32Array(words.buffer);
  for (let i = 0; i < count; i++) {
    expect(words[2 * i]).toBe(i + 1);
    expect(scales[2 * i + 1]).toBe(i / 4);
  }
  y.release();
});

test('pages are taken back and shared by interleaved recorders', async () => {
  const gpu = await testGpu();
  const kernel = await put(gpu);
  const y = gpu.alloc(64, 'y');
  const a = gpu.record('a');
  const b = gpu.record('b');
  a.dispatch(kernel, [y], [1], [0, 11]);
  b.dispatch(kernel, [y], [1], [2, 22]);
  a.submit();
  a.dispatch(kernel, [y], [1], [4, 33]);
  b.submit();
  a.submit();
  const words = await gpu.readU32(y, 6);
  expect([words[0], words[2], words[4]]).toEqual([11, 22, 33]);
  y.release();
});

test('dispatches, copies and clears run in the order of the recording', async () => {
  const gpu = await testGpu();
  const kernel = await put(gpu);
  const y = gpu.alloc(64, 'y');
  const z = gpu.alloc(64, 'z');
  const rec = gpu.record('order');
  rec.clear(y);
  rec.clear(z);
  rec.dispatch(kernel, [y], [1], [0, 5]);
  rec.copy(y, 0, z, 8, 4);
  rec.dispatch(kernel, [y], [1], [0, 6]);
  rec.submit();
  expect((await gpu.readU32(y, 1))[0]).toBe(6);
  expect([...(await gpu.readU32(z, 4))]).toEqual([0, 0, 5, 0]);
  y.release();
  z.release();
});

test('a part of a buffer can be bound', async () => {
  const gpu = await testGpu();
  const kernel = await put(gpu);
  const y = gpu.upload(new Uint32Array(128), 'y');
  const rec = gpu.record('part');
  rec.dispatch(kernel, [[y, 256, 256]], [1], [1, 9]);
  rec.submit();
  expect((await gpu.readU32(y, 128)).indexOf(9)).toBe(65);
  y.release();
});

test('no workgroup, no work; too many are refused', async () => {
  const gpu = await testGpu();
  const kernel = await put(gpu);
  const y = gpu.alloc(64, 'y');
  const rec = gpu.record('sizes');
  rec.dispatch(kernel, [y], [0], [0, 1]);
  rec.dispatch(kernel, [y], [1, 0], [0, 1]);
  expect(rec.dispatches).toBe(0);
  const limit = gpu.limits.maxComputeWorkgroupsPerDimension;
  for (const groups of [[limit + 1], [1, limit + 1], [1, 1, limit + 1]] as [number, number?, number?][]) {
    expect(() => rec.dispatch(kernel, [y], groups, [0, 1])).toThrow(
      expect.objectContaining({ code: 'dispatch-too-large' }),
    );
  }
  rec.submit();
  await gpu.finish();
  y.release();
});

describe('timing', () => {
  test.each(['passes', 'kernels'] as const)('%s are timed when asked for and available', async (profiling) => {
    const gpu = await testGpu();
    const kernel = await put(gpu);
    const y = gpu.alloc(64, 'y');
    const run = async () => {
      const rec = gpu.record('timed');
      for (let i = 0; i < 1500; i++) {
        rec.dispatch(kernel, [y], [16], [0, i]);
        if (i % 500 === 0) rec.clear(y, 0, 4); // ends the pass
      }
      rec.submit();
      await gpu.finish();
    };
    await run();
    expect(gpu.takeGpuTimes().size).toBe(0);
    gpu.profiling = profiling;
    await run();
    gpu.profiling = 'off';
    const times = gpu.takeGpuTimes();
    if (gpu.features.includes('timestamp-query')) {
      const name = profiling === 'passes' ? 'timed' : 'put';
      expect([...times.keys()]).toEqual([name]);
      expect(times.get(name)).toBeGreaterThan(0);
      expect(times.get(name)).toBeLessThan(30e9);
    } else {
      expect(times.size).toBe(0);
    }
    expect(gpu.takeGpuTimes().size).toBe(0);
    y.release();
  });
});

test('long recordings are sent in pieces of bounded work', async () => {
  const gpu = await testGpu();
  const kernel = await put(gpu);
  const y = gpu.alloc(64, 'y');
  const rec = gpu.record('paced');
  let submissions = 0;
  const submit = rec.submit.bind(rec);
  rec.submit = () => {
    submissions++;
    submit();
  };
  for (let i = 0; i < 10; i++) {
    rec.work(gpu.workPerSubmit * 0.4);
    rec.dispatch(kernel, [y], [1], [0, i]);
  }
  rec.submit();
  expect(submissions).toBe(5);
  expect((await gpu.readU32(y, 1))[0]).toBe(9);
  y.release();
});
