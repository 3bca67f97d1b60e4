/** @file The LanguageModel on WebGPU: sessions, scoring, training steps and state, over one Decoder. */
import { DreamError } from '../data/errors';
import { type GpuBuffer, IDLE_BYTES } from '../gpu/buffers';
import type { Gpu } from '../gpu/device';
import type { Recorder } from '../gpu/recorder';
import { Activations } from './activations';
import { AdamW } from './adamw';
import { ComposedEmbedding } from './composed-embedding';
import { checkConfig, type DecoderConfig } from './config';
import { Decoder, trainingActivations } from './decoder';
import type { DecoderOptions } from './decoder-weights';
import { FiniteGuard } from './finite-guard';
import type {
  LanguageModel,
  Loss,
  ModelState,
  OptimizerSettings,
  Sessions,
  TrainSequence,
  TrainStats,
} from './language-model';
import { hold, lossTokens, type Pack, packSequences, uploadPack } from './packing';
import type { Parameter } from './parameter';
import { choosePrecision, type Precision, type PrecisionChoice } from './precision';
import { Sampler } from './sampler';
import { DecoderSessions } from './sessions';
import { stat, type TokenLoss, valueStat } from './token-loss';
import { ValueHead, valueHeadName } from './value-head';

export interface DecoderModelOptions extends DecoderOptions {
  /** Pre-training only: entity rows share parts, see composed-embedding.ts. [vocab, 2], -1 = none. */
  embeddingParts?: Int32Array | null;
  /** Tokens per forward/backward pass; gradients accumulate over passes. */
  tokensPerPass?: number;
  /** Of the KV cache, and of `score`, which goes through a cache where that is f16. Default f32. */
  precision?: PrecisionChoice;
}

export class DecoderModel implements LanguageModel {
  readonly decoder: Decoder;
  /** Updates applied so far. */
  step = 0;
  private readonly sampler: Sampler;
  private readonly optimizer: AdamW;
  private readonly guard: FiniteGuard;
  /** The critic; there is one from the first time it is asked for. */
  private valueHead: ValueHead | null = null;
  private readonly composed: ComposedEmbedding | null;
  private readonly tokensPerPass: number;
  private readonly norm: GpuBuffer;
  private readonly stats: GpuBuffer;
  /** Tokens trained on, for tokens per second. */
  tokensTrained = 0;

  constructor(
    private readonly gpu: Gpu,
    readonly config: DecoderConfig,
    private readonly tokenLoss: TokenLoss,
    private readonly options: DecoderModelOptions = {},
  ) {
    checkConfig(config);
    this.decoder = new Decoder(gpu, config, options);
    this.sampler = new Sampler(gpu);
    this.optimizer = new AdamW(gpu, this.decoder.reduce);
    this.guard = new FiniteGuard(gpu);
    this.composed = options.embeddingParts ? new ComposedEmbedding(gpu, this.decoder, options.embeddingParts) : null;
    this.tokensPerPass = options.tokensPerPass ?? 4096;
    this.norm = gpu.alloc(4, 'gradient norm');
    this.stats = gpu.alloc(32, 'loss statistics');
  }

  get vocabSize(): number {
    return this.config.vocabSize;
  }

  get contextLength(): number {
    return this.config.contextLength;
  }

  /** What the KV cache holds; known after `prepare`. */
  get precision(): Precision {
    return this.decoder.attention.precision;
  }

  /** What the optimiser updates. */
  private get trained(): Parameter[] {
    return this.composed ? this.composed.replace(this.decoder.trainable) : this.decoder.trainable;
  }

  /**
   * Compiles all kernels and picks the fastest product and attention on this device. Call once before use.
   * Throws `f16-unreliable` where f16 was demanded and this device computes it wrong.
   */
  async prepare(): Promise<this> {
    const { attention } = this.decoder;
    await this.gpu.ready();
    await this.decoder.matmul.tune();
    await attention.tune();
    attention.useCache(await choosePrecision(this.gpu, this.options.precision ?? 'f32'));
    await this.gpu.ready();
    if (this.decoder.weights.matrices.size > 0) await this.decoder.weights.products.tune();
    return this;
  }

