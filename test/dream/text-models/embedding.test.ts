import { describe, expect, it } from 'vitest';
import { ReplayBuffer } from '../../../src/dream/replay-buffer';
import { engineEmbedder, engineTextModel, semanticRecall, type TextEmbedder } from '../../../src/dream/text-models';
import { cpuTopK } from '../cpu-top-k';
import { KnowingModel } from '../fake-models';
import { encode, words } from '../fake-world';

class Embedding extends KnowingModel {
  readonly lengths: number[] = [];
  override async embed(sequences: readonly (readonly number[])[]): Promise<Float32Array[]> {
    this.lengths.push(...sequences.map((sequence) => sequence.length));
    return sequences.map((sequence) => Float32Array.of(sequence.length, 0, Number.NaN, 1));
  }
}

describe('the engine as an embedder', () => {
  it('gives unit vectors of finite numbers, zeros for no text, and never overfills the context', async () => {
    const model = new Embedding();
    const embedder = engineEmbedder(model, (text) => [...text].map((_, i) => i % 5));
    const vectors = await embedder.embed(['abc', '', 'x'.repeat(500), ...Array.from({ length: 70 }, () => 'ab')]);
    expect(vectors).toHaveLength(73);
    expect([...vectors[1]]).toEqual([0, 0, 0, 0]);
    expect(Math.max(...model.lengths)).toBe(model.contextLength);
    for (const vector of vectors.filter((_, i) => i !== 1)) expect(Math.hypot(...vector)).toBeCloseTo(1, 5);
    await expect(embedder.embed(['', ''])).rejects.toMatchObject({ code: 'embedding-empty' });
    expect(await embedder.embed([])).toEqual([]);
  });
});

/** One axis per colour. */
function colours(): TextEmbedder & { texts: string[] } {
  const texts: string[] = [];
  return {
    kind: 'transformers',
    label: 'colours',
    texts,
    async embed(batch) {
      texts.push(...batch);
      return batch.map((text) => Float32Array.from(['red', 'blue'], (colour) => (text.includes(colour) ? 1 : 0)));
    },
    dispose() {},
  };
}

describe('recall by meaning', () => {
  const transition = (action: string, room: string, source: 'offline' | 'imagined' = 'offline', episode = 'e') => ({
    source,
    episode,
    room,
    task: 't',
    state: 's',
    action,
    nextState: `${action} done`,
    reward: 0,
  });
  const query = (action: string, episode = 'mine') => ({ room: 'a', state: 's', action, episode });

  it('finds what is alike, in the room or anywhere, never of the same episode', async () => {
    const buffer = new ReplayBuffer(20);
    buffer.add([
      transition('push the red one', 'a'),
      transition('push the blue one', 'a'),
      transition('a red lamp', 'b'),
      transition('very red', 'a', 'offline', 'mine'),
    ]);
    const embedder = colours();
    const room = semanticRecall(buffer, embedder, cpuTopK);
    const [[first, second], none] = await room([query('touch red'), { ...query('x'), room: 'c' }], 2);
    expect(first).toMatchObject({ transition: { action: 'push the red one' }, similarity: 1 });
    expect(second).toMatchObject({ transition: { action: 'push the blue one' }, similarity: 0 });
    expect(none).toEqual([]);
    // Only the questions are embedded again.
    const before = embedder.texts.length;
    await room([query('touch red')], 2);
    expect(embedder.texts.length).toBe(before + 1);

    const anywhere = semanticRecall(buffer, embedder, cpuTopK, 'world');
    const [found] = await anywhere([query('touch red')], 9);
    expect(found.map((memory) => memory.transition.action)).toEqual([
      'a red lamp',
      'push the red one',
      'push the blue one',
    ]);
    expect(await room([query('red')], 0)).toEqual([[]]);
  });

  it('prefers what was seen to what was dreamed', async () => {
    const buffer = new ReplayBuffer(20);
    buffer.add([transition('red red', 'a', 'imagined'), transition('blue', 'a')]);
    const [found] = await semanticRecall(buffer, colours(), cpuTopK)([query('red')], 5);
    expect(found.map((memory) => memory.transition.action)).toEqual(['blue']);
  });
});

describe('the engine as a text model', () => {
  const codec = {
    encode: (messages: readonly { content: string }[]) => encode(messages.map(({ content }) => content).join(' ')),
    decode: (tokens: readonly number[]) => tokens.map((token) => words[token]).join(' '),
    stopTokens: [words.indexOf('r0'), words.indexOf('r1')],
  };
  const request = (content: string, maxTokens = 2) => ({
    messages: [{ role: 'user' as const, content }],
    maxTokens,
    temperature: 1,
  });

  it('answers with exact tokens, in order, and says what does not fit', async () => {
    const own = engineTextModel(new KnowingModel(), codec, { label: 'box', concurrency: 2 });
    const question = '<em> red shut > open to red \n';
    const full = Array.from({ length: 100 }, () => 'red').join(' ');
    const answers = await own.complete([request(question), request(full), request(question, 3), request(question)]);
    expect(answers.map(({ text, finishReason }) => [text, finishReason])).toEqual([
      ['opened', 'stop'],
      ['', 'length'],
      ['opened', 'stop'],
      ['opened', 'stop'],
    ]);
    expect(answers[0].tokens).toEqual([
      { text: 'opened', logProb: -1 },
      { text: 'r0', logProb: -1 },
    ]);
    expect(own.limits).toMatchObject({ logProbabilities: true, training: true });
    own.dispose();
    await expect(own.complete([request(question)])).rejects.toMatchObject({ name: 'AbortError' });
  });
});
