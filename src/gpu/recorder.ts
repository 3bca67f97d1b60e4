/**
 * @file Recording and submitting work. One recorder = one command buffer = one bounded piece of GPU time.
 *
 * Small parameters go through one uniform arena that is written once per submission: a writeBuffer per dispatch would
 * cost more than most of our kernels on a tiny model.
 */
import { DreamError } from '../data/errors';
import type { GpuBuffer } from './buffers';
import type { Gpu } from './device';
import type { Kernel } from './kernels';

const SLOT_BYTES = 256; // minUniformBufferOffsetAlignment, default limit
const MAX_PARAMS = SLOT_BYTES / 4;
/** Timed passes per submission; later ones go untimed. */
const MAX_TIMED = 1024;

/** A ring of uniform slots; a recorder takes a contiguous page and never shares it while it is in flight. */
export class UniformArena {
  private readonly pages: GPUBuffer[] = [];
  readonly slotsPerPage = 512;
  constructor(private readonly device: GPUDevice) {}

  take(): GPUBuffer {
    return (
      this.pages.pop() ??
      this.device.createBuffer({ label: 'uniforms', size: this.slotsPerPage * SLOT_BYTES, usage: 0x40 | 0x8 }) // UNIFORM | COPY_DST
    );
  }

  /** Queue order makes reuse right after submit safe: the next writeBuffer runs after this submission. */
  give(page: GPUBuffer): void {
    this.pages.push(page);
  }
}

/** A buffer, or a part of it: [buffer, first byte, bytes]. Offsets must be multiples of 256. */
export type Binding = GpuBuffer | readonly [GpuBuffer, number, number];

export class Recorder {
  private encoder: GPUCommandEncoder;
  private pass: GPUComputePassEncoder | null = null;
  /** Taken at the first dispatch and given back at submit, so that idle recorders hold nothing. */
  private page: GPUBuffer | null = null;
  private readonly words: Uint32Array<ArrayBuffer>;
  private readonly floats: Float32Array<ArrayBuffer>;
  private slots = 0;
  dispatches = 0;
  private operations = 0;

  constructor(
    private readonly gpu: Gpu,
    readonly label: string,
  ) {
    this.encoder = gpu.device.createCommandEncoder({ label });
    this.words = new Uint32Array(gpu.uniforms.slotsPerPage * MAX_PARAMS);
    this.floats = new Float32Array(this.words.buffer);
  }

  /**
   * Binding 0 is the uniform `params` (u32 fields first, then f32 fields); storage buffers follow as bindings 1, 2, ...
   * Workgroup counts above the device's per-dimension limit are refused here: launchers must fold them.
   */
  dispatch(
    kernel: Kernel,
    bindings: readonly Binding[],
    workgroups: readonly [number, number?, number?],
    u32: readonly number[],
    f32: readonly number[] = [],
  ): void {
    const { pipeline, layout } = kernel;
    if (!pipeline || !layout) {
      throw new DreamError(
        'kernel-not-ready',
        `Kernel "${kernel.label}" was dispatched before gpu.ready().`,
        'Please report this defect.',
      );
    }
    const [x, y = 1, z = 1] = workgroups;
    if (x === 0 || y === 0 || z === 0) return;
    const limit = this.gpu.limits.maxComputeWorkgroupsPerDimension;
    if (x > limit || y > limit || z > limit) {
      throw new DreamError(
        'dispatch-too-large',
        `Kernel "${kernel.label}": ${x} x ${y} x ${z} workgroups exceed ${limit}.`,
        'Choose a smaller batch.',
      );
    }
    if (this.slots === this.gpu.uniforms.slotsPerPage) this.submit();
    this.page ??= this.gpu.uniforms.take();
    const base = this.slots * MAX_PARAMS;
    for (let i = 0; i < u32.length; i++) this.words[base + i] = u32[i];
    for (let i = 0; i < f32.length; i++) this.floats[base + u32.length + i] = f32[i];
    const entries: GPUBindGroupEntry[] = [
      { binding: 0, resource: { buffer: this.page, offset: this.slots * SLOT_BYTES, size: SLOT_BYTES } },
    ];
    for (let i = 0; i < bindings.length; i++) {
      const b = bindings[i];
      entries.push({
        binding: i + 1,
        resource: Array.isArray(b)
          ? { buffer: (b[0] as GpuBuffer).use(), offset: b[1] as number, size: b[2] as number }
          : { buffer: (b as GpuBuffer).use() },
      });
    }
    this.slots++;
    this.dispatches++;
    const perKernel = this.gpu.profiling === 'kernels';
    this.pass ??= this.encoder.beginComputePass({
      label: this.label,
      timestampWrites: this.timestamps(perKernel ? kernel.label : this.label),
    });
    this.pass.setPipeline(pipeline);
    this.pass.setBindGroup(0, this.gpu.device.createBindGroup({ layout, entries }));
    this.pass.dispatchWorkgroups(x, y, z);
    if (perKernel) this.endPass();
  }

