/** @file Speeds of attention while decoding: one new token a stream against its cache, in both precisions of the cache. */
import type { Gpu } from '../gpu/device';
import { bestMilliseconds } from '../gpu/peak';
import { SHAPES } from '../models/random-source';
import { Attention } from '../nn/attention';
import { choosePrecision } from '../nn/precision';
import type { KernelSpeed } from './bench-quantised';

/** Keys that each token attends to. */
const KEYS = 512;

/** `rows` streams at once, in the shape of SmolLM2-135M's heads. A device that fails the check of f16 has no f16 here. */
export async function attentionSpeeds(gpu: Gpu, peak: number, rows: readonly number[]): Promise<KernelSpeed[]> {
  const config = { ...SHAPES['smollm2-135m'], contextLength: KEYS };
  const attention = new Attention(gpu, config);
  await attention.tune();
  const best = await choosePrecision(gpu, 'auto');
  const result: KernelSpeed[] = [];
  for (const precision of best === 'f16' ? (['f32', 'f16'] as const) : (['f32'] as const)) {
    attention.useCache(precision);
    await gpu.ready();
    for (const m of rows) {
      const places = Array.from({ length: m }, (_, stream) => [stream * KEYS, KEYS - 1]);
      const buffers = {
        rows: gpu.upload(Uint32Array.from(places.flat()), 'bench rows'),
        qkv: gpu.upload(new Float32Array(m * attention.qWidth4 * 4).fill(0.1), 'bench qkv'),
        cache: gpu.alloc(m * KEYS * attention.cacheRowBytes, 'bench cache'),
        o: gpu.alloc(m * config.heads * config.headDim * 4, 'bench o'),
        lse: gpu.alloc(m * config.heads * 4, 'bench lse'),
      };
      const clear = gpu.record('clear');
      clear.clear(buffers.cache); // what lay in memory may be slow not-a-numbers
      clear.submit();
      const operations = 4 * m * KEYS * config.heads * config.headDim;
      const repeats = Math.max(1, Math.min(64, Math.round(1e8 / operations)));
      const { qkv, cache, o, lse } = buffers;
      const milliseconds = await bestMilliseconds(gpu, () => {
        const rec = gpu.record('attention');
        for (let i = 0; i < repeats; i++) attention.forwardCached(rec, qkv, cache, buffers.rows, o, lse, m, KEYS);
        rec.submit();
      });
      const gflops = (operations * repeats) / milliseconds / 1e6;
      result.push({ name: `attention_decode_${precision}`, m, gflops, fractionOfPeak: gflops / peak });
      for (const buffer of Object.values(buffers)) buffer.release();
    }
  }
  gpu.memory.trim();
  return result;
}
