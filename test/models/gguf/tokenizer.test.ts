import { describe, expect, it } from 'vitest';
import { openGguf } from '../../../src/models/gguf';
import { TextTokenizer } from '../../../src/models/text-tokenizer';
import type { TokenizerSource } from '../../../src/models/weights';
import { MemorySource, modelParts, text, tiny, u32, type Value, writeGguf } from './writer';

const strings = (value: readonly string[]): Value => ({ type: 'strings', value });

/** A byte-level vocabulary: the printable bytes (a space is `Ġ`, a line feed `Ċ`), then what merges make. */
const alphabet = [...Array.from({ length: 94 }, (_, i) => String.fromCharCode(33 + i)), 'Ġ', 'Ċ'];
const merges = ['h e', 'l l', 'he ll', 'hell o', 'Ġ hello', '1 2', '12 3', '123 4'];
const tokens = [...alphabet, ...merges.map((merge) => merge.replace(' ', '')), '<call>', '<end>', '<unused>'];
const end = tokens.indexOf('<end>');

async function tokenizerOf(extra: Record<string, Value>, list = tokens): Promise<TokenizerSource> {
  const types = list.map((token) => ({ '<call>': 4, '<end>': 3, '<unused>': 5 })[token] ?? 1);
  const parts = modelParts({
    layers: 1,
    vocab: Math.ceil(list.length / 4) * 4,
    metadata: {
      'tokenizer.ggml.model': text('gpt2'),
      'tokenizer.ggml.tokens': strings(list),
      'tokenizer.ggml.token_type': { type: 'i32s', value: types },
      'tokenizer.ggml.merges': strings(merges),
      ...extra,
    },
  });
  const source = await (await openGguf(new MemorySource(writeGguf(parts)))).tokenizer();
  if (!source) throw new Error('no tokenizer');
  return source;
}

const encoded = (source: TokenizerSource, line: string, parseSpecial = true, list = tokens): string[] =>
  [...new TextTokenizer(source).encode(line, { addSpecial: true, parseSpecial })].map((id) => list[id]);

