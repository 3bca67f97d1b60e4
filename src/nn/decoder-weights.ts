/**
 * @file A decoder's weights on the GPU: f32 parameters that train, or a frozen quantised base with adapters over it.
 *
 * Stacked matrices (q, k, v as one, gate and up as one) serve one product each. Engine names are the stacked ones; which
 * tensors of a model file they are made of is models/llama-names.ts' business.
 */
import { DreamError } from '../data/errors';
import type { GpuBuffer } from '../gpu/buffers';
import type { Gpu } from '../gpu/device';
import type { Recorder } from '../gpu/recorder';
import type { ScaleForm } from '../models/weights';
import type { DecoderConfig } from './config';
import type { Embedding } from './embedding';
import { Linear, type Projection } from './linear';
import { LoraLinear, type LoraSettings } from './lora';
import type { Matmul } from './matmul';
import { Parameter } from './parameter';
import { QuantisedLinear } from './quantised-linear';
import { type QuantisedForm, QuantisedMatrix } from './quantised-matrix';
import { QuantisedProducts } from './quantised-products';

export interface Layer {
  norm1: Parameter;
  qkv: Projection;
  /** Qwen2. */
  qkvBias: Parameter | null;
  /** Qwen3: [2, headDim], queries' and keys'. */
  qkNorm: Parameter | null;
  out: Projection;
  norm2: Parameter;
  gateUp: Projection;
  down: Projection;
}

export interface MatrixForm {
  form: QuantisedForm;
  scales: ScaleForm;
}

export interface DecoderOptions {
  /** Train adapters instead of the weights. */
  lora?: LoraSettings | null;
  /** Nothing trains: scoring and generation only. */
  frozen?: boolean;
  /** Which matrices are quantised, by engine name (`layer.0.qkv`, `embed`, `head`); the others are f32. */
  forms?: ReadonlyMap<string, MatrixForm> | null;
}

export class DecoderWeights {
  /** Every f32 base weight. */
  readonly parameters: Parameter[] = [];
  /** Every quantised base weight, by engine name. */
  readonly matrices = new Map<string, QuantisedMatrix>();
  /** Adapter weights, when LoRA is on. */
  readonly adapters: Parameter[] = [];
  /** The adapted projections, by engine name. */
  readonly adapted = new Map<string, LoraLinear>();
  readonly layers: Layer[] = [];
  readonly finalNorm: Parameter;
  readonly head: Projection;
  readonly products: QuantisedProducts;
  private readonly embed: Parameter | QuantisedMatrix;

  constructor(
    private readonly gpu: Gpu,
    private readonly matmul: Matmul,
    config: DecoderConfig,
    private readonly options: DecoderOptions,
  ) {
    const c = config;
    check(c, options);
    this.products = new QuantisedProducts(gpu, matmul);
    const heads = { q: c.heads * c.headDim, kv: c.kvHeads * c.headDim };
    this.embed = this.matrix('embed', c.vocabSize, c.width);
    for (let l = 0; l < c.layers; l++) {
      const name = (part: string): string => `layer.${l}.${part}`;
      const qkv = [heads.q, heads.kv, heads.kv];
      this.layers.push({
        norm1: this.parameter(name('norm1'), 1, c.width),
        qkv: this.projection(name('qkv'), qkv, c.width),
        qkvBias: c.attentionBias ? this.parameter(name('qkv.bias'), 1, heads.q + 2 * heads.kv) : null,
        qkNorm: c.qkNorm ? this.parameter(name('qk_norm'), 2, c.headDim, false) : null,
        out: this.projection(name('out'), [c.width], heads.q),
        norm2: this.parameter(name('norm2'), 1, c.width),
        gateUp: this.projection(name('gate_up'), [c.ffn, c.ffn], c.width),
        down: this.projection(name('down'), [c.width], c.ffn),
      });
    }
    this.finalNorm = this.parameter('norm', 1, c.width);
    this.head = this.linear(c.untiedHead ? this.matrix('head', c.vocabSize, c.width) : this.embed);
    if (this.embed instanceof QuantisedMatrix) this.products.prepare(this.embed);
  }

  get isFullTraining(): boolean {
    return !this.options.lora && !this.options.frozen;
  }

  /** The weights an optimiser updates: all of them, the adapters only, or none. */
  get trainable(): Parameter[] {
    return this.isFullTraining ? this.parameters : this.adapters;
  }

  /** The embedding table in f32. Throws where it is quantised: nothing trains or composes that one. */
  get table(): Parameter {
    if (this.embed instanceof Parameter) return this.embed;
    throw new DreamError(
      'bad-model-config',
      'A quantised embedding cannot be trained.',
      'Train a LoRA over it, or load the weights in f32.',
    );
  }

  /** y[t, width] = the tokens' rows of the embedding. */
  gather(rec: Recorder, embedding: Embedding, tokens: GpuBuffer, y: GpuBuffer, t: number): void {
    if (this.embed instanceof Parameter) embedding.gather(rec, this.embed.weight, tokens, y, t, this.embed.columns);
    else this.products.gather(rec, this.embed, tokens, y, t);
  }

  private parameter(name: string, rows: number, columns: number, matrix = rows > 1): Parameter {
    const p = new Parameter(this.gpu, name, rows, columns, matrix);
    this.parameters.push(p);
    return p;
  }

  private matrix(name: string, rows: number, columns: number): Parameter | QuantisedMatrix {
    const form = this.options.forms?.get(name);
    if (!form) return this.parameter(name, rows, columns);
    const m = new QuantisedMatrix(this.gpu, name, rows, columns, form.form, form.scales);
    this.matrices.set(name, m);
    return m;
  }

  private linear(weight: Parameter | QuantisedMatrix): Projection {
    return weight instanceof Parameter
      ? new Linear(this.matmul, weight, this.isFullTraining)
      : new QuantisedLinear(this.products, weight);
  }

  private projection(name: string, parts: readonly number[], inputs: number): Projection {
    const outputs = parts.reduce((a, b) => a + b, 0);
    const base = this.linear(this.matrix(name, outputs, inputs));
    if (!this.options.lora) return base;
    const lora = new LoraLinear(this.gpu, this.matmul, base, name, this.options.lora, parts);
    this.adapters.push(lora.a, lora.b);
    this.adapted.set(name, lora);
    return lora;
  }

  dispose(): void {
    for (const owned of [...this.parameters, ...this.adapters, ...this.matrices.values(), ...this.adapted.values()])
      owned.dispose();
    this.products.dispose();
  }
}

function check(config: DecoderConfig, { lora, frozen, forms }: DecoderOptions): void {
  if (lora && !(lora.rank > 0 && lora.rank % 4 === 0)) {
    throw new DreamError(
      'bad-model-config',
      `A LoRA rank of ${lora.rank} is not supported.`,
      'Choose a rank that is a positive multiple of 4.',
    );
  }
  const special = config.attentionBias || config.qkNorm || config.untiedHead || (forms?.size ?? 0) > 0;
  if (!lora && !frozen && special) {
    throw new DreamError(
      'bad-model-config',
      'Quantised models, and those with biases, head norms or a head of their own, are not trained in full.',
      'Train a LoRA over them.',
    );
  }
}
