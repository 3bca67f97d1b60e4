/**
 * @file The adapter, the device and everything that is done through it: allocate, compile, record, submit, read back.
 *
 * Limits are raised to what the adapter offers; optional features are taken when present and never required.
 * Validation errors and lost devices become typed errors instead of silent nonsense.
 */
import { DreamError } from '../data/errors';
import { BufferPool, type GpuBuffer } from './buffers';
import { type Kernel, KernelCache } from './kernels';
import { Recorder, UniformArena } from './recorder';

/** Optional features we know how to use; each fast path is gated by a numeric check besides. */
const wishedFeatures: GPUFeatureName[] = ['timestamp-query', 'shader-f16', 'subgroups'];

const wishedLimits = [
  'maxBufferSize',
  'maxStorageBufferBindingSize',
  'maxComputeWorkgroupStorageSize',
  'maxComputeInvocationsPerWorkgroup',
  'maxComputeWorkgroupSizeX',
  'maxComputeWorkgroupSizeY',
  'maxComputeWorkgroupsPerDimension',
  'maxStorageBuffersPerShaderStage',
] as const;

export interface OpenOptions {
  /** Leave these out although the adapter has them (tests of the baseline). */
  without?: readonly GPUFeatureName[];
}

export class Gpu {
  readonly memory: BufferPool;
  readonly kernels: KernelCache;
  readonly uniforms: UniformArena;
  /** Set once the device is gone. */
  lostInfo: GPUDeviceLostInfo | null = null;
  /** 'passes' times every compute pass, 'kernels' every dispatch by name (slower: each gets a pass of its own). */
  profiling: 'off' | 'passes' | 'kernels' = 'off';
  /** Nanoseconds of GPU time by kernel name (or pass label) while profiling. */
  readonly gpuTimes = new Map<string, number>();
  /** Floating-point operations recorded before a submission is sent, so that none runs for more than ~100 ms. */
  workPerSubmit: number;
  private failure: DreamError | null = null;
  private readonly inFlight: Promise<undefined>[] = [];
  private readonly staging = new Map<number, GPUBuffer[]>();

  constructor(
    readonly device: GPUDevice,
    readonly adapterName: string,
    readonly isSoftware: boolean,
    readonly features: string[],
    readonly limits: Record<string, number>,
    /** Smallest subgroup the adapter may use; 0 when unknown. */
    readonly subgroupMinSize = 0,
  ) {
    this.workPerSubmit = isSoftware ? 3e8 : 1e10;
    this.memory = new BufferPool(device, Math.min(limits.maxBufferSize, limits.maxStorageBufferBindingSize));
    this.kernels = new KernelCache(device);
    this.uniforms = new UniformArena(device);
    device.lost.then((info) => {
      this.lostInfo = info;
    });
    device.addEventListener?.('uncapturederror', (event) => {
      this.failure ??= new DreamError(
        'gpu-validation',
        `The GPU refused a command: ${(event as GPUUncapturedErrorEvent).error.message}`,
        'This is a defect in the program or the driver; please report the message and your adapter.',
      );
    });
  }

  get lost(): Promise<GPUDeviceLostInfo> {
    return this.device.lost;
  }

  /** Bytes held on the device now. */
  get bytesAllocated(): number {
    return this.memory.bytesAllocated;
  }

  alloc(bytes: number, label: string): GpuBuffer {
    return this.memory.alloc(bytes, label);
  }

  /** Uploads typed data into a new buffer. */
  upload(data: Float32Array | Uint32Array | Int32Array, label: string): GpuBuffer {
    const buffer = this.alloc(Math.max(4, data.byteLength), label);
    if (data.byteLength > 0) this.write(buffer, data);
    return buffer;
  }

  write(target: GpuBuffer, data: Float32Array | Uint32Array | Int32Array, byteOffset = 0): void {
    this.device.queue.writeBuffer(target.use(), byteOffset, data.buffer, data.byteOffset, data.byteLength);
  }

  /** Compiles (once) the entry point of a shader; `await gpu.ready()` before the first dispatch. */
  kernel(source: string, entry: string, constants?: Record<string, number>): Kernel {
    return this.kernels.get(source, entry, constants);
  }

  /** Resolves when every kernel asked for so far is compiled. */
  async ready(): Promise<void> {
    await this.kernels.ready();
    this.assertHealthy();
  }

  record(label: string): Recorder {
    this.assertHealthy();
    return new Recorder(this, label);
  }

  /** Called by the recorder. Keeps a few submissions in flight so that the queue is neither empty nor endless. */
  noteSubmission(timing: Promise<ReadonlyMap<string, number>> | null): void {
    const timed = timing?.then((times) => {
      for (const [label, nanoseconds] of times) this.gpuTimes.set(label, (this.gpuTimes.get(label) ?? 0) + nanoseconds);
    });
    // A lost device rejects these; `assertHealthy` says so in better words.
    const done = Promise.all([this.device.queue.onSubmittedWorkDone(), timed]);
    this.inFlight.push(
      done.then(
        () => undefined,
        () => undefined,
      ),
    );
  }