describe('byte-level', () => {
  it.each([
    // GPT-2 keeps digits together; Llama 3 in threes; Qwen and SmolLM take them one by one.
    ['gpt-2', ['hello', 'Ġhello', 'Ġ', '1234']],
    ['smollm', ['hello', 'Ġhello', 'Ġ', '1', '2', '3', '4']],
    ['llama-bpe', ['hello', 'Ġhello', 'Ġ', '123', '4']],
    ['qwen2', ['hello', 'Ġhello', 'Ġ', '1', '2', '3', '4']],
  ])('cuts text as %s', async (pre, expected) => {
    const source = await tokenizerOf({ 'tokenizer.ggml.pre': text(pre) });
    expect(encoded(source, 'hello hello 1234')).toEqual(expected);
    const tokenizer = new TextTokenizer(source);
    for (const line of ['hello hello 1234', "  it's\n\n 12\n", 'a<end>b'])
      expect(tokenizer.decode(tokenizer.encode(line, { parseSpecial: true }), { skipSpecial: false })).toBe(line);
  });

  it('takes a whole token past the merges for Llama 3 only', async () => {
    const list = [...tokens, 'xyz'];
    for (const [pre, expected] of [
      ['llama-bpe', ['xyz']],
      ['qwen2', ['x', 'y', 'z']],
    ] as const) {
      const source = await tokenizerOf({ 'tokenizer.ggml.pre': text(pre) }, list);
      expect(encoded(source, 'xyz', true, list)).toEqual(expected);
    }
  });

  it('knows special tokens from their types', async () => {
    const source = await tokenizerOf({
      'tokenizer.ggml.pre': text('smollm'),
      'tokenizer.ggml.bos_token_id': u32(end),
      'tokenizer.ggml.eos_token_id': u32(end),
      'tokenizer.ggml.add_bos_token': { type: 'bool', value: true },
      'tokenizer.chat_template': text('{{ messages[0].content }}'),
    });
    const added = source.tokenizer.added_tokens as { content: string; special: boolean }[];
    expect(added.map(({ content, special }) => [content, special])).toEqual([
      ['<call>', false],
      ['<end>', true],
    ]);
    expect(encoded(source, 'a<call><end>')).toEqual(['<end>', 'a', '<call>', '<end>']);
    expect(source.tokenizerConfig).toMatchObject({
      bos_token: '<end>',
      eos_token: '<end>',
      pad_token: '<end>',
      unk_token: null,
      add_bos_token: true,
      chat_template: '{{ messages[0].content }}',
    });
    expect(new TextTokenizer(source).stopIds).toContain(end);
  });

  it('refuses what it cannot rebuild, by name', async () => {
    const fails = (extra: Record<string, Value>, list?: string[]) => expect(tokenizerOf(extra, list)).rejects;
    const problem = (code: string, word: string) =>
      expect.objectContaining({ code, message: expect.stringContaining(word) });
    await fails({ 'tokenizer.ggml.pre': text('tekken') }).toEqual(problem('unsupported-tokenizer', 'tekken'));
    await fails({ 'tokenizer.ggml.model': text('bert') }).toEqual(problem('unsupported-tokenizer', 'bert'));
    await fails({ 'tokenizer.ggml.merges': strings(['ab']) }).toEqual(problem('bad-gguf', 'merge'));
    await fails({ 'tokenizer.ggml.bos_token_id': u32(9999) }).toEqual(problem('bad-gguf', '9999'));
    await fails({}, ['a', 'b', 'a']).toEqual(problem('bad-gguf', 'twice'));
    await fails({ 'tokenizer.ggml.token_type': { type: 'i32s', value: [1] } }).toEqual(problem('bad-gguf', 'types'));
    await fails({ 'tokenizer.ggml.model': text('llama') }).toEqual(problem('bad-gguf', 'scores'));
    const metadata = { 'tokenizer.ggml.model': text('gpt2'), 'tokenizer.ggml.tokens': strings(tokens) };
    const short = await openGguf(new MemorySource(writeGguf(modelParts({ layers: 1, metadata }))));
    await expect(short.tokenizer()).rejects.toEqual(problem('bad-gguf', `${tiny.vocab} embeddings`));
  });

  it('keeps a token with the name of a property', async () => {
    const { tokenizer } = await tokenizerOf({}, [...tokens, '__proto__', 'constructor']);
    const { vocab } = tokenizer.model as { vocab: Record<string, number> };
    expect(Object.keys(vocab)).toContain('__proto__');
    expect(Object.getOwnPropertyDescriptor(vocab, '__proto__')?.value).toBe(tokens.length);
  });
});

describe('SentencePiece', () => {
  const bytes = Array.from({ length: 256 }, (_, i) => `<0x${i.toString(16).toUpperCase().padStart(2, '0')}>`);
  const pieces = ['<unk>', '<s>', '</s>', ...bytes, '▁', 'h', 'e', 'l', 'o', 'he', 'll', 'hell', 'hello', '▁hello'];
  const source = () => {
    const merged = pieces.length - 5;
    return tokenizerOf(
      {
        'tokenizer.ggml.model': text('llama'),
        'tokenizer.ggml.scores': {
          type: 'f32s',
          value: pieces.map((_, id) => (id < merged ? -1000 : merged - id)),
        },
        'tokenizer.ggml.token_type': {
          type: 'i32s',
          value: pieces.map((piece, id) => (id === 0 ? 2 : id < 3 ? 3 : piece.startsWith('<0x') ? 6 : 1)),
        },
        'tokenizer.ggml.bos_token_id': u32(1),
        'tokenizer.ggml.eos_token_id': u32(2),
        'tokenizer.ggml.unknown_token_id': u32(0),
      },
      pieces,
    );
  };

  it('merges by score, marks words and falls back to bytes', async () => {
    const rebuilt = await source();
    expect((rebuilt.tokenizer.model as { merges: string[][] }).merges.slice(0, 4)).toEqual([
      ['h', 'e'],
      ['l', 'l'],
      ['he', 'll'],
      ['hell', 'o'],
    ]);
    expect(encoded(rebuilt, 'hello hell', true, pieces)).toEqual(['<s>', '▁hello', '▁', 'hell']);
    expect(encoded(rebuilt, 'é', true, pieces)).toEqual(['<s>', '▁', '<0xC3>', '<0xA9>']);
  });

  it('gives the text back', async () => {
    const tokenizer = new TextTokenizer(await source());
    for (const line of ['hello hello', 'hé\nllo', ' hello'])
      expect(tokenizer.decode(tokenizer.encode(line), { skipSpecial: true })).toBe(line);
  });
});
