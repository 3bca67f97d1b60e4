/** @file The panel's own device: opened at the first need, tested before the first model, opened anew when it was lost. */
import { type Gpu, openGpu } from '../../gpu/device';
import type { DeviceFacts } from './protocol';

export class ModelDevice {
  private opening: Promise<Gpu> | null = null;
  private readonly tested = new WeakSet<Gpu>();

  constructor(
    private readonly webgpu: GPU | undefined,
    /** Throws when the device computes wrong numbers. */
    private readonly check: (gpu: Gpu) => Promise<void>,
    private readonly onLost: (reason: string) => void,
  ) {}

  /** Throws `webgpu-missing`, `no-adapter`, `weak-limits`; a failed opening may be tried again. */
  open(): Promise<Gpu> {
    this.opening ??= this.start().catch((error: unknown) => {
      this.opening = null;
      throw error;
    });
    return this.opening;
  }

  /** Throws also what `check` throws. */
  async openTested(onTest: () => void): Promise<Gpu> {
    const gpu = await this.open();
    if (!this.tested.has(gpu)) {
      onTest();
      await this.check(gpu);
      this.tested.add(gpu);
    }
    return gpu;
  }

  private async start(): Promise<Gpu> {
    const gpu = await openGpu(this.webgpu);
    void gpu.lost.then(({ reason, message }) => {
      this.opening = null;
      this.onLost(message || reason || 'no reason given');
    });
    return gpu;
  }
}

export function deviceFacts({ adapterName, isSoftware, limits }: Gpu): DeviceFacts {
  return {
    adapter: adapterName,
    software: isSoftware,
    largestBufferBytes: Math.min(limits.maxBufferSize, limits.maxStorageBufferBindingSize),
  };
}
