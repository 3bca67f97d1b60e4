/** @file Speeds of the quantised kernels, and of a language model of SmolLM2-135M's shape that stands on them. */
import type { Gpu } from '../gpu/device';
import { bestMilliseconds } from '../gpu/peak';
import { loadModel } from '../models/load-model';
import { randomSource } from '../models/random-source';
import { Matmul } from '../nn/matmul';
import type { Precision, PrecisionChoice } from '../nn/precision';
import { QuantisedMatrix } from '../nn/quantised-matrix';
import { QuantisedProducts } from '../nn/quantised-products';

export interface KernelSpeed {
  name: string;
  m: number;
  gflops: number;
  fractionOfPeak: number;
}

/** Llama-3.2-1B's hidden size: a square projection that is neither tiny nor larger than a software adapter's caches. */
const SIZE = 2048;

/** Forward and dX of both forms at m rows of x. */
export async function quantisedSpeeds(gpu: Gpu, peak: number, rows: readonly number[]): Promise<KernelSpeed[]> {
  const matmul = new Matmul(gpu);
  const products = new QuantisedProducts(gpu, matmul);
  const matrices = (['q4', 'q8'] as const).map((form) => {
    const matrix = new QuantisedMatrix(gpu, `bench ${form}`, SIZE, SIZE, form, 'half');
    products.prepare(matrix);
    return matrix;
  });
  await matmul.tune();
  const result: KernelSpeed[] = [];
  for (const matrix of matrices) {
    for (const m of rows) {
      const x = gpu.alloc(m * SIZE * 4, 'bench x');
      const y = gpu.alloc(m * SIZE * 4, 'bench y');
      const operations = 2 * m * SIZE * SIZE;
      const repeats = Math.max(1, Math.min(64, Math.round(2e8 / operations)));
      for (const direction of ['forward', 'backward'] as const) {
        const milliseconds = await bestMilliseconds(gpu, () => {
          const rec = gpu.record(direction);
          for (let i = 0; i < repeats; i++) products[direction](rec, matrix, x, y, m);
          rec.submit();
        });
        const gflops = (operations * repeats) / milliseconds / 1e6;
        result.push({ name: `${matrix.form}_${direction}`, m, gflops, fractionOfPeak: gflops / peak });
      }
      x.release();
      y.release();
    }
    matrix.dispose();
  }
  products.dispose();
  gpu.memory.trim();
  return result;
}

/** Tokens a second that a 135-million-weight model in 4 bits draws, all streams together. */
export async function languageModelDecode(
  gpu: Gpu,
  batches: readonly number[],
  choice: PrecisionChoice = 'f32',
): Promise<{ precision: Precision; decode: { batch: number; tokensPerSecond: number }[] }> {
  const model = await loadModel(gpu, randomSource('smollm2-135m'), { contextLength: 128, precision: choice });
  const decode = batches.map((batch) => ({ batch, tokensPerSecond: 0 }));
  // The batches take turns, so that a machine that is busy for a while is so for all of them.
  for (let round = 0; round < 3; round++) {
    for (const result of decode) {
      const { batch } = result;
      const sessions = model.sessions(batch);
      const streams = Array.from({ length: batch }, (_, i) => i);
      const options = { temperature: 1, seed: 1, stopTokens: [], maxNewTokens: 17 };
      for (const stream of streams) sessions.append(stream, [1 + stream, 2, 3, 4]);
      await sessions.generate(streams, { ...options, maxNewTokens: 1 }); // the prompt is not decoding
      const start = performance.now();
      await sessions.generate(streams, options);
      const tokensPerSecond = (batch * options.maxNewTokens) / ((performance.now() - start) / 1000);
      if (round > 0) result.tokensPerSecond = Math.max(result.tokensPerSecond, tokensPerSecond);
      sessions.dispose();
    }
  }
  const { precision } = model;
  model.dispose();
  gpu.memory.trim();
  return { precision, decode };
}
