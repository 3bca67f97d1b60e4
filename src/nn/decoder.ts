/**
 * @file A Llama-style decoder on the GPU: RMSNorm, RoPE, grouped-query attention, SwiGLU, with the Qwen and SmolLM variants
 * of attention (bias, head norms, layers without rotation).
 *
 * Training and generation run the same kernels over the same packed layout: a batch is a list of tokens, each with the
 * base of its sequence's rows and its position, so ragged sequences need no padding and the sampler's log-probabilities
 * are the trainer's.
 */
import type { GpuBuffer } from '../gpu/buffers';
import type { Gpu } from '../gpu/device';
import type { Recorder } from '../gpu/recorder';
import { Activations, type Keep, type LayerActivations, layerBytesPerToken } from './activations';
import { Attention } from './attention';
import type { AttentionTiles } from './attention-tiles';
import { Bias } from './bias';
import type { DecoderConfig } from './config';
import { type DecoderOptions, DecoderWeights, type Layer } from './decoder-weights';
import { Embedding } from './embedding';
import { HeadNorm } from './head-norm';
import { LmHead } from './lm-head';
import { Matmul } from './matmul';
import type { Parameter } from './parameter';
import { Reduce } from './reduce';
import { RmsNorm } from './rmsnorm';
import { Rope } from './rope';
import { SwiGlu } from './swiglu';

/** A batch on the device: whole sequences in training, new tokens of streams in generation. */
export interface Batch {
  t: number;
  tokens: GpuBuffer; // [t] u32
  rows: GpuBuffer; // [t] (base, position)
  /** Mean number of keys a token attends to; only for pacing submissions. */
  meanKeys: number;
  /** Runs of consecutive tokens, for the attention variant that shares their keys; without them attention is plain. */
  tiles?: AttentionTiles;
}

export interface TrainBatch extends Batch {
  ends: GpuBuffer; // [t] one past the sequence's last token
  order: GpuBuffer; // [t] positions sorted by token
  starts: GpuBuffer; // [vocab + 1]
}

export class Decoder {
  readonly matmul: Matmul;
  readonly reduce: Reduce;
  readonly embedding: Embedding;
  readonly attention: Attention;
  readonly head: LmHead;
  readonly weights: DecoderWeights;
  private readonly norm: RmsNorm;
  private readonly headNorm: HeadNorm;
  private readonly bias: Bias;
  private readonly rope: Rope;
  private readonly swiglu: SwiGlu;
  private readonly qkvWidth: number;

  constructor(
    private readonly gpu: Gpu,
    readonly config: DecoderConfig,
    options: DecoderOptions = {},
  ) {
    const c = config;
    this.matmul = new Matmul(gpu);
    this.weights = new DecoderWeights(gpu, this.matmul, c, options);
    this.reduce = new Reduce(gpu);
    this.embedding = new Embedding(gpu);
    this.attention = new Attention(gpu, c);
    this.norm = new RmsNorm(gpu, this.reduce, c.normEps);
    this.headNorm = new HeadNorm(gpu, c);
    this.bias = new Bias(gpu);
    this.rope = new Rope(gpu, c);
    this.swiglu = new SwiGlu(gpu);
    this.qkvWidth = (c.heads + 2 * c.kvHeads) * c.headDim;
    this.head = new LmHead(gpu, this.weights.head);
  }

  /** Every f32 base weight, by internal name. */
  get parameters(): Parameter[] {
    return this.weights.parameters;
  }

  /** Adapter weights, when LoRA is on. */
  get adapters(): Parameter[] {
    return this.weights.adapters;
  }

  /** The embedding in f32 (small models). */
  get table(): Parameter {
    return this.weights.table;
  }

  get trainable(): Parameter[] {
    return this.weights.trainable;
  }

  get isFullTraining(): boolean {
    return this.weights.isFullTraining;
  }

  /** Call after weights change. */
  refreshTransposed(rec: Recorder, parameters: readonly Parameter[] = [...this.parameters, ...this.adapters]): void {
    for (const p of parameters) p.refreshTransposed(rec, this.matmul);
  }

