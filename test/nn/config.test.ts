import { describe, expect, test } from 'vitest';
import { checkConfig, configFromJson, configToJson, type DecoderConfig, parameterCount } from '../../src/nn/config';
import { Decoder } from '../../src/nn/decoder';
import { testGpu } from '../gpu';
import { tinyConfig } from './tiny-models';

test('config.json there and back', () => {
  expect(configFromJson(configToJson(tinyConfig))).toEqual(tinyConfig);
});

test('what a Llama config.json may leave out has its usual value', () => {
  const json = configToJson(tinyConfig);
  for (const name of ['num_key_value_heads', 'head_dim', 'rope_theta', 'rms_norm_eps']) delete json[name];
  const { heads, width } = tinyConfig;
  expect(() => configFromJson(json)).toThrow(); // 16 / 4 heads: too narrow
  expect(configFromJson({ ...json, hidden_size: 32 })).toMatchObject({
    kvHeads: heads,
    headDim: (2 * width) / heads,
    ropeTheta: 10_000,
    normEps: 1e-5,
  });
});

test.each(['hidden_size', 'vocab_size', 'num_hidden_layers', 'intermediate_size'])('%s must be there', (name) => {
  const json = { ...configToJson(tinyConfig), [name]: undefined };
  expect(() => configFromJson(json)).toThrow(expect.objectContaining({ code: 'bad-model-config' }));
  expect(() => configFromJson({ ...json, [name]: 'many' })).toThrow(name);
});

describe('dimensions the kernels cannot take are refused', () => {
  test.each<[keyof DecoderConfig, number]>([
    ['vocabSize', 23],
    ['vocabSize', 0],
    ['width', 18],
    ['layers', 0],
    ['heads', 3],
    ['kvHeads', 3],
    ['headDim', 12],
    ['headDim', 4],
    ['ffn', 30],
    ['contextLength', -1],
    ['contextLength', 1.5],
    ['layers', Number.NaN],
  ])('%s = %d', (name, value) => {
    expect(() => checkConfig({ ...tinyConfig, [name]: value })).toThrow(
      expect.objectContaining({ code: 'bad-model-config' }),
    );
  });
});

test.each([tinyConfig, { ...tinyConfig, kvHeads: 4, layers: 3, ffn: 64 }])(
  'parameterCount counts them all',
  async (config) => {
    const decoder = new Decoder(await testGpu(), config);
    expect(parameterCount(config)).toBe(decoder.parameters.reduce((sum, p) => sum + p.count, 0));
    decoder.dispose();
  },
);
