/** @file The step in TensorFlow.js: variableGrads over tf.variables, then its Adam, with the decay of AdamW before it. */
import '../host/as-worker.mjs';
import * as tf from '@tensorflow/tfjs-core';
import '@tensorflow/tfjs-backend-webgpu';
import '@tensorflow/tfjs-core/dist/register_all_gradients';
import { normEps, optimizer, ropeTables, tokenRows, weightTree } from './problem.mjs';

/** @param {import('./problem.mjs').Shape} shape @returns {Promise<import('./problem.mjs').Contestant>} */
export async function prepare(shape) {
  if (!(await tf.setBackend('webgpu'))) throw new Error('tfjs could not start its WebGPU backend.');
  const { batch, length, heads, headDim, vocab } = shape;
  const rows = tokenRows(shape);
  const t = batch * length;
  /** @param {number} from */
  const ids = (from) =>
    tf.tensor1d(
      rows.flatMap((row) => row.slice(from, from + length)),
      'int32',
    );
  const inputs = ids(0);
  const targets = tf.oneHot(ids(1), vocab); // [t, vocab]
  const tables = ropeTables(shape);
  const cos = tf.tensor(tables.cos, [length, 1, headDim]);
  const sin = tf.tensor(tables.sin, [length, 1, headDim]);
  // 0 where a key may be seen, a large negative number where it lies ahead.
  const mask = tf.tensor(
    Float32Array.from({ length: length * length }, (_, i) => (i % length > Math.floor(i / length) ? -1e9 : 0)),
    [1, 1, length, length],
  );
  const params = weightTree(shape, (data, dims) => tf.variable(tf.tensor(data, dims)));
  const matrices = [params.embed, ...params.layers.flatMap(({ norm1, norm2, ...rest }) => Object.values(rest))];

  /** @param {tf.Tensor} x @param {tf.Tensor} weight */
  const rmsNorm = (x, weight) => tf.mul(tf.mul(x, tf.rsqrt(tf.add(tf.mean(tf.square(x), -1, true), normEps))), weight);
  /** @param {tf.Tensor} x [batch, length, heads, headDim] */
  const rope = (x) => {
    const swapped = tf.reshape(tf.reverse(tf.reshape(x, [t, heads, 2, headDim / 2]), 2), x.shape);
    return tf.add(tf.mul(x, cos), tf.mul(swapped, sin));
  };
  /** @param {tf.Tensor} x [t, heads * headDim] */
  const split = (x) => tf.reshape(x, [batch, length, heads, headDim]);
  /** @param {tf.Tensor} x [batch, a, b, headDim] with a and b exchanged */
  const swap = (x) => tf.transpose(x, [0, 2, 1, 3]);

  /** Mean cross-entropy. @returns {tf.Scalar} */
  const loss = () => {
    let x = tf.gather(params.embed, inputs);
    for (const p of params.layers) {
      const a = rmsNorm(x, p.norm1);
      const q = swap(rope(split(tf.matMul(a, p.q))));
      const k = swap(rope(split(tf.matMul(a, p.k))));
      const v = swap(split(tf.matMul(a, p.v)));
      const scores = tf.add(tf.mul(tf.matMul(q, k, false, true), 1 / Math.sqrt(headDim)), mask);
      const mixed = tf.reshape(swap(tf.matMul(tf.softmax(scores), v)), [t, heads * headDim]);
      x = tf.add(x, tf.matMul(mixed, p.o));
      const b = rmsNorm(x, p.norm2);
      const gate = tf.matMul(b, p.gate);
      x = tf.add(x, tf.matMul(tf.mul(tf.mul(gate, tf.sigmoid(gate)), tf.matMul(b, p.up)), p.down));
    }
    const logits = tf.matMul(rmsNorm(x, params.norm), params.embed, false, true);
    return tf.mul(tf.sum(tf.mul(tf.logSoftmax(logits), targets)), -1 / t);
  };

  const { learningRate, beta1, beta2, eps, weightDecay } = optimizer;
  const adam = tf.train.adam(learningRate, beta1, beta2, eps);
  const { device } = /** @type {{device: GPUDevice}} */ (/** @type {unknown} */ (tf.backend()));
  return {
    async step() {
      const { value, grads } = tf.variableGrads(loss);
      tf.tidy(() => {
        for (const w of matrices) w.assign(tf.mul(w, 1 - learningRate * weightDecay));
      });
      adam.applyGradients(/** @type {any} */ (grads)); // declared more narrowly than it is
      tf.dispose(grads);
      const [number] = await value.data();
      value.dispose();
      await device.queue.onSubmittedWorkDone();
      return number;
    },
  };
}
