import { describe, expect, test } from 'vitest';
import { openGpu } from '../../src/gpu/device';
import { ownGpu, testGpu } from '../gpu';

test('what is written comes back', async () => {
  const gpu = await testGpu();
  const data = Float32Array.from({ length: 1000 }, (_, i) => i / 3);
  const buffer = gpu.upload(data, 'numbers');
  expect(await gpu.readF32(buffer, data.length)).toEqual(data);
});

test('parts come back, several at once', async () => {
  const gpu = await testGpu();
  const buffer = gpu.upload(
    Uint32Array.from({ length: 500 }, (_, i) => i * i),
    'squares',
  );
  gpu.write(buffer, Uint32Array.of(7, 8), 40);
  const [whole, part, one] = await Promise.all([
    gpu.readU32(buffer, 500),
    gpu.readU32(buffer, 3, 9),
    gpu.read(buffer, 4, 0),
  ]);
  expect(whole[499]).toBe(499 * 499);
  expect([...part]).toEqual([81, 7, 8]);
  expect(one.byteLength).toBe(4);
  buffer.release();
});

describe('opening', () => {
  const adapter = (limits: Record<string, number>) =>
    ({ requestAdapter: async () => ({ features: new Set(), limits }) }) as unknown as GPU;

  test('no WebGPU', async () => {
    await expect(openGpu(undefined)).rejects.toMatchObject({ code: 'webgpu-missing' });
  });

  test('no adapter', async () => {
    await expect(openGpu({ requestAdapter: async () => null } as unknown as GPU)).rejects.toMatchObject({
      code: 'no-adapter',
    });
  });

  test('weak limits', async () => {
    for (const limits of [
      { maxStorageBuffersPerShaderStage: 4, maxComputeInvocationsPerWorkgroup: 256 },
      { maxStorageBuffersPerShaderStage: 8, maxComputeInvocationsPerWorkgroup: 128 },
    ]) {
      await expect(openGpu(adapter(limits))).rejects.toMatchObject({ code: 'weak-limits' });
    }
  });

  test('optional features can be left out', async () => {
    const gpu = await ownGpu({ without: ['shader-f16', 'subgroups', 'timestamp-query'] });
    for (const name of ['shader-f16', 'subgroups', 'timestamp-query']) expect(gpu.features).not.toContain(name);
    expect(gpu.adapterName).not.toBe('');
    gpu.destroy();
  });
});

describe('a lost device', () => {
  test('is typed everywhere, and nothing is left unhandled', async () => {
    const unhandled: unknown[] = [];
    const listener = (reason: unknown) => unhandled.push(reason);
    process.on('unhandledRejection', listener);
    const gpu = await ownGpu();
    const buffer = gpu.upload(new Float32Array(1000), 'x');
    const rec = gpu.record('work');
    rec.clear(buffer);
    rec.submit();
    const lost = expect.objectContaining({ code: 'gpu-lost' });
    const reading = expect(gpu.read(buffer)).rejects.toEqual(lost);
    gpu.destroy();
    await reading;
    expect((await gpu.lost).reason).toBe('destroyed');
    expect(gpu.lostInfo?.reason).toBe('destroyed');
    expect(() => gpu.record('more')).toThrow(lost);
    expect(() => gpu.assertHealthy()).toThrow(lost);
    await expect(gpu.read(buffer)).rejects.toEqual(lost);
    await expect(gpu.finish()).rejects.toEqual(lost);
    await expect(gpu.ready()).rejects.toEqual(lost);
    await new Promise((resolve) => setTimeout(resolve, 20));
    process.off('unhandledRejection', listener);
    expect(unhandled).toEqual([]);
  });

  test('a second device works after the first was lost', async () => {
    const first = await ownGpu();
    first.destroy();
    const second = await ownGpu();
    const buffer = second.upload(Float32Array.of(3), 'x');
    expect([...(await second.readF32(buffer, 1))]).toEqual([3]);
    second.destroy();
  });
});

test('a command the GPU refuses becomes one typed error', async () => {
  const gpu = await ownGpu();
  const small = gpu.upload(Float32Array.of(1), 'small');
  const large = gpu.upload(new Float32Array(10_000), 'large');
  const rec = gpu.record('too long a copy');
  rec.copy(small, 0, large, 0, 40_000);
  rec.submit();
  await expect(gpu.finish()).rejects.toMatchObject({ code: 'gpu-validation' });
  await gpu.finish();
  gpu.destroy();
});
