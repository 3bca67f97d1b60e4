/** @file Damaged heads: only typed errors, and no read (the only allocation of a claimed size) beyond the file. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { DreamError } from '../../../src/data/errors';
import { openGguf } from '../../../src/models/gguf';
import { MemorySource, modelParts, text, u32, writeGguf } from './writer';

const tokens = ['a', 'b', 'ab', '<end>'];
const whole = writeGguf(
  modelParts({
    layers: 1,
    metadata: {
      'tokenizer.ggml.model': text('gpt2'),
      'tokenizer.ggml.pre': text('llama-bpe'),
      'tokenizer.ggml.tokens': { type: 'strings', value: tokens },
      'tokenizer.ggml.token_type': { type: 'i32s', value: [1, 1, 1, 3] },
      'tokenizer.ggml.merges': { type: 'strings', value: ['a b'] },
      'tokenizer.ggml.bos_token_id': u32(3),
      'tokenizer.ggml.eos_token_id': u32(3),
      'tokenizer.chat_template': text('{{ messages }}'),
    },
  }),
);
const HEAD = 2400;
/** Values that lengths, counts, types and offsets go wrong with. */
const bytes = fc.constantFrom(0, 1, 2, 8, 9, 31, 32, 127, 128, 255);
const damage = fc.oneof(
  fc.record({ at: fc.nat(HEAD), values: fc.array(bytes, { minLength: 1, maxLength: 8 }) }),
  fc.record({ at: fc.nat(HEAD), values: fc.constant([255, 255, 255, 255, 255, 255, 255, 127]) }),
);

async function openDamaged(file: Uint8Array): Promise<void> {
  const source = new MemorySource(file);
  try {
    const model = await openGguf(source);
    await model.tokenizer();
    for (const { name, rows } of model.tensors.values()) await model.read(name, 0, Math.min(rows, 2), 'f32', 'single');
  } catch (error) {
    if (!(error instanceof DreamError)) throw error;
    if (!error.message.includes('tiny.gguf')) throw new Error(`no file name: ${error.message}`);
  }
  expect(source.largest).toBeLessThanOrEqual(file.length);
}

it('the undamaged file opens', async () => {
  const model = await openGguf(new MemorySource(whole));
  expect(await model.tokenizer()).not.toBeNull();
});

it('changed bytes give typed errors only', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(damage, { minLength: 1, maxLength: 3 }), async (damages) => {
      const file = whole.slice();
      for (const { at, values } of damages) file.set(values, at);
      await openDamaged(file);
    }),
    { numRuns: 400 },
  );
});

it('a file cut anywhere gives typed errors only', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(HEAD), async (length) => {
      const source = new MemorySource(whole.slice(0, length));
      await expect(openGguf(source)).rejects.toBeInstanceOf(DreamError);
      expect(source.largest).toBeLessThanOrEqual(length);
    }),
    { numRuns: 200 },
  );
});

it('noise after the magic gives typed errors only', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), async (noise) => {
      await openDamaged(Uint8Array.from([0x47, 0x47, 0x55, 0x46, 3, 0, 0, 0, ...noise]));
    }),
    { numRuns: 300 },
  );
});
