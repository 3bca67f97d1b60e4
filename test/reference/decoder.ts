/** @file The whole decoder in double precision: log-probabilities, entropies, and the gradient of every weight. */
import type { DecoderConfig } from '../../src/nn/config';
import { type AttentionShape, attention, attentionBackward } from './attention';
import { embeddingBackward, gather, scatter } from './embedding';
import { type HeadResult, lmHead, lmHeadBackward } from './lm-head';
import { linear, linearBackward, type Vector } from './matmul';
import { rmsNorm, rmsNormBackward } from './rmsnorm';
import { rope } from './rope';
import { swiglu, swigluBackward } from './swiglu';

/** By the names of src/nn/decoder.ts. */
export type Weights = ReadonlyMap<string, Vector>;

interface LayerTrace {
  normed1: Float64Array;
  /** Before head norms and rotation, bias added. */
  raw: Float64Array;
  /** Rotated. */
  qkv: Float64Array;
  o: Float64Array;
  middle: Float64Array;
  normed2: Float64Array;
  gateUp: Float64Array;
  act: Float64Array;
}

const add = (a: Float64Array, b: Float64Array): Float64Array => a.map((x, i) => x + b[i]);

/** One batch of whole sequences through the model. */
export class ReferenceDecoder {
  readonly final: Float64Array;
  /** [t] rows of `final` that predict a token: all but each sequence's last. */
  readonly rows: number[] = [];
  readonly targets: number[] = [];
  readonly head: HeadResult;
  private readonly tokens: number[];
  private readonly positions: number[];
  private readonly shape: AttentionShape;
  private readonly x: Float64Array[] = [];
  private readonly layers: LayerTrace[] = [];

  constructor(
    private readonly config: DecoderConfig,
    private readonly weights: Weights,
    sequences: readonly (readonly number[])[],
  ) {
    const { heads, kvHeads, headDim, width, normEps } = config;
    this.tokens = sequences.flat();
    this.positions = sequences.flatMap((s) => s.map((_, i) => i));
    this.shape = { heads, kvHeads, headDim, lengths: sequences.map((s) => s.length) };
    let first = 0;
    for (const sequence of sequences) {
      for (let i = 1; i < sequence.length; i++) {
        this.rows.push(first + i - 1);
        this.targets.push(sequence[i]);
      }
      first += sequence.length;
    }
    this.x.push(gather(this.weight('embed'), this.tokens, width));
    for (let l = 0; l < config.layers; l++) this.forwardLayer(l);
    this.final = rmsNorm(this.x[config.layers], this.weight('norm'), this.t, width, normEps).y;
    this.head = lmHead(gather(this.final, this.rows, width), this.weight(this.headName), this.targets, width);
  }

  private get headName(): string {
    return this.config.untiedHead ? 'head' : 'embed';
  }

  private get t(): number {
    return this.tokens.length;
  }

  private weight(name: string): Vector {
    const weight = this.weights.get(name);
    if (!weight) throw new Error(`no weight ${name}`);
    return weight;
  }

  private get ropeShape() {
    const { heads, kvHeads, headDim, ropeTheta, ropeScaling } = this.config;
    const width = (heads + 2 * kvHeads) * headDim;
    return { heads: heads + kvHeads, headDim, width, theta: ropeTheta, scaling: ropeScaling };
  }

  private turn(l: number, x: Float64Array, direction: 1 | -1 = 1): Float64Array {
    return this.config.noRopeLayers?.includes(l) ? x : rope(x, this.positions, this.ropeShape, direction);
  }

  /** Rows of raw[t, width] cut into heads, each query and key head through `change` with its norm weights. */
  private perHead(
    l: number,
    x: Float64Array,
    change: (head: Float64Array, weight: Vector, at: number) => Float64Array,
  ): Float64Array {
    if (!this.config.qkNorm) return x;
    const { heads, kvHeads, headDim } = this.config;
    const weights = Float64Array.from(this.weight(`layer.${l}.qk_norm`));
    const y = Float64Array.from(x);
    for (let row = 0; row < this.t; row++) {
      for (let head = 0; head < heads + kvHeads; head++) {
        const at = row * this.ropeShape.width + head * headDim;
        const weight = head < heads ? weights.subarray(0, headDim) : weights.subarray(headDim);
        y.set(change(x.slice(at, at + headDim), weight, at), at);
      }
    }
    return y;
  }

