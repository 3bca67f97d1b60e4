import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DreamError } from '../../src/data/errors';
import { specialTokens, Tokenizer } from '../../src/models/tokenizer';

const words = [
  '1',
  '2',
  'cup',
  'shelf',
  'cup 1',
  'cup 2',
  'shelf 1',
  'go to',
  'take',
  'from',
  'nothing',
  'nothing happens',
];
const tokenizer = Tokenizer.fromWords(words);

function codeOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof DreamError) return error.code;
    throw error;
  }
  return 'nothing thrown';
}

describe('Tokenizer', () => {
  it('takes the longest phrase that starts at a word', () => {
    const say = (text: string) => tokenizer.encode(text).map((id) => tokenizer.tokens[id]);
    expect(say('take cup 1 from shelf 1')).toEqual(['take', 'cup 1', 'from', 'shelf 1']);
    expect(say('nothing happens')).toEqual(['nothing happens']);
    expect(say('nothing cup 2')).toEqual(['nothing', 'cup 2']);
    expect(say('cup cup 1 1')).toEqual(['cup', 'cup 1', '1']);
    expect(say('go cup 12')).toEqual(['<unk>', 'cup', '<unk>']);
    expect(say('take\ngo to')).toEqual(['take', '\n', 'go to']);
  });

  it('gives back every text of known words', () => {
    const plain = fc.array(fc.constantFrom(...words, '\n', '>'), { maxLength: 40 });
    fc.assert(
      fc.property(plain, (list) => {
        const text = tokenizer.decode(tokenizer.encode(list.join(' ')));
        expect(text).toBe(list.join(' ').replace(/ ?\n ?/g, '\n'));
        expect(tokenizer.decode(tokenizer.encode(text))).toBe(text);
      }),
    );
  });

  it('never lets text forge structure', () => {
    for (const special of specialTokens.filter((token) => token.startsWith('<')))
      expect(tokenizer.encode(special)).toEqual([tokenizer.special['<unk>']]);
    expect(tokenizer.encode('<reserved-0>')).toEqual([tokenizer.special['<unk>']]);
    fc.assert(
      fc.property(fc.string(), (text) => {
        for (const id of tokenizer.encode(text))
          expect(!tokenizer.isControl(id) || ['<unk>', '>', '\n'].includes(tokenizer.tokens[id])).toBe(true);
      }),
    );
  });

  it('pads the vocabulary to a multiple of 16 with reserved tokens', () => {
    expect(tokenizer.vocabSize % 16).toBe(0);
    expect(tokenizer.isControl(tokenizer.vocabSize - 1)).toBe(true);
    expect(tokenizer.isControl(tokenizer.id('cup'))).toBe(false);
  });

  it('names the shared parts of entities', () => {
    const parts = tokenizer.embeddingParts();
    expect(parts.length).toBe(tokenizer.vocabSize * 2);
    const of = (token: string) => [...parts.subarray(tokenizer.id(token) * 2, tokenizer.id(token) * 2 + 2)];
    expect(of('cup 2')).toEqual([tokenizer.id('cup'), tokenizer.id('2')]);
    expect(of('cup')).toEqual([-1, -1]);
    expect(of('go to')).toEqual([-1, -1]);
  });

  it('writes and reads a Hugging Face tokenizer.json', () => {
    const file = JSON.parse(JSON.stringify(tokenizer.toJSON()));
    expect(file.model.type).toBe('WordLevel');
    const back = Tokenizer.fromJSON(file);
    expect(back.tokens).toEqual(tokenizer.tokens);
    // The documented pre-tokeniser gives the same pieces as the greedy encoder.
    const split = new RegExp(file.pre_tokenizer.pattern.Regex, 'g');
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...words, '\n', 'cup 12', 'xgo to'), { maxLength: 30 }), (list) => {
        const text = list.join(' ');
        const ids = (text.match(split) ?? []).map((piece) => file.model.vocab[piece] ?? file.model.vocab['<unk>']);
        expect(ids).toEqual([...tokenizer.encode(text)]);
      }),
    );
  });

  it('refuses files and lists it cannot use, and says why', () => {
    const file = () => JSON.parse(JSON.stringify(tokenizer.toJSON()));
    for (const broken of [null, 3, 'text', [], {}, { model: null }, { model: { type: 'BPE', vocab: {} } }])
      expect(codeOf(() => Tokenizer.fromJSON(broken))).toBe('tokenizer-format');
    const doubled = file();
    doubled.model.vocab.cup = doubled.model.vocab.take;
    expect(codeOf(() => Tokenizer.fromJSON(doubled))).toBe('tokenizer-format');
    const negative = file();
    negative.model.vocab.cup = -1;
    expect(codeOf(() => Tokenizer.fromJSON(negative))).toBe('tokenizer-format');
    const moved = file();
    [moved.model.vocab['<pad>'], moved.model.vocab.cup] = [moved.model.vocab.cup, 0];
    expect(codeOf(() => Tokenizer.fromJSON(moved))).toBe('tokenizer-format');
    expect(codeOf(() => new Tokenizer([...specialTokens, 'two  spaces']))).toBe('tokenizer-vocabulary');
    expect(codeOf(() => new Tokenizer([...specialTokens, 'cup', 'cup']))).toBe('tokenizer-vocabulary');
    expect(codeOf(() => new Tokenizer(['cup']))).toBe('tokenizer-vocabulary');
  });
});