  /** Waits while more than `limit` submissions are unfinished. */
  async throttle(limit = 8): Promise<void> {
    while (this.inFlight.length > limit) await this.inFlight.shift();
    this.assertHealthy();
  }

  /** Waits for all submitted work and reports what went wrong in it. */
  async finish(): Promise<void> {
    await this.throttle(0);
    await this.memory.settle();
    this.assertHealthy();
  }

  /** GPU nanoseconds by name since the last call; empty unless `profiling` is on and timestamp queries are available. */
  takeGpuTimes(): Map<string, number> {
    const times = new Map(this.gpuTimes);
    this.gpuTimes.clear();
    return times;
  }

  /** Copies bytes back to the CPU: the only place where the CPU waits for the GPU. */
  async read(source: GpuBuffer, bytes = source.bytes, byteOffset = 0): Promise<ArrayBuffer> {
    this.assertHealthy();
    const size = Math.max(16, 2 ** Math.ceil(Math.log2(Math.max(4, bytes))));
    const staging =
      this.staging.get(size)?.pop() ?? this.device.createBuffer({ label: 'staging', size, usage: 0x1 | 0x8 }); // MAP_READ | COPY_DST
    const encoder = this.device.createCommandEncoder();
    encoder.copyBufferToBuffer(source.use(), byteOffset, staging, 0, Math.ceil(bytes / 4) * 4);
    this.device.queue.submit([encoder.finish()]);
    try {
      await staging.mapAsync(0x1, 0, Math.ceil(bytes / 4) * 4);
    } catch (cause) {
      this.assertHealthy();
      throw new DreamError('gpu-read', 'The GPU could not return its results.', 'Reload the page and resume.', {
        cause,
      });
    }
    const result = staging.getMappedRange(0, Math.ceil(bytes / 4) * 4).slice(0, bytes);
    staging.unmap();
    const bin = this.staging.get(size);
    if (bin) bin.push(staging);
    else this.staging.set(size, [staging]);
    await this.memory.settle();
    this.assertHealthy();
    return result;
  }

  async readF32(source: GpuBuffer, count = source.bytes / 4, offset = 0): Promise<Float32Array> {
    return new Float32Array(await this.read(source, count * 4, offset * 4));
  }

  async readU32(source: GpuBuffer, count = source.bytes / 4, offset = 0): Promise<Uint32Array> {
    return new Uint32Array(await this.read(source, count * 4, offset * 4));
  }

  /** Throws `gpu-lost` or the first validation error. */
  assertHealthy(): void {
    if (this.lostInfo) {
      throw new DreamError(
        'gpu-lost',
        `The GPU device was lost (${this.lostInfo.reason || 'unknown reason'}). ${this.lostInfo.message}`.trim(),
        'The run continues from its last finished iteration when the device is opened again.',
      );
    }
    if (this.failure) {
      const failure = this.failure;
      this.failure = null;
      throw failure;
    }
  }

  destroy(): void {
    this.device.destroy();
  }
}

/**
 * Opens the best adapter. Throws `webgpu-missing`, `no-adapter` or `weak-limits` with advice.
 * `gpu` is `navigator.gpu` in a page or worker and Dawn's instance in Node.
 */
export async function openGpu(gpu: GPU | undefined, options: OpenOptions = {}): Promise<Gpu> {
  if (!gpu) {
    throw new DreamError(
      'webgpu-missing',
      'This browser has no WebGPU here.',
      'Use a current Chrome, Edge, Firefox or Safari over https:// or from localhost.',
    );
  }
  const adapter = await gpu.requestAdapter({ powerPreference: 'high-performance' });
  if (!adapter) {
    throw new DreamError(
      'no-adapter',
      'WebGPU is present but no graphics adapter is offered.',
      'Update the graphics driver, close remote-desktop sessions, or check that hardware acceleration is on.',
    );
  }
  const features = wishedFeatures.filter((name) => adapter.features.has(name) && !options.without?.includes(name));
  const requiredLimits: Record<string, number> = {};
  for (const name of wishedLimits) {
    const value = adapter.limits[name];
    if (typeof value === 'number') requiredLimits[name] = value;
  }
  if (adapter.limits.maxStorageBuffersPerShaderStage < 8 || adapter.limits.maxComputeInvocationsPerWorkgroup < 256) {
    throw new DreamError(
      'weak-limits',
      'This adapter offers less than the smallest WebGPU limits we can work with.',
      'Watch the recorded run here, and train on another machine.',
    );
  }
  const device = await adapter.requestDevice({ requiredFeatures: features, requiredLimits });
  const info = adapter.info;
  const name =
    [info.vendor, info.architecture, info.device, info.description].filter(Boolean).join(' ') || 'unknown adapter';
  const software = info.isFallbackAdapter === true || /swiftshader|llvmpipe|lavapipe|software|cpu/i.test(name);
  const limits: Record<string, number> = {};
  for (const limit of wishedLimits) limits[limit] = device.limits[limit];
  return new Gpu(device, name, software, [...device.features].map(String).sort(), limits, info.subgroupMinSize ?? 0);
}