  /** Announces the next dispatch's floating-point operations: long recordings are sent in bounded pieces. */
  work(operations: number): void {
    this.operations += operations;
    if (this.operations > this.gpu.workPerSubmit && this.slots > 0) {
      this.submit();
      this.operations = operations;
    }
  }

  copy(source: GpuBuffer, sourceOffset: number, target: GpuBuffer, targetOffset: number, bytes: number): void {
    this.endPass();
    this.encoder.copyBufferToBuffer(source.use(), sourceOffset, target.use(), targetOffset, bytes);
  }

  clear(target: GpuBuffer, offset = 0, bytes = target.capacity - offset): void {
    this.endPass();
    this.encoder.clearBuffer(target.use(), offset, bytes);
  }

  /** Sends what was recorded; the recorder can be used again for the next piece. Does not wait. */
  submit(): void {
    this.endPass();
    const { device, uniforms } = this.gpu;
    if (this.page) device.queue.writeBuffer(this.page, 0, this.words.buffer, 0, this.slots * SLOT_BYTES);
    const timing = this.resolveTimestamps();
    device.queue.submit([this.encoder.finish()]);
    this.gpu.noteSubmission(timing?.() ?? null);
    if (this.page) uniforms.give(this.page);
    this.page = null;
    this.slots = 0;
    this.operations = 0;
    this.encoder = device.createCommandEncoder({ label: this.label });
  }

  private endPass(): void {
    this.pass?.end();
    this.pass = null;
  }

  // --- timing: one query pair per compute pass -------------------------------------------------------------------
  private querySet: GPUQuerySet | null = null;
  private readonly timed: string[] = [];

  private timestamps(label: string): GPUComputePassTimestampWrites | undefined {
    if (this.gpu.profiling === 'off' || !this.gpu.features.includes('timestamp-query')) return undefined;
    if (this.timed.length >= MAX_TIMED) return undefined;
    this.querySet ??= this.gpu.device.createQuerySet({ type: 'timestamp', count: MAX_TIMED * 2 });
    const index = this.timed.push(label) * 2;
    return { querySet: this.querySet, beginningOfPassWriteIndex: index - 2, endOfPassWriteIndex: index - 1 };
  }

  private resolveTimestamps(): (() => Promise<Map<string, number>>) | null {
    const { querySet } = this;
    const labels = this.timed.splice(0);
    if (!querySet || labels.length === 0) return null;
    this.querySet = null;
    const { device } = this.gpu;
    const bytes = labels.length * 16;
    const resolved = device.createBuffer({ size: bytes, usage: 0x200 | 0x4 }); // QUERY_RESOLVE | COPY_SRC
    const staging = device.createBuffer({ size: bytes, usage: 0x1 | 0x8 }); // MAP_READ | COPY_DST
    this.encoder.resolveQuerySet(querySet, 0, labels.length * 2, resolved, 0);
    this.encoder.copyBufferToBuffer(resolved, 0, staging, 0, bytes);
    return async () => {
      await staging.mapAsync(0x1);
      const ticks = new BigUint64Array(staging.getMappedRange());
      const times = new Map<string, number>();
      labels.forEach((label, i) => {
        times.set(label, (times.get(label) ?? 0) + Number(ticks[i * 2 + 1] - ticks[i * 2]));
      });
      staging.destroy();
      resolved.destroy();
      querySet.destroy();
      return times;
    };
  }
}
