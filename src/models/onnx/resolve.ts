/**
 * @file Which stored weight is which layer's projection or norm, under Hugging Face's names.
 *
 * The graph decides: exporters and quantisers rename initialisers at will, but what flows into an attention's key input
 * is the key projection. Exports that spell attention out in small operators are read by their nodes' names instead,
 * which keep the module path (`/model/layers.3/self_attn/q_proj/MatMul_Q4`).
 */
import { DreamError } from '../../data/errors';
import type { DecoderConfig } from '../../nn/config';
import {
  attentionNodes,
  backToProduct,
  biasAfter,
  feedForward,
  isScaled,
  nextNormed,
  normBefore,
  productsOf,
  type Slice,
  weightOf,
} from './chains';
import { type GraphWalker, numberOf } from './graph';
import type { Located, Matrix } from './matrix';
import type { Node } from './model';
import { floats, type Product, productOf, refuseForeign, tableOf } from './operators';

/** Where a tensor lies: rows of a matrix, or a run of a vector. */
export type Part =
  | { readonly kind: 'rows'; readonly matrix: Matrix; readonly first: number; readonly rows: number }
  | { readonly kind: 'vector'; readonly values: Located; readonly first: number; readonly length: number };

export interface Resolved {
  /** By Hugging Face's name. What was not found is missing. */
  readonly parts: ReadonlyMap<string, Part>;
  /** The head multiplies by the embedding's own bytes. */
  readonly tied: boolean;
}

/** @throws DreamError `unsupported-quantisation`, `unsupported-setting`, `wrong-shape`, `bad-onnx`. */
export async function resolveWeights(walker: GraphWalker, config: DecoderConfig): Promise<Resolved> {
  refuseForeign(walker);
  const resolver = new Resolver(walker, config);
  await resolver.layersByAttention();
  resolver.layersByName();
  resolver.norms();
  const tied = await resolver.ends();
  return { parts: resolver.parts, tied };
}

class Resolver {
  readonly parts = new Map<string, Part>();
  /** The products found, by the projection they are, for the norms before and biases after them. */
  private readonly products = new Map<string, Product>();
  private readonly file: string;

  constructor(
    private readonly walker: GraphWalker,
    private readonly config: DecoderConfig,
  ) {
    this.file = walker.graph.file.name;
  }

  async layersByAttention(): Promise<void> {
    const { heads, kvHeads, headDim, layers } = this.config;
    const nodes = attentionNodes(this.walker);
    if (nodes.length === 0) return;
    if (nodes.length !== layers) {
      throw new DreamError(
        'wrong-shape',
        `${this.file} has ${nodes.length} attention layers, its config says ${layers}.`,
        'Use the config.json that belongs to the weights.',
      );
    }
    for (const [layer, node] of nodes.entries()) {
      this.checkAttention(node);
      const at = `model.layers.${layer}`;
      const [queries, keys, values] = node.inputs;
      if (keys) {
        await this.attentionInput(`${at}.self_attn.q`, queries);
        await this.attentionInput(`${at}.self_attn.k`, keys);
        await this.attentionInput(`${at}.self_attn.v`, values ?? '');
      } else {
        // All three in one: rows of q, then k, then v.
        const all = await backToProduct(this.walker, queries ?? '');
        if (all) this.threeIn(`${at}.self_attn`, all.product, heads * headDim, kvHeads * headDim);
      }
      if (node.op === 'GroupQueryAttention') {
        // Newer graphs leave the norm of each head's queries and keys to the operator.
        this.addVector(`${at}.self_attn.q_norm.weight`, weightOf(this.walker, node, 14));
        this.addVector(`${at}.self_attn.k_norm.weight`, weightOf(this.walker, node, 15));
      }
      const [out] = productsOf(this.walker, node.outputs[0] ?? '');
      if (!out) continue;
      this.add(`${at}.self_attn.o_proj`, { product: out, first: 0, rows: out.matrix.rows });
      const normed = nextNormed(this.walker, out.output);
      const block = normed === null ? null : await feedForward(this.walker, normed);
      if (!block) continue;
      this.add(`${at}.mlp.gate_proj`, block.gate);
      this.add(`${at}.mlp.up_proj`, block.up);
      this.add(`${at}.mlp.down_proj`, { product: block.down, first: 0, rows: block.down.matrix.rows });
    }
  }

