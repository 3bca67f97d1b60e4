/** @file Whatever a user drops: recognised by content, one model chosen, or a typed error that says what to do. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DreamError } from '../../src/data/errors';
import { configFromHuggingFace, expectedTensors } from '../../src/models/families';
import { openModelFiles } from '../../src/models/open-model-files';
import { writeSafetensors } from '../../src/models/safetensors';
import type { ByteSource } from '../../src/models/weights';
import { byteLevelTokenizer } from './byte-level-tokenizer';
import { modelParts, writeGguf } from './gguf/writer';
import { memoryFile } from './memory-file';
import { decoderGraph } from './onnx/decoder-graph';

const config = {
  architectures: ['LlamaForCausalLM'],
  model_type: 'llama',
  hidden_act: 'silu',
  hidden_size: 32,
  intermediate_size: 64,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  vocab_size: 64,
  max_position_embeddings: 128,
  rms_norm_eps: 1e-6,
  tie_word_embeddings: true,
};
const { tokenizer, tokenizerConfig } = byteLevelTokenizer();

const expected = expectedTensors(configFromHuggingFace(config, 'test')).filter(({ required }) => required);

function tensors(part?: (index: number) => boolean): Uint8Array {
  const wanted = expected.filter((_, i) => part?.(i) ?? true);
  return writeSafetensors(
    new Map(
      wanted.map(({ name, rows, columns }) => {
        const shape = /norm/.test(name) ? [columns] : [rows, columns];
        return [name, { shape, data: new Float32Array(rows * columns).fill(0.5) }];
      }),
    ),
  );
}

const json = (name: string, value: unknown): ByteSource =>
  memoryFile(name, new TextEncoder().encode(JSON.stringify(value)));
const gguf = (name: string): ByteSource => memoryFile(name, writeGguf(modelParts({ type: 'Q4_0' })));
const safetensors = (name: string): ByteSource => memoryFile(name, tensors());
const code = (expected: string, words = ''): unknown =>
  expect.objectContaining({ name: 'DreamError', code: expected, message: expect.stringContaining(words) });

describe('recognises', () => {
  test('a GGUF alone, whatever it is called', async () => {
    const source = await openModelFiles([gguf('download (3)')]);
    expect(source.tensors.get('model.norm.weight')).toBeDefined();
  });

  test('a folder of safetensors with its tokenizer, and names spoilt by a download', async () => {
    for (const names of [
      ['config.json', 'tokenizer.json', 'tokenizer_config.json', 'model.safetensors'],
      ['config (1).json', 'tokenizer (2).json', 'tokenizer_config (1).json', 'SmolLM.safetensors'],
      ['my/config.json', 'my/tokenizer.json', 'my/tokenizer_config.json', 'my/model.safetensors'],
    ]) {
      const [settings, tok, tokConfig, weights] = names;
      const files = [
        json(settings, config),
        json(tok, tokenizer),
        json(tokConfig, tokenizerConfig),
        safetensors(weights),
      ];
      const source = await openModelFiles([...files, json('trainer_state.json', { loss: 1 })]);
      expect(source.config.layers).toBe(2);
      expect(await source.tokenizer()).toEqual({
        tokenizer,
        tokenizerConfig: expect.objectContaining(tokenizerConfig),
      });
      const { values } = (await source.read('model.norm.weight', 0, 1, 'f32', 'single')) as { values: Float32Array };
      expect(values[0]).toBe(0.5);
    }
  });

  test('the picked folder gives its name', async () => {
    const files = [json('SmolLM2/config.json', config), safetensors('SmolLM2/model.safetensors')];
    expect((await openModelFiles(files)).label).toBe('SmolLM2');
    expect((await openModelFiles(files, { label: 'owner/name' })).label).toBe('owner/name');
  });

  test('shards by their index', async () => {
    const names = ['model-00001-of-00002.safetensors', 'model-00002-of-00002.safetensors'];
    const halves = names.map((name, half) =>
      memoryFile(
        name,
        tensors((i) => i % 2 === half),
      ),
    );
    const weight_map = Object.fromEntries(expected.map(({ name }, i) => [name, names[i % 2]]));
    const index = json('model.safetensors.index.json', { metadata: {}, weight_map });
    const source = await openModelFiles([json('config.json', config), index, ...halves]);
    expect(source.tensors.size).toBe(expected.length);
    await expect(openModelFiles([json('config.json', config), ...halves])).rejects.toEqual(
      code('missing-file', 'model.safetensors.index.json'),
    );
  });

  test('ONNX with external data, its settings a folder above', async () => {
    const made = decoderGraph({ external: 'model_q4.onnx_data' });
    const files = [
      json('m/config.json', made.config),
      memoryFile('m/onnx/model_q4.onnx', made.model),
      memoryFile('m/onnx/model_q4.onnx_data', made.data),
      json('m/tokenizer.json', tokenizer),
    ];
    const source = await openModelFiles(files);
    expect(source.label).toBe('m');
    expect([...source.tensors.keys()].sort()).toEqual([...made.expected.keys()].sort());
    expect((await source.tokenizer())?.tokenizer).toEqual(tokenizer);
  });

  test('what lies in files of its own: template, ends of a turn; a tokenizer beside a GGUF', async () => {
    const template = memoryFile('chat_template.jinja', new TextEncoder().encode('{{ 1 }}'));
    const files = [
      json('tokenizer.json', tokenizer),
      template,
      json('generation_config.json', { eos_token_id: [1, 2] }),
    ];
    const source = await openModelFiles([...files, gguf('m.gguf')]);
    expect(await source.tokenizer()).toEqual({
      tokenizer,
      tokenizerConfig: { chat_template: '{{ 1 }}', eos_token_id: [1, 2] },
    });
    expect((await source.read('model.norm.weight', 0, 1, 'f32', 'single')).form).toBe('f32');
  });
});

describe('several models', () => {
  test('the best is chosen and said, or the one that is named', async () => {
    const notes: string[] = [];
    const made = decoderGraph({});
    const files = [
      json('config.json', made.config),
      memoryFile('onnx/model_q4.onnx', made.model),
      memoryFile('onnx/model_q4f16.onnx', made.model),
      gguf('m-Q8_0.gguf'),
    ];
    const onNote = (note: string): void => void notes.push(note);
    expect((await openModelFiles(files, { onNote })).label).toBe('m-Q8_0.gguf');
    await openModelFiles(files, { onNote, version: 'onnx' });
    expect(notes[0]).toContain('m-Q8_0.gguf was chosen; also there: onnx/model_q4.onnx, onnx/model_q4f16.onnx');
    expect(notes[1]).toContain('onnx/model_q4f16.onnx was chosen');
  });

  test('that are alike are ambiguous', async () => {
    await expect(openModelFiles([gguf('one'), gguf('two')])).rejects.toEqual(
      code('model-ambiguous', 'one.gguf, two.gguf'),
    );
    const two = [json('config.json', config), safetensors('a.safetensors'), safetensors('b.safetensors')];
    await expect(openModelFiles(two)).rejects.toEqual(code('model-ambiguous', 'a.safetensors, b.safetensors'));
    const settings = [json('config (1).json', config), json('config (2).json', config), safetensors('a.safetensors')];
    await expect(openModelFiles(settings)).rejects.toEqual(code('model-ambiguous', 'config (1).json, config (2).json'));
  });
});

describe('refuses, and says what to do', () => {
  const bytes = (name: string, ...content: number[]): ByteSource => memoryFile(name, Uint8Array.from(content));

  test('nothing, an image, a model without config.json', async () => {
    await expect(openModelFiles([])).rejects.toEqual(code('no-model-files'));
    await expect(openModelFiles([bytes('x.png', 0x89, 0x50)])).rejects.toEqual(code('no-model-files'));
    await expect(openModelFiles([bytes('empty')])).rejects.toEqual(code('no-model-files'));
    await expect(openModelFiles([safetensors('model.safetensors')])).rejects.toEqual(
      code('missing-file', 'config.json'),
    );
  });

  test('PyTorch files, adapters, broken settings', async () => {
    const pickle = bytes('pytorch_model.bin', 0x50, 0x4b, 3, 4);
    await expect(openModelFiles([pickle, json('config.json', config)])).rejects.toEqual(code('unsafe-format'));
    const adapter = [json('adapter_config.json', { peft_type: 'LORA' }), safetensors('adapter_model.safetensors')];
    await expect(openModelFiles(adapter)).rejects.toEqual(code('adapter-not-model'));
    const broken = [bytes('config.json', 0x7b, 0x7b), safetensors('model.safetensors')];
    await expect(openModelFiles(broken)).rejects.toEqual(code('bad-json', 'config.json'));
  });

  test('an unknown architecture by its name', async () => {
    const files = [
      json('config.json', { ...config, architectures: ['MambaForCausalLM'] }),
      safetensors('model.safetensors'),
    ];
    await expect(openModelFiles(files)).rejects.toEqual(code('unsupported-architecture', 'MambaForCausalLM'));
  });

  test('any bytes under any name: a typed error', async () => {
    const name = fc.constantFrom('m.gguf', 'model.safetensors', 'm.onnx', 'config.json', 'tokenizer.json', 'x');
    const head = fc.constantFrom(
      [],
      [...'GGUF'].map((c) => c.charCodeAt(0)),
      [8, 7, 0x3a],
      [0x7b],
      [2, 0, 0, 0, 0, 0, 0, 0, 0x7b],
    );
    const file = fc.tuple(name, head, fc.uint8Array({ maxLength: 64 }));
    await fc.assert(
      fc.asyncProperty(fc.array(file, { maxLength: 4 }), async (files) => {
        try {
          await openModelFiles(files.map(([n, start, rest]) => bytes(n, ...start, ...rest)));
        } catch (error) {
          expect(error).toBeInstanceOf(DreamError);
        }
      }),
    );
  });
});