  /** Whole sequences; fills `acts`, the last layer's normed output is acts.final [t, width]. */
  forward(rec: Recorder, batch: Batch, acts: Activations): void {
    const { t } = batch;
    const { width, layers } = this.config;
    this.weights.gather(rec, this.embedding, batch.tokens, acts.x[0], t);
    for (let l = 0; l < layers; l++) this.forwardLayer(rec, l, batch, acts.layers[l], acts.x[l], acts.x[l + 1], null);
    this.norm.forward(rec, acts.x[layers], this.weights.finalNorm.weight, acts.final, acts.finalScale, t, width);
  }

  /** New tokens of streams against their KV caches (one buffer per layer). The residual stream runs in place. */
  forwardCached(rec: Recorder, batch: Batch, acts: Activations, caches: readonly GpuBuffer[]): void {
    const { t } = batch;
    const { width, layers } = this.config;
    const x = acts.x[0];
    this.weights.gather(rec, this.embedding, batch.tokens, x, t);
    for (let l = 0; l < layers; l++)
      this.forwardLayer(rec, l, batch, { ...acts.layers[l], middle: x }, x, x, caches[l]);
    this.norm.forward(rec, x, this.weights.finalNorm.weight, acts.final, acts.finalScale, t, width);
  }

  private forwardLayer(
    rec: Recorder,
    l: number,
    batch: Batch,
    a: LayerActivations,
    xIn: GpuBuffer,
    xOut: GpuBuffer,
    cache: GpuBuffer | null,
  ): void {
    const { t, rows, meanKeys, tiles } = batch;
    const { width, ffn } = this.config;
    const layer = this.weights.layers[l];
    this.norm.forward(rec, xIn, layer.norm1.weight, a.normed1, a.scale1, t, width);
    this.project(rec, l, layer, rows, a, t);
    if (cache) {
      this.attention.store(rec, a.qkv, rows, cache, t);
      this.attention.forwardCached(rec, a.qkv, cache, rows, a.o, a.lse, t, meanKeys, tiles);
    } else {
      this.attention.forward(rec, a.qkv, rows, a.o, a.lse, t, meanKeys, tiles);
    }
    if (a.middle !== xIn) rec.copy(xIn, 0, a.middle, 0, t * width * 4);
    layer.out.forward(rec, a.o, a.middle, t, true);
    this.norm.forward(rec, a.middle, layer.norm2.weight, a.normed2, a.scale2, t, width);
    layer.gateUp.forward(rec, a.normed2, a.gateUp, t);
    this.swiglu.forward(rec, a.gateUp, a.act, t, ffn);
    if (xOut !== a.middle) rec.copy(a.middle, 0, xOut, 0, t * width * 4);
    layer.down.forward(rec, a.act, xOut, t, true);
  }

  /** Queries, keys and values of a layer: product, bias, head norms, rotation. */
  private project(rec: Recorder, l: number, layer: Layer, rows: GpuBuffer, a: LayerActivations, t: number): void {
    const { heads, kvHeads, headDim } = this.config;
    layer.qkv.forward(rec, a.normed1, a.qkv, t);
    if (layer.qkvBias) this.bias.record(rec, layer.qkvBias.weight, a.qkv, t, this.qkvWidth);
    if (layer.qkNorm) {
      rec.copy(a.qkv, 0, a.rawQkv!, 0, t * this.qkvWidth * 4);
      this.headNorm.forward(rec, a.rawQkv!, layer.qkNorm.weight, a.qkv, a.headScale!, t);
    }
    if (this.isRotated(l)) this.rope.record(rec, rows, a.qkv, t, heads + kvHeads, headDim, this.qkvWidth, 1);
  }

  private isRotated(l: number): boolean {
    return !this.config.noRopeLayers?.includes(l);
  }

