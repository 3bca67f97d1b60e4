import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DreamError } from '../../src/data/errors';
import { checkTensors, configFromHuggingFace, expectedTensors, type Json } from '../../src/models/families';
import type { TensorInfo } from '../../src/models/weights';

const LLAMA: Json = {
  architectures: ['LlamaForCausalLM'],
  hidden_act: 'silu',
  hidden_size: 64,
  intermediate_size: 96,
  num_hidden_layers: 8,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  vocab_size: 128,
  max_position_embeddings: 512,
  rms_norm_eps: 1e-5,
  rope_theta: 10000,
};

const read = (changes: Json) => configFromHuggingFace({ ...LLAMA, ...changes }, 'a model');
const codeOf = (changes: Json): string => {
  try {
    read(changes);
  } catch (error) {
    return `${(error as DreamError).code}: ${(error as DreamError).message}`;
  }
  return 'read';
};

describe('config.json of each family', () => {
  it('reads Llama 2, SmolLM2 and the tied head', () => {
    expect(read({})).toEqual({
      vocabSize: 128,
      width: 64,
      layers: 8,
      heads: 4,
      kvHeads: 2,
      headDim: 16,
      ffn: 96,
      ropeTheta: 10000,
      normEps: 1e-5,
      contextLength: 512,
      untiedHead: true,
    });
    expect(read({ tie_word_embeddings: true }).untiedHead).toBeUndefined();
    expect(read({ rms_norm_eps: undefined }).normEps).toBe(1e-6);
    expect(read({ architectures: undefined, model_type: 'llama' }).width).toBe(64);
  });

  const scaling = {
    rope_type: 'llama3',
    factor: 32,
    low_freq_factor: 1,
    high_freq_factor: 4,
    original_max_position_embeddings: 128,
  };
  const expected = { factor: 32, lowFreqFactor: 1, highFreqFactor: 4, originalContextLength: 128 };

  it('reads Llama 3 rope scaling in the old and the new place', () => {
    expect(read({ rope_theta: 500000, rope_scaling: scaling })).toMatchObject({
      ropeTheta: 500000,
      ropeScaling: expected,
    });
    const moved = read({ rope_theta: undefined, rope_parameters: { ...scaling, rope_theta: 500000 } });
    expect(moved).toMatchObject({ ropeTheta: 500000, ropeScaling: expected });
    expect(read({ rope_parameters: { rope_type: 'default', rope_theta: 77 } }).ropeTheta).toBe(77);
    expect(read({ rope_scaling: null }).ropeScaling).toBeUndefined();
  });

  it('reads SmolLM3: layers without rope, listed or by interval, tied by default', () => {
    const smol = { architectures: ['SmolLM3ForCausalLM'] };
    expect(read(smol)).toMatchObject({ noRopeLayers: [3, 7] });
    expect(read(smol).untiedHead).toBeUndefined();
    expect(read({ ...smol, no_rope_layer_interval: 3 }).noRopeLayers).toEqual([2, 5]);
    expect(read({ ...smol, no_rope_layers: [1, 0, 1, 1, 1, 1, 1, 0] }).noRopeLayers).toEqual([1, 7]);
    expect(read({ ...smol, no_rope_layers: [1, 1, 1, 1, 1, 1, 1, 1] }).noRopeLayers).toBeUndefined();
    expect(codeOf({ ...smol, no_rope_layers: [1, 0] })).toMatch(/^bad-model-config.*no_rope_layers/);
  });

  it('reads Qwen2 (bias) and Qwen3 (q and k norm, its own head size)', () => {
    expect(read({ architectures: ['Qwen2ForCausalLM'], use_sliding_window: false, sliding_window: 64 })).toMatchObject({
      attentionBias: true,
    });
    expect(read({ architectures: ['Qwen3ForCausalLM'] })).toMatchObject({ qkNorm: true, headDim: 128 });
    expect(read({ architectures: ['Qwen3ForCausalLM'], head_dim: 32 }).headDim).toBe(32);
  });

  it.each([
    [{ architectures: ['MambaForCausalLM'] }, /^unsupported-architecture.*MambaForCausalLM/],
    [{ architectures: undefined, model_type: 'gemma3' }, /^unsupported-architecture.*gemma3/],
    [{ architectures: undefined }, /^unsupported-architecture/],
    [{ hidden_act: 'gelu' }, /^unsupported-setting.*hidden_act.*gelu/],
    [{ attention_bias: true }, /^unsupported-setting.*attention_bias/],
    [{ mlp_bias: true }, /^unsupported-setting.*mlp_bias/],
    [{ rope_scaling: { rope_type: 'yarn', factor: 4 } }, /^unsupported-setting.*rope_scaling.*yarn/],
    [{ rope_scaling: { type: 'linear', factor: 4 } }, /^unsupported-setting.*rope_scaling.*linear/],
    [{ partial_rotary_factor: 0.5 }, /^unsupported-setting.*partial_rotary_factor/],
    [
      { architectures: ['Qwen2ForCausalLM'], use_sliding_window: true, sliding_window: 64, max_window_layers: 4 },
      /^unsupported-setting.*sliding_window/,
    ],
    [
      {
        architectures: ['Qwen3ForCausalLM'],
        layer_types: ['full_attention', 'sliding_attention'],
        sliding_window: 64,
      },
      /^unsupported-setting.*sliding_window/,
    ],
    [{ hidden_size: undefined }, /^bad-model-config.*hidden_size/],
    [{ num_hidden_layers: 1e9 }, /^bad-model-config.*num_hidden_layers/],
    [{ num_hidden_layers: 5000 }, /^bad-model-config.*5000 layers/],
    [{ vocab_size: 130 }, /^bad-model-config/],
    [{ rope_scaling: { ...scaling, factor: 'many' } }, /^bad-model-config.*factor/],
    [{ rope_scaling: { ...scaling, high_freq_factor: 1 } }, /^bad-model-config.*high_freq_factor/],
  ] as [Json, RegExp][])('refuses %j by name', (changes, message) => {
    expect(codeOf(changes)).toMatch(message);
  });

  it('throws nothing but typed errors, whatever the file holds', () => {
    const keys = [
      ...Object.keys(LLAMA),
      'rope_scaling',
      'rope_parameters',
      'no_rope_layers',
      'layer_types',
      'head_dim',
    ];
    const change = fc.dictionary(fc.constantFrom(...keys), fc.jsonValue());
    fc.assert(
      fc.property(fc.constantFrom('LlamaForCausalLM', 'SmolLM3ForCausalLM', 'Qwen2ForCausalLM'), change, (name, c) => {
        try {
          read({ architectures: [name], ...(c as Json) });
        } catch (error) {
          expect(error).toBeInstanceOf(DreamError);
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe('the tensors a model needs', () => {
  const config = read({ architectures: ['Qwen2ForCausalLM'], num_hidden_layers: 1 });
  const whole = (): Map<string, TensorInfo> =>
    new Map(
      expectedTensors(config).map(({ name, rows, columns }) => [
        name,
        { name, rows, columns, stored: 'F32', bytes: 4 * rows * columns, form: 'f32', scales: 'single' },
      ]),
    );

  it('lists them with their shapes', () => {
    const names = expectedTensors(config).map(({ name, rows, columns }) => `${name} ${rows}x${columns}`);
    expect(names).toContain('model.layers.0.self_attn.k_proj.weight 32x64');
    expect(names).toContain('model.layers.0.self_attn.k_proj.bias 1x32');
    expect(names).toContain('model.layers.0.mlp.down_proj.weight 64x96');
    expect(names.at(-1)).toBe('lm_head.weight 128x64');
    expect(expectedTensors({ ...config, untiedHead: false }).at(-1)?.required).toBe(false);
    const qwen3 = read({ architectures: ['Qwen3ForCausalLM'], num_hidden_layers: 1, head_dim: 24 });
    const shapes = expectedTensors(qwen3).map(({ name, rows, columns }) => `${name} ${rows}x${columns}`);
    expect(shapes).toContain('model.layers.0.self_attn.q_norm.weight 1x24');
    expect(shapes).toContain('model.layers.0.self_attn.o_proj.weight 64x96');
  });

  it('names the one that is missing or misshapen', () => {
    expect(() => checkTensors(config, whole(), 'x')).not.toThrow();
    const lacking = whole();
    lacking.delete('model.norm.weight');
    expect(() => checkTensors(config, lacking, 'x')).toThrow(/x lacks the tensor "model.norm.weight"/);
    const misshapen = whole();
    const key = 'model.layers.0.self_attn.o_proj.weight';
    misshapen.set(key, { ...misshapen.get(key)!, columns: 60 });
    expect(() => checkTensors(config, misshapen, 'x')).toThrow(
      /o_proj.weight" is \[64, 60\], its config says \[64, 64\]/,
    );
  });
});
