/**
 * @file The short chains between the big operators of a decoder: from an attention's input back to the product that made
 * it (through bias, head norms, rotation, a split of stacked rows), and from a product back to the norm before it.
 */
import { type GraphWalker, isPassing, isSelecting, MAX_HOPS, numberOf } from './graph';
import type { Located } from './matrix';
import type { Node } from './model';
import { floats, type Product, productOf } from './operators';

const NORMS = new Set(['SimplifiedLayerNormalization', 'RMSNormalization']);
const SKIP_NORM = 'SkipSimplifiedLayerNormalization';

/** Rows [first, first + rows) of a product with constant weights. */
export interface Slice {
  readonly product: Product;
  readonly first: number;
  readonly rows: number;
}

/** What a value is made of, back to the product; with the norm over each head on the way (Qwen3). */
export async function backToProduct(
  walker: GraphWalker,
  value: string,
): Promise<(Slice & { norm: Located | null }) | null> {
  let at = value;
  let cut: { first: number; rows: number } | null = null;
  let norm: Located | null = null;
  for (let hops = 0; hops < MAX_HOPS; hops++) {
    const made = walker.maker(at);
    if (!made) return null;
    const { node, output } = made;
    const product = productOf(walker, node);
    if (product) return { product, ...(cut ?? { first: 0, rows: product.matrix.rows }), norm };
    if (node.op === 'Split' || (node.op === 'Slice' && !(await takesPositions(walker, node)))) {
      const part = await partOf(walker, node, output);
      if (!part) return null;
      cut = cut ? { first: part.first + cut.first, rows: cut.rows } : part;
    } else if (NORMS.has(node.op) && output === 0) {
      norm = weightOf(walker, node, 1);
    } else if (node.op === 'Add') {
      const constant = node.inputs.findIndex((input) => walker.constant(input) !== null);
      if (constant < 0) return null;
      at = node.inputs[1 - constant] ?? '';
      continue;
    } else if (node.op !== 'RotaryEmbedding' && !isPassing(node) && !isSelecting(node)) return null;
    at = node.inputs[0] ?? '';
  }
  return null;
}

/** A Slice of the first two axes [batch, time] leaves the features whole. */
async function takesPositions(walker: GraphWalker, node: Node): Promise<boolean> {
  const axes = node.attributes.get('axes') ?? (await walker.integers(node.inputs[3] ?? ''));
  return Array.isArray(axes) && axes.every((axis) => axis === 0 || axis === 1);
}

/** Which features an output of a Split, or a Slice, takes. */
async function partOf(
  walker: GraphWalker,
  node: Node,
  output: number,
): Promise<{ first: number; rows: number } | null> {
  const list = async (attribute: string, input: number): Promise<readonly number[] | null> => {
    const value = node.attributes.get(attribute);
    return Array.isArray(value) ? value : walker.integers(node.inputs[input] ?? '');
  };
  if (node.op === 'Split') {
    const sizes = (await list('split', 1)) ?? (await equalParts(walker, node));
    if (!sizes || output >= sizes.length) return null;
    return { first: sizes.slice(0, output).reduce((a, b) => a + b, 0), rows: sizes[output] };
  }
  const starts = await list('starts', 1);
  const ends = await list('ends', 2);
  if (starts?.length !== 1 || ends?.length !== 1 || starts[0] < 0) return null;
  const end = Math.min(ends[0], (await rowsBehind(walker, node.inputs[0] ?? '')) ?? 0);
  return { first: starts[0], rows: end - starts[0] };
}

async function equalParts(walker: GraphWalker, node: Node): Promise<number[] | null> {
  const rows = await rowsBehind(walker, node.inputs[0] ?? '');
  const parts = node.outputs.length;
  return rows !== null && rows % parts === 0 ? new Array<number>(parts).fill(rows / parts) : null;
}

async function rowsBehind(walker: GraphWalker, value: string): Promise<number | null> {
  const made = walker.maker(value)?.node;
  // A cut of a cut occurs in no exporter; following it would only let a damaged graph recurse.
  if (!made || made.op === 'Split' || made.op === 'Slice') return null;
  const whole = await backToProduct(walker, value);
  return whole ? whole.rows : null;
}

/** The bias added to a product: by the operator, or by an Add after it. */
export function biasAfter(walker: GraphWalker, product: Product): Located | null {
  if (product.bias) return product.bias;
  for (const { node, value } of walker.consumersBeyond(product.output)) {
    if (node.op !== 'Add') continue;
    const other = node.inputs[0] === value ? node.inputs[1] : node.inputs[0];
    const constant = walker.constant(other ?? '');
    if (constant?.tensor.dims.length === 1) return floats(walker, node, constant.tensor);
  }
  return null;
}