  sessions(count: number): Sessions {
    return new DecoderSessions(this.gpu, this.decoder, this.sampler, count);
  }

  async score(sequences: readonly (readonly number[])[]): Promise<Float32Array[]> {
    const result = sequences.map((tokens) => new Float32Array(tokens.length));
    for (const pack of packSequences(sequences, this.tokensPerPass)) {
      const n = pack.tokens.length;
      const targets = new Uint32Array(n);
      targets.set(pack.tokens.subarray(1));
      const { gpu, decoder } = this;
      const held: GpuBuffer[] = [];
      const batch = uploadPack(this.gpu, pack, this.config.vocabSize, held);
      const targetBuffer = hold(held, gpu.upload(targets, 'targets'));
      const out = this.headBuffers(n, held);
      const isCached = decoder.attention.precision !== 'f32';
      const acts = isCached ? new Activations(gpu, this.config, n, 'none') : trainingActivations(gpu, this.config, n);
      const rec = gpu.record('score');
      if (isCached) {
        // Whole sequences: a layer's keys and values are done with when the next layer begins.
        const cache = hold(held, gpu.alloc(n * decoder.attention.cacheRowBytes, 'kv cache of a pass'));
        decoder.forwardCached(rec, batch, acts, Array(this.config.layers).fill(cache));
      } else decoder.forward(rec, batch, acts);
      decoder.head.forward(rec, acts.final, targetBuffer, out, n)?.release();
      rec.submit();
      const logProbs = await gpu.readF32(out.logProbs, n);
      acts.release();
      for (const buffer of held) buffer.release();
      pack.sequences.forEach((index, i) => {
        const first = pack.starts[i];
        result[index].set(logProbs.subarray(first, first + sequences[index].length - 1), 1);
      });
    }
    return result;
  }

  async values(sequences: readonly (readonly number[])[]): Promise<Float32Array[]> {
    const { gpu, decoder } = this;
    const head = await this.critic();
    const result = sequences.map((tokens) => new Float32Array(tokens.length));
    for (const pack of packSequences(sequences, this.tokensPerPass)) {
      const held: GpuBuffer[] = [];
      const batch = uploadPack(gpu, pack, this.config.vocabSize, held);
      const out = hold(held, gpu.alloc(batch.t * 4, 'values'));
      const acts = trainingActivations(gpu, this.config, batch.t);
      const rec = gpu.record('values');
      decoder.forward(rec, batch, acts);
      head.forward(rec, acts.final, out, batch.t);
      rec.submit();
      const values = await gpu.readF32(out, batch.t);
      acts.release();
      for (const buffer of held) buffer.release();
      pack.sequences.forEach((index, i) => {
        const first = pack.starts[i];
        result[index].set(values.subarray(first, first + sequences[index].length - 1), 1);
      });
    }
    return result;
  }

  /** The value head, made (saying 0) when it is first needed. */
  private async critic(): Promise<ValueHead> {
    if (!this.valueHead) {
      this.valueHead = new ValueHead(this.gpu, this.config.width);
      this.tokenLoss.prepareValue();
    }
    await this.gpu.ready();
    return this.valueHead;
  }

  async embed(sequences: readonly (readonly number[])[]): Promise<Float32Array[]> {
    const { width } = this.config;
    const result = sequences.map(() => new Float32Array(width));
    for (const pack of packSequences(sequences, this.tokensPerPass)) {
      const held: GpuBuffer[] = [];
      const batch = uploadPack(this.gpu, pack, this.config.vocabSize, held);
      const acts = trainingActivations(this.gpu, this.config, batch.t);
      const rec = this.gpu.record('embed');
      this.decoder.forward(rec, batch, acts);
      rec.submit();
      const hidden = await this.gpu.readF32(acts.final, batch.t * width);
      acts.release();
      for (const buffer of held) buffer.release();
      pack.sequences.forEach((index, i) => {
        const length = sequences[index].length;
        for (let t = 0; t < length; t++) {
          for (let d = 0; d < width; d++) result[index][d] += hidden[(pack.starts[i] + t) * width + d] / length;
        }
      });
    }
    return result;
  }

