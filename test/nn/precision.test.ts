/** @file The cache in half precision: chosen only where it is right, half the bytes, and near what f32 gives. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { halfCacheChecks } from '../../src/gpu/checks/half-cache-checks';
import { falsified, runChecks } from '../../src/gpu/self-test';
import { floatToHalf, halfToFloat } from '../../src/models/half';
import { Attention } from '../../src/nn/attention';
import type { DecoderModel } from '../../src/nn/decoder-model';
import type { SamplingOptions } from '../../src/nn/language-model';
import { choosePrecision } from '../../src/nn/precision';
import { testGpu } from '../gpu';
import { normals } from '../numbers';
import { runKernel } from './run-kernel';
import { randomTokens, tinyConfig, tinyModel } from './tiny-models';

const [single, half] = [{ precision: 'f32' }, { precision: 'f16' }] as const;

describe('the check on this device', () => {
  test('passes, and f16 and auto are f16', async () => {
    const gpu = await testGpu();
    expect((await runChecks(gpu, halfCacheChecks())).filter(({ ok }) => !ok)).toEqual([]);
    expect(await choosePrecision(gpu, 'f16')).toBe('f16');
    expect(await choosePrecision(gpu, 'auto')).toBe('f16');
    expect(await choosePrecision(gpu, 'f32')).toBe('f32');
  });

  test.each(halfCacheChecks().map(({ name }) => name))('sees a wrong %s', async (name) => {
    const gpu = await testGpu();
    const results = await runChecks(gpu, halfCacheChecks(), { breakKernel: name });
    expect(results.filter(({ ok }) => !ok).map((result) => result.name)).toEqual([name]);
  });

  test('where it fails, auto stays f32 and f16 is refused in words', async () => {
    const gpu = await testGpu();
    // A driver whose packed halves are wrong: every kernel that packs gets a falsified text.
    const broken = new Proxy(gpu, {
      get(target, property) {
        if (property === 'kernel') return (source: string, entry: string) => gpu.kernel(wrong(source), entry);
        const value: unknown = Reflect.get(target, property, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    const wrong = (source: string) => (source.includes('pack2x16float(v') ? falsified(source) : source);
    expect(await choosePrecision(broken, 'auto')).toBe('f32');
    await expect(choosePrecision(broken, 'f16')).rejects.toMatchObject({
      code: 'f16-unreliable',
      message: expect.stringContaining('half-cache-store'),
      advice: expect.any(String),
    });
  });
});

test('rows are stored as the nearest halves, nothing becomes infinite', async () => {
  const gpu = await testGpu();
  const attention = new Attention(gpu, tinyConfig);
  attention.useCache('f16');
  const t = 5;
  const width = attention.qWidth4 * 4;
  const row = attention.kvWidth4 * 4;
  const qkv = normals(3, t * width, 3);
  const first = width - row;
  qkv[first] = 1e9;
  qkv[first + 1] = -7e4;
  const data = { qkv, rows: Uint32Array.from([2, 0, 2, 1, 2, 2, 9, 0, 9, 1]), cache: new Uint32Array((12 * row) / 2) };
  const { cache } = await runKernel(gpu, data, (rec, b) => attention.store(rec, b.qkv, b.rows, b.cache, t));
  expect(attention.cacheRowBytes).toBe(row * 2);
  const places = [2, 3, 4, 9, 10];
  places.forEach((place, token) => {
    for (let i = 0; i < row; i++) {
      const word = cache[(place * row + i) / 2 - (i % 2) / 2];
      const value = qkv[token * width + first + i];
      const wanted = halfToFloat(floatToHalf(Math.max(-65504, Math.min(65504, value))));
      const got = halfToFloat(i % 2 === 0 ? word & 0xffff : word >>> 16);
      // A device may round either way: at most one step of a half.
      expect(Math.abs(got - wanted)).toBeLessThanOrEqual(Math.abs(wanted) * 2 ** -10);
    }
  });
});

describe('a model with its cache in f16', () => {
  const greedy: SamplingOptions = { temperature: 0, seed: 5, stopTokens: [], maxNewTokens: 10 };
  const sequences = randomTokens(4, [40, 3, 17, 1]);
  let exact: DecoderModel;
  let halved: DecoderModel;
  beforeAll(async () => {
    [exact, halved] = [await tinyModel(single), await tinyModel(half)];
  });
  afterAll(() => {
    exact.dispose();
    halved.dispose();
  });

  test('says so, and its caches take half the bytes', async () => {
    const { memory } = await testGpu();
    const bytesOf = (model: DecoderModel) => {
      const before = memory.bytesInUse;
      const sessions = model.sessions(64);
      const bytes = memory.bytesInUse - before;
      sessions.dispose();
      return bytes;
    };
    expect([exact.precision, halved.precision]).toEqual(['f32', 'f16']);
    expect(bytesOf(halved)).toBe(bytesOf(exact) / 2);
  });

  test('scores through the cache: near f32, and not the same', async () => {
    const [a, b] = [await exact.score(sequences), await halved.score(sequences)];
    const gaps = a.flatMap((scores, i) => [...scores].map((value, at) => Math.abs(value - b[i][at])));
    expect(Math.max(...gaps)).toBeLessThan(3e-2);
    expect(Math.max(...gaps)).toBeGreaterThan(0);
    expect(await halved.score(sequences)).toEqual(b);
  });

  test('what it draws has the log-probabilities that it scores, also after a copied beginning', async () => {
    const sessions = halved.sessions(3);
    sessions.append(0, sequences[0]);
    await sessions.copy(0, [1, 2]);
    sessions.append(2, [7, 8, 9]);
    const drawn = await sessions.generate([0, 1, 2], greedy);
    sessions.dispose();
    expect(drawn[1]).toEqual(drawn[0]);
    const [first, third] = await halved.score([
      [...sequences[0], ...drawn[0].tokens],
      [...sequences[0], 7, 8, 9, ...drawn[2].tokens],
    ]);
    drawn[0].logProbs.forEach((value, i) => {
      expect(value).toBeCloseTo(first[sequences[0].length + i], 3);
    });
    drawn[2].logProbs.forEach((value, i) => {
      expect(value).toBeCloseTo(third[sequences[0].length + 3 + i], 3);
    });
  });

  test('the plain and the subgroup kernels read halves to the same bits', async () => {
    const { attention } = halved.decoder;
    if (!attention.hasSubgroupVariant) return expect(attention.variant).toBe('plain');
    const results = [];
    for (const variant of ['plain', 'subgroup'] as const) {
      attention.variant = variant;
      attention.decodeVariant = variant;
      const sessions = halved.sessions(2);
      sessions.append(0, sequences[0]);
      sessions.append(1, sequences[2]);
      results.push(await sessions.generate([0, 1], greedy));
      sessions.dispose();
    }
    expect(results[1]).toEqual(results[0]);
  });
});
