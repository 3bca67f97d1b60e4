import { describe, expect, test } from 'vitest';
import { BufferPool } from '../../src/gpu/buffers';
import { ownGpu, testGpu } from '../gpu';

/** A device of nothing but bookkeeping; `full` decides which allocation fails. */
function fakeDevice(full: (size: number) => boolean) {
  const live = new Set<object>();
  let failing = false;
  const device = {
    pushErrorScope() {},
    async popErrorScope() {
      return failing ? { message: 'out of memory' } : null;
    },
    createBuffer({ size }: { size: number }) {
      failing = full(size);
      const buffer = { size, destroy: () => live.delete(buffer) };
      live.add(buffer);
      return buffer;
    },
  };
  return { device: device as unknown as GPUDevice, live };
}

describe('accounting', () => {
  test('bytes follow alloc, release, reuse and trim', () => {
    const { device, live } = fakeDevice(() => false);
    const pool = new BufferPool(device, 2 ** 27);
    const a = pool.alloc(1000, 'a');
    const b = pool.alloc(5000, 'b');
    expect(a.bytes).toBe(1000);
    expect(a.capacity).toBeGreaterThanOrEqual(1000);
    const both = a.capacity + b.capacity;
    expect([pool.bytesAllocated, pool.bytesInUse, pool.bytesPeak]).toEqual([both, both, both]);

    a.release();
    expect([pool.bytesAllocated, pool.bytesInUse]).toEqual([both, b.capacity]);
    const again = pool.alloc(900, 'again');
    expect(again.buffer).toBe(a.buffer);
    expect(live.size).toBe(2);
    expect([pool.bytesAllocated, pool.bytesInUse]).toEqual([both, both]);

    again.release();
    pool.trim();
    expect([pool.bytesAllocated, pool.bytesInUse, pool.bytesPeak]).toEqual([b.capacity, b.capacity, both]);
    expect(live.size).toBe(1);
    expect(b.use()).toBe(b.buffer);
  });

  test('rounding wastes little and makes ragged sizes share', () => {
    const pool = new BufferPool(fakeDevice(() => false).device, 2 ** 30);
    for (const bytes of [1, 255, 256, 257, 4096, 5001, 1_000_003, 123_456_789]) {
      const { capacity } = pool.alloc(bytes, 'x');
      expect(capacity % 4).toBe(0);
      expect(capacity).toBeGreaterThanOrEqual(bytes);
      expect(capacity).toBeLessThanOrEqual(Math.max(bytes + 256, bytes * 1.07));
    }
    expect(pool.alloc(1_000_003, 'y').capacity).toBe(pool.alloc(1_000_900, 'z').capacity);
  });

  test('releasing twice counts once', () => {
    const pool = new BufferPool(fakeDevice(() => false).device, 2 ** 27);
    const a = pool.alloc(100, 'a');
    a.release();
    a.release();
    expect(pool.bytesInUse).toBe(0);
    expect(pool.alloc(100, 'b').buffer).not.toBe(pool.alloc(100, 'c').buffer);
  });
});

test('use after release is refused by name', () => {
  const pool = new BufferPool(fakeDevice(() => false).device, 2 ** 27);
  const a = pool.alloc(100, 'gradients');
  a.release();
  expect(() => a.use()).toThrow(expect.objectContaining({ code: 'use-after-release' }));
  expect(() => a.use()).toThrow('gradients');
});

test('the engine refuses a released buffer wherever it is used', async () => {
  const gpu = await testGpu();
  const a = gpu.upload(Float32Array.of(1), 'a');
  const b = gpu.upload(Float32Array.of(1), 'b');
  a.release();
  const refused = expect.objectContaining({ code: 'use-after-release' });
  expect(() => gpu.write(a, Float32Array.of(2))).toThrow(refused);
  expect(() => gpu.record('x').copy(a, 0, b, 0, 4)).toThrow(refused);
  await expect(gpu.read(a)).rejects.toEqual(refused);
  b.release();
});

test('more than one binding may hold is refused before it is asked for', async () => {
  const gpu = await testGpu();
  const limit = Math.min(gpu.limits.maxBufferSize, gpu.limits.maxStorageBufferBindingSize);
  const before = gpu.bytesAllocated;
  expect(() => gpu.alloc(limit + 4, 'everything')).toThrow(expect.objectContaining({ code: 'gpu-buffer-too-large' }));
  expect(gpu.bytesAllocated).toBe(before);
});

test('a limit that is no round number can be used to its last byte', () => {
  const limit = 2 ** 31 - 4;
  const pool = new BufferPool(fakeDevice(() => false).device, limit);
  expect(pool.alloc(limit, 'weights').capacity).toBe(limit);
});

describe('out of memory', () => {
  test('is typed, forgets the failed buffer, and leaves the pool usable', async () => {
    const { device } = fakeDevice((size) => size > 10_000);
    const pool = new BufferPool(device, 2 ** 27);
    const small = pool.alloc(1000, 'small');
    await pool.settle();
    const large = pool.alloc(20_000, 'key-value cache');
    await expect(pool.settle()).rejects.toMatchObject({
      code: 'gpu-out-of-memory',
      message: expect.stringContaining('key-value cache'),
    });
    expect(pool.bytesAllocated).toBe(small.capacity);
    large.release();
    expect(pool.bytesInUse).toBe(small.capacity);
    // What the device never gave must not come back from the pool.
    expect(pool.alloc(20_000, 'next').buffer).not.toBe(large.buffer);
    await expect(pool.settle()).rejects.toMatchObject({ code: 'gpu-out-of-memory' });
    pool.alloc(1000, 'fits');
    await pool.settle();
  });

  test('a failed buffer that was released first does not come back either', async () => {
    const pool = new BufferPool(fakeDevice((size) => size > 10_000).device, 2 ** 27);
    const large = pool.alloc(20_000, 'large');
    large.release();
    await expect(pool.settle()).rejects.toMatchObject({ code: 'gpu-out-of-memory' });
    expect(pool.bytesAllocated).toBe(0);
    expect(pool.alloc(20_000, 'next').buffer).not.toBe(large.buffer);
    await pool.settle().catch(() => {});
  });

  test('settles quietly when the device is gone', async () => {
    const gpu = await ownGpu();
    gpu.destroy();
    await gpu.lost;
    gpu.alloc(1024, 'late');
    await gpu.memory.settle();
  });
});
