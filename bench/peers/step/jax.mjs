/**
 * @file The step in jax-js: value, gradient and AdamW in one jit-compiled function, as its users write it.
 *
 * AdamW is optax's, written out here (@jax-js/optax is not on every registry); inside the jit that makes no difference.
 * `.ref` is jax-js' ownership rule: every use but the last takes a reference.
 */
import { blockUntilReady, defaultDevice, init, jit, nn, numpy as np, tree, valueAndGrad } from '@jax-js/jax';
import { normEps, optimizer, ropeTables, tokenRows, weightTree } from './problem.mjs';

/** @typedef {import('@jax-js/jax').Array} Tensor */
/** @typedef {ReturnType<typeof import('./problem.mjs').weightTree<Tensor>>} Params */

/** @param {import('./problem.mjs').Shape} shape @returns {Promise<import('./problem.mjs').Contestant>} */
export async function prepare(shape) {
  if (!(await init('webgpu')).includes('webgpu')) throw new Error('jax-js found no WebGPU device that suits it.');
  defaultDevice('webgpu');
  const { batch, length, heads, headDim, vocab } = shape;
  const rows = tokenRows(shape);
  /** @param {number} from */
  const ids = (from) =>
    np.array(Int32Array.from(rows.flatMap((row) => row.slice(from, from + length))), { dtype: np.int32 });
  const inputs = ids(0);
  const targets = nn.oneHot(ids(1), vocab); // [batch * length, vocab]
  const tables = ropeTables(shape);
  const cos = np.array(tables.cos).reshape([length, 1, headDim]);
  const half = headDim / 2;
  const sin = np.array(tables.sin).reshape([length, 1, headDim]);

  /** @param {Tensor} x @param {Tensor} weight */
  const rmsNorm = (x, weight) => {
    const meanSquare = x.ref.mul(x.ref).mean(-1, { keepdims: true });
    return x.div(np.sqrt(meanSquare.add(normEps))).mul(weight);
  };
  /** @param {Tensor} x [batch, length, heads, headDim] */
  const rope = (x) => {
    const swapped = np.flip(x.ref.reshape([batch, length, heads, 2, half]), 3).reshape([batch, length, heads, headDim]);
    return x.mul(cos.ref).add(swapped.mul(sin.ref));
  };
  /** @param {Tensor} x [batch * length, width] */
  const split = (x) => x.reshape([batch, length, heads, headDim]);

  /** Mean cross-entropy. @param {Params} params @param {Tensor} tokens @param {Tensor} wanted */
  const lossOf = (params, tokens, wanted) => {
    let x = params.embed.ref.slice(tokens); // [batch * length, width]
    for (const p of params.layers) {
      const a = rmsNorm(x.ref, p.norm1);
      const q = rope(split(np.matmul(a.ref, p.q)));
      const k = rope(split(np.matmul(a.ref, p.k)));
      const v = split(np.matmul(a, p.v));
      const mixed = nn.dotProductAttention(q, k, v, { isCausal: true }).reshape([batch * length, heads * headDim]);
      x = x.add(np.matmul(mixed, p.o));
      const b = rmsNorm(x.ref, p.norm2);
      const gated = nn.silu(np.matmul(b.ref, p.gate)).mul(np.matmul(b, p.up));
      x = x.add(np.matmul(gated, p.down));
    }
    const logits = np.matmul(rmsNorm(x, params.norm), params.embed.transpose());
    return nn
      .logSoftmax(logits, -1)
      .mul(wanted)
      .sum()
      .div(-batch * length);
  };

  const { learningRate, beta1, beta2, eps, weightDecay } = optimizer;
  const compiled = jit(
    /** @type {(...trees: any[]) => any} */
    (params, moments1, moments2, correction1, correction2, tokens, wanted) => {
      const [loss, gradient] = valueAndGrad(lossOf)(tree.ref(params), tokens, wanted);
      const [weights, structure] = tree.flatten(params);
      const [m, v, g] = [moments1, moments2, gradient].map((each) => tree.flatten(each)[0]);
      const updated = weights.map((/** @type {Tensor} */ w, /** @type {number} */ i) => {
        const decay = w.ndim === 1 ? 1 : 1 - learningRate * weightDecay;
        const m1 = m[i].mul(beta1).add(g[i].ref.mul(1 - beta1));
        const v1 = v[i].mul(beta2).add(g[i].ref.mul(g[i]).mul(1 - beta2));
        const update = m1.ref.div(correction1.ref).div(np.sqrt(v1.ref.div(correction2.ref)).add(eps));
        return [w.mul(decay).sub(update.mul(learningRate)), m1, v1];
      });
      correction1.dispose();
      correction2.dispose();
      const [params1, next1, next2] = [0, 1, 2].map((part) =>
        tree.unflatten(
          structure,
          updated.map((/** @type {Tensor[]} */ each) => each[part]),
        ),
      );
      return [loss, params1, next1, next2];
    },
  );

  let params = weightTree(shape, (data, dims) => np.array(data).reshape(dims));
  let [moments1, moments2] = [0, 1].map(() => tree.map((/** @type {Tensor} */ w) => np.zeros(w.shape), params));
  let count = 0;
  return {
    async step() {
      count++;
      const corrections = [1 - beta1 ** count, 1 - beta2 ** count].map((value) => np.array([value]));
      let loss;
      [loss, params, moments1, moments2] = compiled(
        params,
        moments1,
        moments2,
        ...corrections,
        inputs.ref,
        targets.ref,
      );
      await blockUntilReady(params);
      return (await loss.data())[0];
    },
  };
}