/** The weight of the norm whose result this is (fused, or spelt out as a product with its weight). */
export function normBefore(walker: GraphWalker, value: string): Located | null {
  let at = value;
  for (let hops = 0; hops < MAX_HOPS; hops++) {
    const made = walker.maker(at);
    if (!made) return null;
    const { node, output } = made;
    if (output === 0 && NORMS.has(node.op)) return weightOf(walker, node, 1);
    if (output === 0 && node.op === SKIP_NORM) return weightOf(walker, node, 2);
    if (node.op === 'Mul') return weightOf(walker, node, 0) ?? weightOf(walker, node, 1);
    if (!isPassing(node) && !isSelecting(node)) return null;
    at = node.inputs[0] ?? '';
  }
  return null;
}

/** Where the sum of a layer's output and its residual appears normed: the input of the next products. */
export function nextNormed(walker: GraphWalker, value: string): string | null {
  for (const { node } of walker.consumersBeyond(value)) {
    if (node.op === SKIP_NORM || NORMS.has(node.op)) return node.outputs[0] ?? null;
    if (node.op !== 'Add') continue;
    for (const { node: after } of walker.consumersBeyond(node.outputs[0] ?? ''))
      if (NORMS.has(after.op)) return after.outputs[0] ?? null;
  }
  return null;
}

/** The vector behind a node's input, or null. */
export function weightOf(walker: GraphWalker, node: Node, input: number): Located | null {
  const constant = walker.constant(node.inputs[input] ?? '');
  return constant?.tensor.dims.length === 1 ? floats(walker, node, constant.tensor) : null;
}

/** The products with constant weights that take a value. */
export function productsOf(walker: GraphWalker, value: string): Product[] {
  const products: Product[] = [];
  for (const { node, value: taken } of walker.consumersBeyond(value)) {
    const product = productOf(walker, node);
    if (product && product.input === taken) products.push(product);
  }
  return products;
}

const ACTIVATIONS = new Set(['Sigmoid', 'Silu', 'Swish', 'QuickGelu']);

/** A feed-forward block's gate, up and down from its normed input; null where the graph is spelt in another way. */
export async function feedForward(
  walker: GraphWalker,
  normed: string,
): Promise<{ gate: Slice; up: Slice; down: Product } | null> {
  const branches: (Slice & { value: string })[] = [];
  for (const product of productsOf(walker, normed)) {
    const cuts: string[] = [];
    for (const { node } of walker.consumersBeyond(product.output))
      if (node.op === 'Split' || node.op === 'Slice') cuts.push(...node.outputs);
    for (const value of cuts.length > 0 ? cuts : [product.output]) {
      const part = await backToProduct(walker, value);
      if (part?.product.node === product.node) branches.push({ ...part, value });
    }
  }
  const isGate = ({ value }: { value: string }): boolean =>
    [...walker.consumersBeyond(value)].some(({ node }) => ACTIVATIONS.has(node.op));
  const gate = branches.find(isGate);
  const up = branches.find((branch) => !isGate(branch));
  if (branches.length !== 2 || !gate || !up) return null;
  for (const { node } of walker.consumersBeyond(up.value)) {
    if (node.op !== 'Mul') continue;
    const [down] = productsOf(walker, node.outputs[0] ?? '');
    if (down) return { gate, up, down };
  }
  return null;
}

/** The attention nodes of the fused kind, which name their queries, keys and values. */
export function attentionNodes(walker: GraphWalker): Node[] {
  const isAttention = ({ op }: Node): boolean => op === 'GroupQueryAttention' || op === 'MultiHeadAttention';
  const nodes = walker.graph.nodes.filter(isAttention);
  // Their order is that of the layers; the cache says so too where it is named as usual.
  const layer = (node: Node): number => {
    const cache = node.inputs.map((input) => /^past_key_values\.(\d{1,6})\.key$/.exec(input)).find(Boolean);
    return cache ? Number(cache[1]) : -1;
  };
  const numbered = nodes.map((node) => ({ node, layer: layer(node) }));
  return numbered.every(({ layer }) => layer >= 0)
    ? numbered.sort((a, b) => a.layer - b.layer).map(({ node }) => node)
    : nodes;
}

export const isScaled = (node: Node, headDim: number): boolean => {
  const scale = numberOf(node, 'scale', 0);
  return scale !== 0 && Math.abs(scale * Math.sqrt(headDim) - 1) > 1e-3;
};
