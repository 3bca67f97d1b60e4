/**
 * @file Byte-counted, pooled GPU buffers.
 *
 * WebGPU tells nobody how much memory is left (gpuweb#5505), so the engine counts what it takes: `bytesAllocated` is the
 * truth behind every memory figure we show. Released buffers wait in exact-size bins; using one after release throws
 * here instead of computing with somebody else's numbers.
 */
import { DreamError } from '../data/errors';

/** Released buffers of more than this in all are given back to the device between phases of an iteration. */
export const IDLE_BYTES = 256 * 2 ** 20;

const USAGE_STORAGE = 0x80 | 0x4 | 0x8; // STORAGE | COPY_SRC | COPY_DST, by value: Node has no GPUBufferUsage global until Dawn loads

export class GpuBuffer {
  alive = true;
  constructor(
    private readonly pool: BufferPool,
    readonly buffer: GPUBuffer,
    /** Usable bytes, as asked for. */
    readonly bytes: number,
    /** Bytes held on the device (rounded up). */
    readonly capacity: number,
    readonly label: string,
  ) {}

  /** The buffer, or a typed error when it was released before. */
  use(): GPUBuffer {
    if (!this.alive) {
      throw new DreamError(
        'use-after-release',
        `GPU buffer "${this.label}" was used after release.`,
        'This is a defect in the program; please report the message.',
      );
    }
    return this.buffer;
  }

  /** Gives the memory back to the pool. */
  release(): void {
    if (!this.alive) return;
    this.alive = false;
    this.pool.recycle(this);
  }
}

/** Bytes the pool holds for a buffer of `bytes`. */
export function pooledBytes(bytes: number, maxBufferBytes = Number.POSITIVE_INFINITY): number {
  // Sixteen sizes per power of two keep waste under 7 % while letting ragged batches share bins.
  const step = Math.max(256, 2 ** (Math.floor(Math.log2(Math.max(1, bytes))) - 4));
  const rounded = Math.max(256, Math.ceil(bytes / step) * step);
  // Rounding up must not push a buffer over the limit that its contents respect.
  return rounded > maxBufferBytes ? Math.ceil(bytes / 4) * 4 : rounded;
}

export class BufferPool {
  /** Bytes held on the device now, pooled ones included. */
  bytesAllocated = 0;
  bytesPeak = 0;
  /** Bytes in use by live buffers. */
  bytesInUse = 0;
  private readonly free = new Map<number, GPUBuffer[]>();
  /** Buffers the device could not provide; they must never be handed out again. */
  private readonly failed = new WeakSet<GPUBuffer>();
  private readonly pendingScopes: Promise<void>[] = [];
  private outOfMemory: DreamError | null = null;

  constructor(
    private readonly device: GPUDevice,
    private readonly maxBufferBytes: number,
  ) {}

  /** A zero-or-garbage storage buffer of at least `bytes`. Kernels must write what they later read. */
  alloc(bytes: number, label: string): GpuBuffer {
    const capacity = pooledBytes(bytes, this.maxBufferBytes);
    if (capacity > this.maxBufferBytes) {
      throw new DreamError(
        'gpu-buffer-too-large',
        `"${label}" needs ${capacity} bytes in one buffer; this device allows ${this.maxBufferBytes}.`,
        'Choose a smaller batch, context or model.',
      );
    }
    this.bytesInUse += capacity;
    const pooled = this.free.get(capacity)?.pop();
    if (pooled) return new GpuBuffer(this, pooled, bytes, capacity, label);
    this.device.pushErrorScope('out-of-memory');
    const buffer = this.device.createBuffer({ label, size: capacity, usage: USAGE_STORAGE });
    this.pendingScopes.push(
      this.device.popErrorScope().then(
        (error) => {
          if (error) this.noteFailure(buffer, capacity, label);
        },
        () => {}, // the device is gone, which is reported elsewhere
      ),
    );
    this.bytesAllocated += capacity;
    this.bytesPeak = Math.max(this.bytesPeak, this.bytesAllocated);
    return new GpuBuffer(this, buffer, bytes, capacity, label);
  }

  private noteFailure(buffer: GPUBuffer, capacity: number, label: string): void {
    this.failed.add(buffer);
    this.bytesAllocated -= capacity;
    const bin = this.free.get(capacity);
    const at = bin?.indexOf(buffer) ?? -1;
    if (bin && at >= 0) bin.splice(at, 1);
    this.outOfMemory = new DreamError(
      'gpu-out-of-memory',
      `The GPU has no room for "${label}" (${Math.round(capacity / 2 ** 20)} MiB more).`,
      'Close other tabs that use the GPU, or choose fewer parallel episodes.',
    );
  }

  recycle(entry: GpuBuffer): void {
    this.bytesInUse -= entry.capacity;
    if (this.failed.has(entry.buffer)) return;
    const bin = this.free.get(entry.capacity);
    if (bin) bin.push(entry.buffer);
    else this.free.set(entry.capacity, [entry.buffer]);
  }

  /** Destroys pooled buffers; live ones stay. */
  trim(): void {
    for (const [capacity, bin] of this.free) {
      for (const buffer of bin) buffer.destroy();
      this.bytesAllocated -= capacity * bin.length;
    }
    this.free.clear();
  }

  /** `trim`, where more than `bytes` lie idle. Not while something is being recorded: that may still use them. */
  trimAbove(bytes: number): void {
    if (this.bytesAllocated - this.bytesInUse > bytes) this.trim();
  }

  /** Resolves when all allocations so far are known to have succeeded; throws `gpu-out-of-memory` otherwise. */
  async settle(): Promise<void> {
    const scopes = this.pendingScopes.splice(0);
    if (scopes.length > 0) await Promise.all(scopes);
    if (this.outOfMemory) {
      const error = this.outOfMemory;
      this.outOfMemory = null;
      this.trim();
      throw error;
    }
  }
}