  async trainStep(sequences: readonly TrainSequence[], loss: Loss, settings: OptimizerSettings): Promise<TrainStats> {
    const { gpu, decoder } = this;
    const critic = loss.kind === 'policy' ? loss.critic : undefined;
    const head = critic ? await this.critic() : null;
    await this.accumulateGradients(sequences, loss);
    const trained = this.trained;
    const rec = gpu.record('update');
    this.composed?.collectGradient(rec);
    this.optimizer.recordNorm(rec, trained, this.norm);
    this.guard.record(rec, this.stats, this.norm);
    if (head && critic) this.updateHead(rec, head, { ...settings, learningRate: critic.learningRate });
    this.optimizer.recordUpdate(rec, trained, this.norm, settings, this.step + 1);
    this.composed?.compose(rec);
    decoder.refreshTransposed(rec, decoder.trainable);
    rec.submit();
    const [stats, norm, value] = await Promise.all([
      gpu.readF32(this.stats, 8),
      gpu.readF32(this.norm, 1),
      head ? gpu.readF32(head.stats, 4) : null,
    ]);
    const applied = Number.isFinite(norm[0]);
    if (applied) this.step++;
    // Nothing is being recorded here. Ragged batches leave buffers of many sizes behind.
    gpu.memory.trimAbove(IDLE_BYTES);
    const tokens = stats[stat.tokens];
    const mean = (i: number): number => (tokens > 0 ? stats[i] / tokens : 0);
    return {
      loss: stats[stat.loss],
      gradNorm: Math.sqrt(norm[0]),
      entropy: mean(stat.entropy),
      kl: mean(stat.kl),
      clipFraction: mean(stat.clipped),
      clipFractionHigh: mean(stat.clippedHigh),
      refKl: mean(stat.refKl),
      logProbGap: mean(stat.logProbGap),
      ...(value ? { value: readValueStats(value) } : {}),
      tokens,
      applied,
    };
  }

  /** The head's own step; policy and critic move together or not at all. */
  private updateHead(rec: Recorder, head: ValueHead, settings: OptimizerSettings): void {
    const { optimizer, guard } = this;
    optimizer.recordNorm(rec, [head.parameter], head.norm);
    guard.record(rec, head.stats, head.norm);
    guard.record(rec, head.norm, this.norm);
    guard.record(rec, this.norm, head.norm);
    optimizer.recordUpdate(rec, [head.parameter], head.norm, settings, this.step + 1);
  }

  /** Forward and backward of all sequences; gradients and statistics are left on the GPU (tests read them). */
  async accumulateGradients(sequences: readonly TrainSequence[], loss: Loss): Promise<void> {
    const { gpu, decoder } = this;
    if (decoder.trainable.length === 0) {
      throw new DreamError(
        'nothing-to-train',
        'This model was opened for scoring and generation only.',
        'Open it with a LoRA to train it.',
      );
    }
    for (const s of sequences) {
      if (s.tokens.length > this.config.contextLength) {
        throw new DreamError(
          'sequence-too-long',
          `A training sequence has ${s.tokens.length} tokens; the context is ${this.config.contextLength}.`,
          'Allow fewer steps per episode, or use a model with a longer context.',
        );
      }
    }
    const clear = gpu.record('clear');
    for (const p of new Set([...this.trained, ...decoder.trainable])) {
      p.prepareTraining(clear);
      clear.clear(p.gradient!);
    }
    clear.clear(this.stats);
    if (loss.kind === 'policy' && loss.critic) {
      const { parameter, stats } = await this.critic();
      parameter.prepareTraining(clear);
      clear.clear(parameter.gradient!);
      clear.clear(stats);
    }
    clear.submit();
    for (const pack of packSequences(
      sequences.map((s) => s.tokens),
      this.tokensPerPass,
    ))
      await this.pass(pack, sequences, loss);
  }

