/**
 * @file A SentencePiece vocabulary (Llama 2, TinyLlama) as BPE with byte fallback. It lists pieces with scores but no
 * merges: as in Hugging Face's converter, every way to cut a piece into two pieces is a merge, the best score first.
 */

/** SentencePiece's own limit is 16; runs of spaces are longer. A longer "piece" is noise, and cutting it is quadratic. */
const LONGEST_PIECE = 256;

export function sentencePieceParts(
  tokens: readonly string[],
  vocab: Record<string, number>,
  scores: ArrayLike<number>,
  unknown: string | null,
  addSpacePrefix: boolean,
) {
  const toUnderline = { type: 'Replace', pattern: { String: ' ' }, content: '▁' };
  const prefix = addSpacePrefix ? [{ type: 'Prepend', prepend: '▁' }] : [];
  const strip = addSpacePrefix ? [{ type: 'Strip', content: ' ', start: 1, stop: 0 }] : [];
  return {
    normalizer: { type: 'Sequence', normalizers: [...prefix, toUnderline] },
    pre_tokenizer: null,
    decoder: {
      type: 'Sequence',
      decoders: [
        { type: 'Replace', pattern: { String: '▁' }, content: ' ' },
        { type: 'ByteFallback' },
        { type: 'Fuse' },
        ...strip,
      ],
    },
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: unknown,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: true,
      byte_fallback: true,
      ignore_merges: false,
      vocab,
      merges: mergesOf(tokens, vocab, scores),
    },
  };
}

function mergesOf(tokens: readonly string[], vocab: Record<string, number>, scores: ArrayLike<number>): string[][] {
  const merges: { pair: [string, string]; score: number }[] = [];
  const idOf = (piece: string): number => (Object.hasOwn(vocab, piece) ? vocab[piece] : -1);
  for (const [id, token] of tokens.entries()) {
    if (token.length > LONGEST_PIECE) continue;
    const characters = [...token];
    const cuts: [string, string][] = [];
    for (let i = 1; i < characters.length; i++) {
      const pair: [string, string] = [characters.slice(0, i).join(''), characters.slice(i).join('')];
      if (idOf(pair[0]) >= 0 && idOf(pair[1]) >= 0) cuts.push(pair);
    }
    cuts.sort((a, b) => idOf(a[0]) - idOf(b[0]) || idOf(a[1]) - idOf(b[1]));
    for (const pair of cuts) merges.push({ pair, score: scores[id] });
  }
  return merges.sort((a, b) => b.score - a.score).map(({ pair }) => pair);
}
