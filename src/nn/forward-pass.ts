/** @file What a model says of whole sequences without learning: log-probabilities, values, mean hidden states. */
import type { GpuBuffer } from '../gpu/buffers';
import type { Gpu } from '../gpu/device';
import { Activations } from './activations';
import { type Decoder, trainingActivations } from './decoder';
import { headOutputs } from './lm-head';
import { hold, type Pack, packSequences, uploadPack } from './packing';
import type { ValueHead } from './value-head';

type Sequences = readonly (readonly number[])[];

export class ForwardPass {
  constructor(
    private readonly gpu: Gpu,
    private readonly decoder: Decoder,
    private readonly tokensPerPass: number,
  ) {}

  /** Log-probability of every token given those before it; 0 for each first. */
  async score(sequences: Sequences): Promise<Float32Array[]> {
    const { gpu, decoder } = this;
    const result = sequences.map((tokens) => new Float32Array(tokens.length));
    await this.each(sequences, async (pack, held) => {
      const n = pack.tokens.length;
      const targets = new Uint32Array(n);
      targets.set(pack.tokens.subarray(1));
      const batch = uploadPack(gpu, pack, decoder.config.vocabSize, held);
      const targetBuffer = hold(held, gpu.upload(targets, 'targets'));
      const out = headOutputs(gpu, n, held);
      const isCached = decoder.attention.precision !== 'f32';
      const acts = isCached
        ? new Activations(gpu, decoder.config, n, 'none')
        : trainingActivations(gpu, decoder.config, n);
      const rec = gpu.record('score');
      if (isCached) {
        // Whole sequences: a layer's keys and values are done with when the next layer begins.
        const cache = hold(held, gpu.alloc(n * decoder.attention.cacheRowBytes, 'kv cache of a pass'));
        decoder.forwardCached(rec, batch, acts, Array(decoder.config.layers).fill(cache));
      } else decoder.forward(rec, batch, acts);
      decoder.head.forward(rec, acts.final, targetBuffer, out, n)?.release();
      rec.submit();
      const logProbs = await gpu.readF32(out.logProbs, n);
      acts.release();
      eachButFirst(pack, sequences, logProbs, result);
    });
    return result;
  }

  /** The critic's value of the state before every token; 0 for each first. */
  async values(sequences: Sequences, head: ValueHead): Promise<Float32Array[]> {
    const { gpu, decoder } = this;
    const result = sequences.map((tokens) => new Float32Array(tokens.length));
    await this.each(sequences, async (pack, held) => {
      const batch = uploadPack(gpu, pack, decoder.config.vocabSize, held);
      const out = hold(held, gpu.alloc(batch.t * 4, 'values'));
      const acts = trainingActivations(gpu, decoder.config, batch.t);
      const rec = gpu.record('values');
      decoder.forward(rec, batch, acts);
      head.forward(rec, acts.final, out, batch.t);
      rec.submit();
      const values = await gpu.readF32(out, batch.t);
      acts.release();
      eachButFirst(pack, sequences, values, result);
    });
    return result;
  }

  /** Mean of the last hidden states of each sequence: [width]. */
  async embed(sequences: Sequences): Promise<Float32Array[]> {
    const { gpu, decoder } = this;
    const { width, vocabSize } = decoder.config;
    const result = sequences.map(() => new Float32Array(width));
    await this.each(sequences, async (pack, held) => {
      const batch = uploadPack(gpu, pack, vocabSize, held);
      const acts = trainingActivations(gpu, decoder.config, batch.t);
      const rec = gpu.record('embed');
      decoder.forward(rec, batch, acts);
      rec.submit();
      const hidden = await gpu.readF32(acts.final, batch.t * width);
      acts.release();
      pack.sequences.forEach((index, i) => {
        const length = sequences[index].length;
        for (let t = 0; t < length; t++) {
          for (let d = 0; d < width; d++) result[index][d] += hidden[(pack.starts[i] + t) * width + d] / length;
        }
      });
    });
    return result;
  }

  /** One pack after the other; what a pass holds is released before the next begins. */
  private async each(sequences: Sequences, pass: (pack: Pack, held: GpuBuffer[]) => Promise<void>): Promise<void> {
    for (const pack of packSequences(sequences, this.tokensPerPass)) {
      const held: GpuBuffer[] = [];
      await pass(pack, held);
      for (const buffer of held) buffer.release();
    }
  }
}

/** A row says something of the token that follows it. */
function eachButFirst(pack: Pack, sequences: Sequences, rows: Float32Array, result: Float32Array[]): void {
  pack.sequences.forEach((index, i) => {
    const first = pack.starts[i];
    result[index].set(rows.subarray(first, first + sequences[index].length - 1), 1);
  });
}