  private async attentionInput(at: string, value: string): Promise<void> {
    const found = await backToProduct(this.walker, value);
    if (!found) return;
    this.add(`${at}_proj`, found);
    if (found.norm) this.addVector(`${at}_norm.weight`, found.norm);
  }

  private threeIn(at: string, product: Product, q: number, kv: number): void {
    this.add(`${at}.q_proj`, { product, first: 0, rows: q });
    this.add(`${at}.k_proj`, { product, first: q, rows: kv });
    this.add(`${at}.v_proj`, { product, first: q + kv, rows: kv });
  }

  private checkAttention(node: Node): void {
    const { heads, kvHeads, headDim } = this.config;
    const refuse = (setting: string, value: number | string): never => {
      throw new DreamError(
        'unsupported-setting',
        `${this.file}: node "${node.name}" sets "${setting}" to ${value}, which this engine does not compute.`,
        'Choose a model without it: Llama 2/3, SmolLM2, SmolLM3, Qwen2/2.5 or Qwen3 as published.',
      );
    };
    for (const [name, expected] of [
      ['num_heads', heads],
      ['kv_num_heads', kvHeads],
    ] as const) {
      if (numberOf(node, name, expected) === expected) continue;
      if (node.op === 'MultiHeadAttention') continue; // there every head has been given its own copy of keys
      throw new DreamError(
        'wrong-shape',
        `${this.file}: node "${node.name}" has ${name} ${numberOf(node, name, 0)}, its config says ${expected}.`,
        'Use the config.json that belongs to the weights.',
      );
    }
    if (numberOf(node, 'rotary_interleaved', 0) !== 0) refuse('rotary_interleaved', 1);
    if (numberOf(node, 'softcap', 0) !== 0) refuse('softcap', numberOf(node, 'softcap', 0));
    const window = numberOf(node, 'local_window_size', -1);
    if (window > 0 && window < this.config.contextLength) refuse('local_window_size', window);
    if (node.op === 'GroupQueryAttention' && node.inputs[11]) refuse('head_sink', node.inputs[11]);
    if (isScaled(node, headDim)) refuse('scale', numberOf(node, 'scale', 0));
  }

  /** Products that the flow did not place, by their nodes' names. */
  layersByName(): void {
    const { heads, kvHeads, headDim, ffn, layers } = this.config;
    for (const node of this.walker.graph.nodes) {
      const path = /(?:^|[./_])layers?[./_](\d{1,6})[./_].*?(q|k|v|qkv|o|gate|up|gate_up|down)_proj\b/.exec(
        node.name.replaceAll('_proj_', '_proj/'),
      );
      if (!path || Number(path[1]) >= layers) continue;
      const product = productOf(this.walker, node);
      if (!product) continue;
      const at = `model.layers.${path[1]}`;
      const whole = { product, first: 0, rows: product.matrix.rows };
      const part = path[2];
      if (part === 'qkv') this.threeIn(`${at}.self_attn`, product, heads * headDim, kvHeads * headDim);
      else if (part === 'gate_up') {
        this.add(`${at}.mlp.gate_proj`, { product, first: 0, rows: ffn });
        this.add(`${at}.mlp.up_proj`, { product, first: ffn, rows: ffn });
      } else if (part.length === 1) this.add(`${at}.self_attn.${part}_proj`, whole);
      else this.add(`${at}.mlp.${part}_proj`, whole);
    }
  }

