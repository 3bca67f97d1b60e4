/**
 * @file Compute pipelines, compiled asynchronously and once.
 *
 * Synchronous pipeline creation blocks a page for seconds on its first run (emberglass, onnxruntime#25882), so kernels
 * are asked for when a model is built and awaited together. The cache key is the text itself: same text, same pipeline.
 */
import { DreamError } from '../data/errors';

export class Kernel {
  pipeline: GPUComputePipeline | null = null;
  layout: GPUBindGroupLayout | null = null;
  constructor(readonly label: string) {}
}

export class KernelCache {
  private readonly modules = new Map<string, GPUShaderModule>();
  private readonly cache = new Map<string, Kernel>();
  private pending: Promise<void>[] = [];

  constructor(private readonly device: GPUDevice) {}

  get(source: string, entry: string, constants: Record<string, number> = {}): Kernel {
    const key = `${entry}|${JSON.stringify(constants)}|${source}`;
    let kernel = this.cache.get(key);
    if (kernel) return kernel;
    kernel = new Kernel(entry);
    this.cache.set(key, kernel);
    const compiled = this.compile(kernel, source, entry, constants).catch((error: unknown) => {
      this.cache.delete(key); // so that asking again tries again
      throw error;
    });
    // `ready` reports the failure, perhaps much later; until then it must not count as unhandled.
    compiled.catch(() => {});
    this.pending.push(compiled);
    return kernel;
  }

  async ready(): Promise<void> {
    while (this.pending.length > 0) {
      const batch = this.pending;
      this.pending = [];
      // All are waited for even when one fails: the others must be usable by who can do without it.
      const failed = (await Promise.allSettled(batch)).find((result) => result.status === 'rejected');
      if (failed) throw failed.reason;
    }
  }

  private async compile(
    kernel: Kernel,
    source: string,
    entry: string,
    constants: Record<string, number>,
  ): Promise<void> {
    let module = this.modules.get(source);
    if (!module) {
      // The pipeline reports the same error with its lines; here it would only be reported twice.
      this.device.pushErrorScope('validation');
      module = this.device.createShaderModule({ label: entry, code: source });
      this.device.popErrorScope().catch(() => {});
      this.modules.set(source, module);
    }
    try {
      kernel.pipeline = await this.device.createComputePipelineAsync({
        label: entry,
        layout: 'auto',
        compute: { module, entryPoint: entry, constants },
      });
      kernel.layout = kernel.pipeline.getBindGroupLayout(0);
    } catch (cause) {
      const info = await module.getCompilationInfo();
      const messages = info.messages.map((m) => `${m.lineNum}:${m.linePos} ${m.message}`).join('\n');
      throw new DreamError(
        'kernel-compile',
        `Kernel "${entry}" does not compile on this device. ${messages || (cause as Error).message}`,
        'Update the browser; if it stays, please report the message and your adapter.',
        { cause },
      );
    }
  }
}
