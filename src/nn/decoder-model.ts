/** @file The LanguageModel on WebGPU, over one Decoder: sessions, scores, training steps, state. */
import { DreamError } from '../data/errors';
import { type GpuBuffer, IDLE_BYTES } from '../gpu/buffers';
import type { Gpu } from '../gpu/device';
import type { Recorder } from '../gpu/recorder';
import { AdamW } from './adamw';
import { ComposedEmbedding } from './composed-embedding';
import { checkConfig, type DecoderConfig } from './config';
import { Decoder } from './decoder';
import type { DecoderOptions } from './decoder-weights';
import { FiniteGuard } from './finite-guard';
import { ForwardPass } from './forward-pass';
import type {
  LanguageModel,
  Loss,
  ModelState,
  OptimizerSettings,
  Sessions,
  TrainSequence,
  TrainStats,
} from './language-model';
import { readMoments, readWeights, writeMoments, writeWeights } from './model-state';
import { packSequences } from './packing';
import type { Parameter } from './parameter';
import { choosePrecision, type Precision, type PrecisionChoice } from './precision';
import { Sampler } from './sampler';
import { DecoderSessions } from './sessions';
import { stat, type TokenLoss, valueStat } from './token-loss';
import { TrainingPass } from './training-pass';
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
  private readonly forwardPass: ForwardPass;
  private readonly trainingPass: TrainingPass;
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
    this.forwardPass = new ForwardPass(gpu, this.decoder, this.tokensPerPass);
    this.trainingPass = new TrainingPass(gpu, this.decoder, tokenLoss, this.stats);
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

  score(sequences: readonly (readonly number[])[]): Promise<Float32Array[]> {
    return this.forwardPass.score(sequences);
  }

  async values(sequences: readonly (readonly number[])[]): Promise<Float32Array[]> {
    return this.forwardPass.values(sequences, await this.critic());
  }

  embed(sequences: readonly (readonly number[])[]): Promise<Float32Array[]> {
    return this.forwardPass.embed(sequences);
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
      this.tokensTrained += await this.trainingPass.run(pack, sequences, loss, this.valueHead);
  }

  // --- state -----------------------------------------------------------------------------------------------------

  /** Sets weights from the CPU by name; missing names keep their values, wrong sizes throw `bad-weights`. */
  setWeights(weights: ReadonlyMap<string, Float32Array>): void {
    const { gpu, decoder } = this;
    writeWeights(gpu, this.named(), weights);
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
    const weights = await readWeights(this.gpu, what === 'all' ? this.named() : this.stateful);
    const moments = withOptimizer ? await readMoments(this.gpu, this.stateful) : {};
    return { step: this.step, weights, ...moments };
  }

  /** A state without a critic takes the model's away. */
  async importState(state: ModelState): Promise<void> {
    if (state.weights.has(valueHeadName)) await this.critic();
    else this.dropCritic();
    this.setWeights(state.weights);
    this.step = state.step;
    writeMoments(this.gpu, this.stateful, state);
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