  private forwardLayer(l: number): void {
    const { t, shape, ropeShape } = this;
    const { width, heads, headDim, ffn, normEps } = this.config;
    const w = (name: string) => this.weight(`layer.${l}.${name}`);
    const x = this.x[l];
    const normed1 = rmsNorm(x, w('norm1'), t, width, normEps).y;
    const bias = this.config.attentionBias ? w('qkv.bias') : null;
    const raw = linear(normed1, w('qkv'), t, width, ropeShape.width).map(
      (v, i) => v + (bias ? bias[i % ropeShape.width] : 0),
    );
    const normed = this.perHead(l, raw, (head, weight) => rmsNorm(head, weight, 1, headDim, normEps).y);
    const qkv = this.turn(l, normed);
    const { o } = attention(qkv, shape);
    const middle = add(x, linear(o, w('out'), t, heads * headDim, width));
    const normed2 = rmsNorm(middle, w('norm2'), t, width, normEps).y;
    const gateUp = linear(normed2, w('gate_up'), t, width, 2 * ffn);
    const act = swiglu(gateUp, t, ffn);
    this.layers.push({ normed1, raw, qkv, o, middle, normed2, gateUp, act });
    this.x.push(add(middle, linear(act, w('down'), t, ffn, width)));
  }

  /** Gradients of sum(gradLogProb logProbs + gradEntropy entropy) over the predicting rows, by name. */
  backward(gradLogProb: Vector, gradEntropy: Vector): Map<string, Float64Array> {
    const { t, rows, targets, shape, ropeShape } = this;
    const { width, layers, heads, headDim, ffn, normEps, vocabSize } = this.config;
    const gradients = new Map<string, Float64Array>();
    const hidden = gather(this.final, rows, width);
    const head = lmHeadBackward(hidden, this.weight(this.headName), targets, width, gradLogProb, gradEntropy);
    const dFinal = scatter(head.dHidden, rows, t, width);
    const last = rmsNormBackward(this.x[layers], this.weight('norm'), dFinal, t, width, normEps);
    gradients.set('norm', last.dweight);
    let dx = last.dx;
    for (let l = layers - 1; l >= 0; l--) {
      const trace = this.layers[l];
      const name = (part: string) => `layer.${l}.${part}`;
      const project = (part: string, x: Vector, dy: Vector, inputs: number, outputs: number): Float64Array => {
        const gradient = linearBackward(x, this.weight(name(part)), dy, t, inputs, outputs);
        gradients.set(name(part), gradient.dw);
        return gradient.dx;
      };
      const norm = (part: string, x: Vector, dy: Vector): Float64Array => {
        const gradient = rmsNormBackward(x, this.weight(name(part)), dy, t, width, normEps);
        gradients.set(name(part), gradient.dweight);
        return gradient.dx;
      };
      const dAct = project('down', trace.act, dx, ffn, width);
      const dNormed2 = project('gate_up', trace.normed2, swigluBackward(trace.gateUp, dAct, t, ffn), width, 2 * ffn);
      const dMiddle = add(dx, norm('norm2', trace.middle, dNormed2));
      const dO = project('out', trace.o, dMiddle, heads * headDim, width);
      const dNormed = this.turn(l, attentionBackward(trace.qkv, dO, shape), -1);
      const dQkv = this.perHead(l, dNormed, (dy, weight, at) => {
        const x = trace.raw.slice(at, at + headDim);
        return rmsNormBackward(x, weight, dy, 1, headDim, normEps).dx;
      });
      const dNormed1 = project('qkv', trace.normed1, dQkv, width, ropeShape.width);
      dx = add(dMiddle, norm('norm1', this.x[l], dNormed1));
    }
    const dEmbed = embeddingBackward(dx, this.tokens, vocabSize, width);
    gradients.set('embed', this.config.untiedHead ? dEmbed : add(head.dTable, dEmbed));
    if (this.config.untiedHead) gradients.set('head', head.dTable);
    return gradients;
  }
}
