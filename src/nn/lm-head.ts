/**
 * @file The language-model head, one block of rows at a time: log-probability, entropy and gradient without a
 * [tokens x vocabulary] matrix.
 */
import source from '../../shaders/lm-head.wgsl?raw';
import type { GpuBuffer } from '../gpu/buffers';
import type { Gpu } from '../gpu/device';
import type { Recorder } from '../gpu/recorder';
import type { Projection } from './linear';
import { hold } from './packing';

/** f32 [n] each: of the target's log-probability, the entropy, and the log of the sum of exponentials. */
export interface HeadOutputs {
  logProbs: GpuBuffer;
  entropy: GpuBuffer;
  lse: GpuBuffer;
}

export function headOutputs(gpu: Gpu, n: number, held: GpuBuffer[]): HeadOutputs {
  return {
    logProbs: hold(held, gpu.alloc(n * 4, 'logprob')),
    entropy: hold(held, gpu.alloc(n * 4, 'entropy')),
    lse: hold(held, gpu.alloc(n * 4, 'lse')),
  };
}

export class LmHead {
  private readonly isWide: boolean;
  private readonly logprobKernel;
  private readonly gradKernel;

  constructor(
    private readonly gpu: Gpu,
    /** [vocab, width]: the embedding's own table where it is tied. */
    private readonly weights: Projection,
    /** Floats of logits that may exist at once (16 MiB). */
    private readonly blockFloats = 1 << 22,
    /** Vocabularies of this size and more are shared by a workgroup's lanes. */
    wideFrom = 4096,
  ) {
    this.isWide = weights.outputs >= wideFrom;
    this.logprobKernel = gpu.kernel(source, this.isWide ? 'head_logprob_wide' : 'head_logprob');
    this.gradKernel = gpu.kernel(source, 'head_grad');
  }

  /** Multiples of 16 keep every block's first row on a 256-byte boundary, as bindings must be. */
  private get rowsPerBlock(): number {
    return Math.max(16, Math.floor(this.blockFloats / this.weights.outputs / 64) * 64);
  }

  /** logits[n, vocab] of hidden[n, width]; for the sampler, where n is the number of streams. */
  logits(rec: Recorder, hidden: GpuBuffer, logits: GpuBuffer, n: number): void {
    this.weights.forward(rec, hidden, logits, n);
  }

  /**
   * logProbs, entropy and lse [n] of `targets` [n] given hidden[n, width].
   * Returns the block of logits when one block held them all, so that `backward` need not compute it again.
   */
  forward(rec: Recorder, hidden: GpuBuffer, targets: GpuBuffer, out: HeadOutputs, n: number): GpuBuffer | null {
    const vocab = this.weights.outputs;
    const block = Math.min(this.rowsPerBlock, n);
    const logits = this.gpu.alloc(block * vocab * 4, 'logits');
    for (let first = 0; first < n; first += block) {
      const count = Math.min(block, n - first);
      this.blockLogits(rec, hidden, logits, first, count);
      rec.dispatch(
        this.logprobKernel,
        [logits, targets, out.logProbs, out.entropy, out.lse],
        [this.isWide ? count : Math.ceil(count / 64)],
        [count, vocab, first],
      );
    }
    if (block >= n) return logits;
    logits.release();
    return null;
  }

  /** dHidden[n, width] and (where they are trainable) the weights' gradient, from dL/dlogprob and dL/dentropy [n]. */
  backward(
    rec: Recorder,
    hidden: GpuBuffer,
    targets: GpuBuffer,
    out: Pick<HeadOutputs, 'entropy' | 'lse'>,
    gradLogProb: GpuBuffer,
    gradEntropy: GpuBuffer,
    dHidden: GpuBuffer,
    n: number,
    keptLogits: GpuBuffer | null,
  ): void {
    const { outputs: vocab, inputs: width } = this.weights;
    const block = keptLogits ? n : Math.min(this.rowsPerBlock, n);
    const logits = keptLogits ?? this.gpu.alloc(block * vocab * 4, 'logits');
    for (let first = 0; first < n; first += block) {
      const count = Math.min(block, n - first);
      if (!keptLogits) this.blockLogits(rec, hidden, logits, first, count);
      rec.dispatch(
        this.gradKernel,
        [logits, targets, out.lse, out.entropy, gradLogProb, gradEntropy],
        [Math.ceil(vocab / 64), count],
        [count, vocab, first],
      );
      const rows = first === 0 ? dHidden : ([dHidden, first * width * 4, count * width * 4] as const);
      const x = first === 0 ? hidden : ([hidden, first * width * 4, count * width * 4] as const);
      this.weights.backward(rec, x, logits, rows, count);
    }
    logits.release();
  }

  private blockLogits(rec: Recorder, hidden: GpuBuffer, logits: GpuBuffer, first: number, count: number): void {
    const width = this.weights.inputs;
    const x = first === 0 ? hidden : ([hidden, first * width * 4, count * width * 4] as const);
    this.weights.forward(rec, x, logits, count);
  }
}
