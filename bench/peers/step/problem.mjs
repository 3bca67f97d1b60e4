/**
 * @file The training step that all contestants take: shape, first weights, tokens, optimiser; the same numbers for each.
 *
 * A Llama-style decoder in float32 with a tied head; the loss is the mean cross-entropy of all targets, so that no
 * engine gains by masking.
 */

/**
 * @typedef {object} Shape
 * @property {number} layers
 * @property {number} width
 * @property {number} heads
 * @property {number} headDim
 * @property {number} ffn
 * @property {number} vocab
 * @property {number} batch
 * @property {number} length Tokens read (and as many predicted) in each sequence.
 */

/** @type {Record<string, Shape>} tiny: to see that everything runs. */
export const shapes = {
  full: { layers: 4, width: 256, heads: 8, headDim: 32, ffn: 768, vocab: 256, batch: 8, length: 128 },
  tiny: { layers: 2, width: 64, heads: 2, headDim: 32, ffn: 192, vocab: 64, batch: 2, length: 16 },
};

export const ropeTheta = 10000;
export const normEps = 1e-5;

/** AdamW; matrices decay, norms do not. */
export const optimizer = { learningRate: 1e-3, beta1: 0.9, beta2: 0.95, eps: 1e-8, weightDecay: 0.01 };

/** splitmix32: 32-bit integers, so the same everywhere. @param {number} seed */
function generator(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x9e3779b9) >>> 0;
    let z = state;
    z = Math.imul(z ^ (z >>> 16), 0x21f0aaad);
    z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
    return ((z ^ (z >>> 15)) >>> 0) / 4294967296;
  };
}

/**
 * [batch][length + 1] token ids: the first `length` are read, the last `length` predicted. Skewed, so that there is
 * something to learn.
 * @param {Shape} shape
 */
export function tokenRows({ batch, length, vocab }) {
  const random = generator(1);
  return Array.from({ length: batch }, () =>
    Array.from({ length: length + 1 }, () => Math.floor(vocab * random() * random())),
  );
}

/** The projections of a layer, [outputs, inputs]. @param {Shape} shape @returns {[string, number, number][]} */
export function projections({ width, heads, headDim, ffn }) {
  const inner = heads * headDim;
  return [
    ['self_attn.q_proj', inner, width],
    ['self_attn.k_proj', inner, width],
    ['self_attn.v_proj', inner, width],
    ['self_attn.o_proj', width, inner],
    ['mlp.gate_proj', ffn, width],
    ['mlp.up_proj', ffn, width],
    ['mlp.down_proj', width, ffn],
  ];
}

/**
 * First weights by Hugging Face's names.
 * @param {Shape} shape
 * @returns {Map<string, {shape: number[], data: Float32Array<ArrayBuffer>}>}
 */
export function firstWeights(shape) {
  const { layers, width, vocab } = shape;
  const random = generator(2);
  /** @type {Map<string, {shape: number[], data: Float32Array<ArrayBuffer>}>} */
  const weights = new Map();
  /** @param {string} name @param {number} rows @param {number} columns */
  const matrix = (name, rows, columns) => {
    const data = new Float32Array(rows * columns);
    for (let i = 0; i < data.length; i++)
      data[i] = 0.05 * Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
    weights.set(`${name}.weight`, { shape: [rows, columns], data });
  };
  /** @param {string} name */
  const norm = (name) => weights.set(`${name}.weight`, { shape: [width], data: new Float32Array(width).fill(1) });
  matrix('model.embed_tokens', vocab, width);
  for (let l = 0; l < layers; l++) {
    norm(`model.layers.${l}.input_layernorm`);
    norm(`model.layers.${l}.post_attention_layernorm`);
    for (const [name, rows, columns] of projections(shape)) matrix(`model.layers.${l}.${name}`, rows, columns);
  }
  norm('model.norm');
  return weights;
}

/**
 * The same weights as the peers' users keep them: a tree, and matrices of products as [inputs, outputs].
 * @template T
 * @param {Shape} shape
 * @param {(data: Float32Array<ArrayBuffer>, shape: number[]) => T} tensor
 */
export function weightTree(shape, tensor) {
  const weights = firstWeights(shape);
  /** @param {string} name @param {boolean} [turn] */
  const load = (name, turn = false) => {
    const found = weights.get(`${name}.weight`);
    if (!found) throw new Error(`There is no weight "${name}".`);
    const { data } = found;
    if (!turn) return tensor(data, found.shape);
    const [outputs, inputs] = found.shape;
    const turned = new Float32Array(data.length);
    for (let o = 0; o < outputs; o++) for (let i = 0; i < inputs; i++) turned[i * outputs + o] = data[o * inputs + i];
    return tensor(turned, [inputs, outputs]);
  };
  return {
    embed: load('model.embed_tokens'),
    layers: Array.from({ length: shape.layers }, (_, l) => {
      const at = `model.layers.${l}`;
      return {
        norm1: load(`${at}.input_layernorm`),
        q: load(`${at}.self_attn.q_proj`, true),
        k: load(`${at}.self_attn.k_proj`, true),
        v: load(`${at}.self_attn.v_proj`, true),
        o: load(`${at}.self_attn.o_proj`, true),
        norm2: load(`${at}.post_attention_layernorm`),
        gate: load(`${at}.mlp.gate_proj`, true),
        up: load(`${at}.mlp.up_proj`, true),
        down: load(`${at}.mlp.down_proj`, true),
      };
    }),
    norm: load('model.norm'),
  };
}

/**
 * RoPE's tables for half-split rotation, [length, headDim]: out = x cos + swap(x) sin, where swap exchanges the halves
 * and the rotation's sign is kept in the table.
 * @param {Shape} shape
 */
export function ropeTables({ length, headDim }) {
  const cos = new Float32Array(length * headDim);
  const sin = new Float32Array(length * headDim);
  const half = headDim / 2;
  for (let t = 0; t < length; t++) {
    for (let d = 0; d < headDim; d++) {
      const angle = t * ropeTheta ** ((-2 * (d % half)) / headDim);
      cos[t * headDim + d] = Math.cos(angle);
      sin[t * headDim + d] = d < half ? -Math.sin(angle) : Math.sin(angle);
    }
  }
  return { cos, sin };
}

/**
 * @typedef {object} Contestant
 * @property {() => Promise<number>} step One step; resolves to its loss when loss and new weights are computed.
 */