  /** A projection's weight and bias; the first to claim a name keeps it. */
  private add(at: string, { product, first, rows }: Slice): void {
    if (this.products.has(at)) return;
    this.products.set(at, product);
    this.parts.set(`${at}.weight`, { kind: 'rows', matrix: product.matrix, first, rows });
    const bias = biasAfter(this.walker, product);
    if (!bias) return;
    if (!this.config.attentionBias || !/[qkv]_proj$/.test(at)) {
      throw new DreamError(
        'unsupported-setting',
        `${this.file}: "${at}" has a bias ("${bias.name}"), which its config does not announce.`,
        'Use the config.json that belongs to the weights.',
      );
    }
    this.parts.set(`${at}.bias`, { kind: 'vector', values: bias, first, length: rows });
  }

  private addVector(name: string, values: Located | null): void {
    if (!values || this.parts.has(name)) return;
    this.parts.set(name, { kind: 'vector', values, first: 0, length: values.dims[0] });
  }

  /** Each layer's two norms feed its q, k, v and its gate and up; head norms may have kept their names. */
  norms(): void {
    for (let layer = 0; layer < this.config.layers; layer++) {
      const at = `model.layers.${layer}`;
      const addBefore = (name: string, projection: string): void => {
        const product = this.products.get(`${at}.${projection}_proj`);
        if (product) this.addVector(`${at}.${name}.weight`, normBefore(this.walker, product.input));
      };
      for (const part of ['q', 'k', 'v']) addBefore('input_layernorm', `self_attn.${part}`);
      for (const part of ['gate', 'up']) addBefore('post_attention_layernorm', `mlp.${part}`);
      const names = ['input_layernorm', 'post_attention_layernorm'];
      if (this.config.qkNorm) names.push('self_attn.q_norm', 'self_attn.k_norm');
      for (const name of names) this.addNamedVector(`${at}.${name}.weight`);
    }
  }

  private addNamedVector(name: string): void {
    const tensor = this.walker.graph.initializers.get(name);
    const user = this.walker.consumers(name)[0];
    if (tensor?.dims.length === 1 && user) this.addVector(name, floats(this.walker, user, tensor));
  }

  /** Embedding, head and the norm before it. True when head and embedding are one. */
  async ends(): Promise<boolean> {
    const table = this.embedding();
    if (table) this.parts.set('model.embed_tokens.weight', { kind: 'rows', matrix: table, first: 0, rows: table.rows });
    const { outputs } = this.walker.graph;
    const logits = outputs.find((name) => name === 'logits') ?? outputs[0] ?? '';
    const head = await backToProduct(this.walker, logits);
    if (head) {
      this.addVector('model.norm.weight', normBefore(this.walker, head.product.input));
      if (biasAfter(this.walker, head.product)) this.add('lm_head', head); // refused there by name
    }
    this.addNamedVector('model.norm.weight');
    if (!head) return false;
    if (table && isSame(table, head.product.matrix)) return true;
    this.parts.set('lm_head.weight', { kind: 'rows', matrix: head.product.matrix, first: head.first, rows: head.rows });
    return false;
  }

  /** The look-up by token: of the vocabulary's length, and nearest to the input that is called so. */
  private embedding(): Matrix | null {
    const found: { node: Node; table: Matrix }[] = [];
    for (const node of this.walker.graph.nodes) {
      if (node.op !== 'Gather' && node.op !== 'GatherBlockQuantized') continue;
      const table = tableOf(this.walker, node);
      if (table && table.columns === this.config.width) found.push({ node, table });
    }
    const byInput = found.find(({ node }) => node.inputs[1] === 'input_ids');
    return (byInput ?? found.find(({ table }) => table.rows === this.config.vocabSize) ?? found[0])?.table ?? null;
  }
}

/** The same bytes, read the same way. */
function isSame(a: Matrix, b: Matrix): boolean {
  const first = a.kind === 'floats' ? a.values.data : a.codes.data;
  const second = b.kind === 'floats' ? b.values.data : b.codes.data;
  const way = (m: Matrix): string => `${m.rows} ${m.columns} ${m.kind === 'floats' ? m.transposed : m.blockSize}`;
  return first.file === second.file && first.offset === second.offset && a.kind === b.kind && way(a) === way(b);
}