  /**
   * Gradients of everything trainable from dFinal [t, width], the gradient of acts.final.
   * With checkpointed activations each layer is computed again before its backward pass.
   */
  backward(rec: Recorder, batch: TrainBatch, acts: Activations, dFinal: GpuBuffer): void {
    const { t } = batch;
    const { width, layers, heads, headDim, ffn, vocabSize } = this.config;
    const full = this.isFullTraining;
    const scratch = {
      dx: this.gpu.alloc(t * width * 4, 'dx'),
      dNormed: this.gpu.alloc(t * width * 4, 'd normed'),
      dO: this.gpu.alloc(t * heads * headDim * 4, 'd o'),
      dQkv: this.gpu.alloc(t * this.qkvWidth * 4, 'd qkv'),
      delta: this.gpu.alloc(t * heads * 4, 'delta'),
      dAct: this.gpu.alloc(t * ffn * 4, 'd act'),
      dGateUp: this.gpu.alloc(t * 2 * ffn * 4, 'd gate up'),
    };
    const { dx } = scratch;
    rec.clear(dx, 0, t * width * 4);
    const dFinalNorm = full ? this.weights.finalNorm.gradient : null;
    this.norm.backward(
      rec,
      acts.x[layers],
      this.weights.finalNorm.weight,
      dFinal,
      acts.finalScale,
      dx,
      dFinalNorm,
      t,
      width,
    );
    for (let l = layers - 1; l >= 0; l--) {
      const a = acts.layers[l];
      if (acts.recompute && l < layers - 1) this.forwardLayer(rec, l, batch, a, acts.x[l], scratch.dNormed, null);
      this.backwardLayer(rec, l, batch, a, acts.x[l], scratch);
    }
    if (full) this.embedding.backward(rec, dx, batch.order, batch.starts, this.table.gradient!, vocabSize, width);
    for (const buffer of Object.values(scratch)) buffer.release();
  }

  private backwardLayer(
    rec: Recorder,
    l: number,
    batch: TrainBatch,
    a: LayerActivations,
    xIn: GpuBuffer,
    s: {
      dx: GpuBuffer;
      dNormed: GpuBuffer;
      dO: GpuBuffer;
      dQkv: GpuBuffer;
      delta: GpuBuffer;
      dAct: GpuBuffer;
      dGateUp: GpuBuffer;
    },
  ): void {
    const { t, rows, ends, meanKeys, tiles } = batch;
    const { width, heads, kvHeads, headDim, ffn } = this.config;
    const layer = this.weights.layers[l];
    const full = this.isFullTraining;
    layer.down.backward(rec, a.act, s.dx, s.dAct, t);
    this.swiglu.backward(rec, a.gateUp, s.dAct, s.dGateUp, t, ffn);
    layer.gateUp.backward(rec, a.normed2, s.dGateUp, s.dNormed, t);
    this.norm.backward(
      rec,
      a.middle,
      layer.norm2.weight,
      s.dNormed,
      a.scale2,
      s.dx,
      full ? layer.norm2.gradient : null,
      t,
      width,
    );
    layer.out.backward(rec, a.o, s.dx, s.dO, t);
    this.attention.backward(rec, a.qkv, rows, ends, a.o, s.dO, a.lse, s.delta, s.dQkv, t, meanKeys, tiles);
    if (this.isRotated(l)) this.rope.record(rec, rows, s.dQkv, t, heads + kvHeads, headDim, this.qkvWidth, -1);
    if (layer.qkNorm) this.headNorm.backward(rec, a.rawQkv!, layer.qkNorm.weight, s.dQkv, a.headScale!, t);
    layer.qkv.backward(rec, a.normed1, s.dQkv, s.dNormed, t);
    this.norm.backward(
      rec,
      xIn,
      layer.norm1.weight,
      s.dNormed,
      a.scale1,
      s.dx,
      full ? layer.norm1.gradient : null,
      t,
      width,
    );
  }

  dispose(): void {
    this.weights.dispose();
    this.rope.dispose();
  }
}

/** Total activations of a training batch may take this much before checkpointing starts. */
const KEEP_ALL_BYTES = 600 * 2 ** 20;

/** Keeps everything for small models, one layer's worth for large ones. */
export function trainingKeep(config: DecoderConfig, t: number): Keep {
  return t * config.layers * layerBytesPerToken(config) > KEEP_ALL_BYTES ? 'inputs' : 'all';
}

export function trainingActivations(gpu: Gpu, config: DecoderConfig, t: number): Activations {
  return new Activations(gpu, config, t, trainingKeep(config, t));
}
