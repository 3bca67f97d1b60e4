/**
 * @file An embedding whose rows share parts: row(v) = own(v) + own(part1(v)) + own(part2(v)).
 *
 * "cup 1" and "cup 2" then start as the same "cup" plus a number, and what is learnt of one is learnt of all: matching
 * the task's word to an instance is the skill everything else waits for. A parametrisation for pre-training only: the
 * composed table is what is shipped, and later training moves its rows freely.
 */
import type { GpuBuffer } from '../gpu/buffers';
import type { Gpu } from '../gpu/device';
import type { Recorder } from '../gpu/recorder';
import type { Decoder } from './decoder';
import { Parameter } from './parameter';

export class ComposedEmbedding {
  readonly own: Parameter;
  private readonly forwardList: GpuBuffer;
  private readonly forwardStarts: GpuBuffer;
  private readonly backwardList: GpuBuffer;
  private readonly backwardStarts: GpuBuffer;

  /** @param parts [vocab, 2] row numbers, -1 = none */
  constructor(
    gpu: Gpu,
    private readonly decoder: Decoder,
    parts: Int32Array,
  ) {
    const { vocabSize, width } = decoder.config;
    this.own = new Parameter(gpu, 'embed.own', vocabSize, width, false);
    const forward: number[][] = Array.from({ length: vocabSize }, (_, v) => [v]);
    const backward: number[][] = Array.from({ length: vocabSize }, (_, v) => [v]);
    for (let v = 0; v < vocabSize; v++) {
      for (const part of [parts[v * 2], parts[v * 2 + 1]]) {
        if (part < 0) continue;
        forward[v].push(part);
        backward[part].push(v);
      }
    }
    const upload = (lists: number[][], label: string): [GpuBuffer, GpuBuffer] => {
      const starts = new Uint32Array(lists.length + 1);
      lists.forEach((list, i) => {
        starts[i + 1] = starts[i] + list.length;
      });
      return [gpu.upload(Uint32Array.from(lists.flat()), `${label} rows`), gpu.upload(starts, `${label} starts`)];
    };
    [this.forwardList, this.forwardStarts] = upload(forward, 'composition');
    [this.backwardList, this.backwardStarts] = upload(backward, 'decomposition');
  }

  /** The parameters to optimise: `own` in place of the composed table. */
  replace(parameters: readonly Parameter[]): Parameter[] {
    return parameters.map((p) => (p === this.decoder.table ? this.own : p));
  }

  /** table = composition of own. */
  compose(rec: Recorder): void {
    const { table, embedding, config } = this.decoder;
    rec.clear(table.weight);
    embedding.backward(
      rec,
      this.own.weight,
      this.forwardList,
      this.forwardStarts,
      table.weight,
      config.vocabSize,
      config.width,
    );
  }

  /** own's gradient from the table's. */
  collectGradient(rec: Recorder): void {
    const { table, embedding, config } = this.decoder;
    rec.clear(this.own.gradient!);
    const { backwardList, backwardStarts } = this;
    embedding.backward(
      rec,
      table.gradient!,
      backwardList,
      backwardStarts,
      this.own.gradient!,
      config.vocabSize,
      config.width,
    );
  }

  dispose(): void {
    this.own.dispose();
    for (const buffer of [this.forwardList, this.forwardStarts, this.backwardList, this.backwardStarts])
      buffer.release();
  }
}