  private async pass(pack: Pack, sequences: readonly TrainSequence[], loss: Loss): Promise<void> {
    const { gpu, decoder } = this;
    const { width } = this.config;
    const loaded = lossTokens(pack, sequences);
    const { n, rows, targets, weights, old, reference, advantages, samples } = loaded;
    if (n === 0) return;
    const held: GpuBuffer[] = [];
    const up = (data: number[], label: string): GpuBuffer => hold(held, gpu.upload(Float32Array.from(data), label));
    const batch = uploadPack(this.gpu, pack, this.config.vocabSize, held);
    const rowBuffer = hold(held, gpu.upload(Uint32Array.from(rows), 'loss rows'));
    const targetBuffer = hold(held, gpu.upload(Uint32Array.from(targets), 'targets'));
    const out = this.headBuffers(n, held);
    const lossBuffers = {
      n,
      ...out,
      weights: up(weights, 'weights'),
      gradLogProb: hold(held, gpu.alloc(n * 4, 'd logprob')),
      gradEntropy: hold(held, gpu.alloc(n * 4, 'd entropy')),
      stats: this.stats,
      accumulate: true,
    };
    const policy =
      loss.kind === 'policy'
        ? {
            oldLogProbs: up(old, 'old logprob'),
            refLogProbs: loss.klCoef > 0 ? up(reference, 'reference logprob') : undefined,
            advantages: up(advantages, 'advantages'),
            perSample:
              loss.importance === 'sequence'
                ? {
                    samples: samples.length - 1,
                    starts: hold(held, gpu.upload(Uint32Array.from(samples), 'sample starts')),
                    logRatio: hold(held, gpu.alloc(n * 4, 'sample log ratio')),
                  }
                : undefined,
          }
        : null;
    const hidden = hold(held, gpu.alloc(n * width * 4, 'loss hidden'));
    const dHidden = hold(held, gpu.alloc(n * width * 4, 'd loss hidden'));
    const dFinal = hold(held, gpu.alloc(batch.t * width * 4, 'd final'));
    const acts = trainingActivations(gpu, this.config, batch.t);
    const rec = gpu.record('train');
    decoder.forward(rec, batch, acts);
    decoder.embedding.gather(rec, acts.final, rowBuffer, hidden, n, width);
    const logits = decoder.head.forward(rec, hidden, targetBuffer, out, n);
    if (loss.kind === 'policy' && policy) this.tokenLoss.record(rec, { ...lossBuffers, ...policy }, loss);
    else this.tokenLoss.recordSft(rec, lossBuffers);
    decoder.head.backward(
      rec,
      hidden,
      targetBuffer,
      out,
      lossBuffers.gradLogProb,
      lossBuffers.gradEntropy,
      dHidden,
      n,
      logits,
    );
    if (loss.kind === 'policy' && loss.critic && this.valueHead) {
      const head = this.valueHead;
      const values = hold(held, gpu.alloc(n * 4, 'values'));
      const gradValues = hold(held, gpu.alloc(n * 4, 'd values'));
      head.forward(rec, hidden, values, n);
      this.tokenLoss.recordValue(
        rec,
        {
          n,
          values,
          oldValues: up(loaded.oldValues, 'old values'),
          returns: up(loaded.returns, 'returns'),
          weights: up(loaded.valueWeights, 'value weights'),
          gradValues,
          stats: head.stats,
          accumulate: true,
        },
        loss.critic,
      );
      head.backward(rec, hidden, gradValues, dHidden, n, loss.critic.trunkCoef);
    }
    rec.clear(dFinal, 0, batch.t * width * 4);
    decoder.embedding.scatter(rec, dHidden, rowBuffer, dFinal, n, width);
    decoder.backward(rec, batch, acts, dFinal);
    rec.submit();
    acts.release();
    for (const buffer of held) buffer.release();
    this.tokensTrained += batch.t;
    await gpu.throttle();
  }

