/** @file Which files of a repository make the model. */
import { describe, expect, test } from 'vitest';
import { chooseFiles } from '../../../src/models/sources/choose-files';

const repository = (...paths: string[]) => paths.map((path, i) => ({ path, size: 100 - i }));
const settings = ['config.json', 'tokenizer.json', 'tokenizer_config.json', 'generation_config.json', 'README.md'];

const choose = (paths: string[], version: string | null = null) => chooseFiles(repository(...paths), version, 'a/b');

describe('GGUF', () => {
  const paths = ['m-Q2_K.gguf', 'm-IQ4_XS.gguf', 'm-Q8_0.gguf', 'm-Q4_K_M.gguf', 'm-Q4_0.gguf', 'mmproj-F16.gguf'];

  test('takes four bits, says what else there is, and no vision tower', () => {
    const choice = choose(paths);
    expect(choice).toMatchObject({ format: 'gguf', main: 'm-Q4_K_M.gguf' });
    expect(choice.files.map((file) => file.path)).toEqual(['m-Q4_K_M.gguf']);
    expect(choice.others).toEqual(['m-Q2_K.gguf', 'm-IQ4_XS.gguf', 'm-Q8_0.gguf', 'm-Q4_0.gguf']);
  });

  test('or the one that is named, by quantisation or by file', () => {
    expect(choose(paths, 'q8_0').main).toBe('m-Q8_0.gguf');
    expect(choose(paths, 'm-Q2_K.gguf').main).toBe('m-Q2_K.gguf');
    expect(() => choose(paths, 'Q5_K_M')).toThrow(
      expect.objectContaining({ code: 'no-model-files', message: expect.stringContaining('m-Q4_0.gguf') }),
    );
  });

  test('an unknown quantisation is taken when it is alone, two are ambiguous', () => {
    expect(choose(['model.gguf']).main).toBe('model.gguf');
    expect(() => choose(['one.gguf', 'two.gguf'])).toThrow(
      expect.objectContaining({ code: 'model-ambiguous', message: expect.stringContaining('one.gguf, two.gguf') }),
    );
    expect(() => choose(['a-Q4_0.gguf', 'b-Q4_0.gguf'])).toThrow(expect.objectContaining({ code: 'model-ambiguous' }));
  });
});

describe('ONNX', () => {
  const onnx = ['model.onnx', 'model_fp16.onnx', 'model_q4.onnx', 'model_q4f16.onnx', 'model_q4.onnx_data'];
  const paths = [...settings, 'model.safetensors', ...onnx.map((name) => `onnx/${name}`)];

  test('takes q4f16 over q4 over float, with the settings from above', () => {
    const choice = choose(paths);
    expect(choice.main).toBe('onnx/model_q4f16.onnx');
    expect(choice.files.map((file) => file.path).sort()).toEqual([
      'config.json',
      'generation_config.json',
      'onnx/model_q4f16.onnx',
      'tokenizer.json',
      'tokenizer_config.json',
    ]);
  });

  test('with its external data', () => {
    const sizes = choose(paths, 'q4').files.map((file) => file.path);
    expect(sizes).toContain('onnx/model_q4.onnx_data');
    expect(sizes).toContain('onnx/model_q4.onnx');
    expect(sizes).toHaveLength(6);
    const parts = ['onnx/model_q4.onnx', 'onnx/model_q4.onnx_data', 'onnx/model_q4.onnx_data_1'];
    expect(choose(parts).files).toHaveLength(3);
  });

  test('a format may be named', () => {
    expect(choose(paths, 'safetensors').main).toBe('model.safetensors');
    expect(choose(paths, 'onnx').main).toBe('onnx/model_q4f16.onnx');
  });
});

describe('safetensors', () => {
  test('all shards of an index, small files first', () => {
    const shards = ['model-00001-of-00002.safetensors', 'model-00002-of-00002.safetensors'];
    const choice = choose([...shards, 'model.safetensors.index.json', ...settings, 'consolidated.safetensors']);
    expect(choice.main).toBe('model.safetensors.index.json');
    expect(choice.files.map((file) => file.path)).toEqual(expect.arrayContaining([...shards, 'config.json']));
    expect(choice.files).toHaveLength(7);
    expect(choice.files.at(-1)?.path).toBe(shards[0]);
  });

  test('PyTorch files are no model', () => {
    expect(() => choose([...settings, 'pytorch_model.bin'])).toThrow(
      expect.objectContaining({ code: 'no-model-files', advice: expect.stringContaining('.bin') }),
    );
  });
});