  private headBuffers(n: number, held: GpuBuffer[]): { logProbs: GpuBuffer; entropy: GpuBuffer; lse: GpuBuffer } {
    return {
      logProbs: hold(held, this.gpu.alloc(n * 4, 'logprob')),
      entropy: hold(held, this.gpu.alloc(n * 4, 'entropy')),
      lse: hold(held, this.gpu.alloc(n * 4, 'lse')),
    };
  }

  // --- state -----------------------------------------------------------------------------------------------------

  /** Sets weights from the CPU by name; missing names keep their values, wrong sizes throw `bad-weights`. */
  setWeights(weights: ReadonlyMap<string, Float32Array>): void {
    const { gpu, decoder } = this;
    for (const p of this.named()) {
      const data = weights.get(p.name);
      if (!data) continue;
      if (data.length !== p.count) {
        throw new DreamError(
          'bad-weights',
          `Weight "${p.name}" has ${data.length} values; this model needs ${p.count}.`,
          'Use weights that belong to this model.',
        );
      }
      gpu.write(p.weight, data);
    }
    const rec = gpu.record('weights');
    if (this.composed && weights.has(this.composed.own.name)) this.composed.compose(rec);
    decoder.refreshTransposed(rec);
    rec.submit();
  }

  /** Every named weight, trainable or not; the critic's, where there is one. */
  named(): Parameter[] {
    const { decoder, composed } = this;
    return [...decoder.parameters, ...decoder.adapters, ...(composed ? [composed.own] : []), ...this.criticParameters];
  }

  private get criticParameters(): Parameter[] {
    return this.valueHead ? [this.valueHead.parameter] : [];
  }

  /** What a state must carry for training to go on as if it had not stopped. */
  private get stateful(): Parameter[] {
    return [...this.trained, ...this.criticParameters];
  }

  /** @param what `trained`: only what the optimiser updates, so that a LoRA's state does not carry the base's f32 weights. */
  async exportState(withOptimizer: boolean, what: 'all' | 'trained' = 'all'): Promise<ModelState> {
    const state: ModelState = { step: this.step, weights: new Map() };
    for (const p of what === 'all' ? this.named() : this.stateful)
      state.weights.set(p.name, await this.gpu.readF32(p.weight, p.count));
    if (withOptimizer) {
      state.moments1 = new Map();
      state.moments2 = new Map();
      for (const p of this.stateful) {
        if (!p.moment1 || !p.moment2) continue;
        state.moments1.set(p.name, await this.gpu.readF32(p.moment1, p.count));
        state.moments2.set(p.name, await this.gpu.readF32(p.moment2, p.count));
      }
    }
    return state;
  }

  /** A state without a critic takes the model's away. */
  async importState(state: ModelState): Promise<void> {
    if (state.weights.has(valueHeadName)) await this.critic();
    else this.dropCritic();
    this.setWeights(state.weights);
    this.step = state.step;
    const rec = this.gpu.record('prepare');
    for (const p of this.stateful) p.prepareTraining(rec);
    for (const p of this.stateful) {
      rec.clear(p.moment1!);
      rec.clear(p.moment2!);
    }
    rec.submit();
    for (const p of this.stateful) {
      const m1 = state.moments1?.get(p.name);
      const m2 = state.moments2?.get(p.name);
      if (m1) this.gpu.write(p.moment1!, m1);
      if (m2) this.gpu.write(p.moment2!, m2);
    }
    await this.gpu.finish();
  }

  private dropCritic(): void {
    this.valueHead?.dispose();
    this.valueHead = null;
  }

  dispose(): void {
    this.dropCritic();
    this.decoder.dispose();
    this.composed?.dispose();
    this.norm.release();
    this.stats.release();
  }
}

function readValueStats(stats: Float32Array): NonNullable<TrainStats['value']> {
  const tokens = Math.max(1, stats[valueStat.tokens]);
  return {
    loss: stats[valueStat.loss],
    clipFraction: stats[valueStat.clipped] / tokens,
    error: stats[valueStat.error] / tokens,
  };
}
