import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DecoderModel } from '../../src/nn/decoder-model';
import type { Generated, SamplingOptions, Sessions } from '../../src/nn/language-model';
import { testGpu } from '../gpu';
import { randomSource } from '../numbers';
import { randomTokens, tinyConfig, tinyModel } from './tiny-models';

// Hot, because lively weights make a model that is sure of itself.
const free: SamplingOptions = { temperature: 3, seed: 5, stopTokens: [], maxNewTokens: 12 };
let model: DecoderModel;
beforeAll(async () => {
  model = await tinyModel();
});
afterAll(() => model.dispose());

async function withSessions<T>(count: number, use: (sessions: Sessions) => Promise<T>, of = model): Promise<T> {
  const sessions = of.sessions(count);
  try {
    return await use(sessions);
  } finally {
    sessions.dispose();
  }
}

/** The trainer's log-probabilities of `sequence`'s last `count` tokens. */
async function scored(sequence: readonly number[], count: number): Promise<number[]> {
  const [logProbs] = await model.score([sequence]);
  return [...logProbs.slice(sequence.length - count)];
}

function expectNear(actual: readonly number[], expected: readonly number[], tolerance = 1e-4): void {
  expect(actual.length).toBe(expected.length);
  actual.forEach((value, i) => {
    expect(Math.abs(value - expected[i])).toBeLessThanOrEqual(tolerance);
  });
}

describe('the sampler and the trainer agree', () => {
  test('log-probabilities of what was generated equal score() of it', async () => {
    const prompts = randomTokens(2, [7, 1, 20, 3, 12]);
    const generated = await withSessions(5, (sessions) => {
      prompts.forEach((prompt, i) => {
        sessions.append(i, prompt);
      });
      return sessions.generate([0, 1, 2, 3, 4], free);
    });
    for (const [i, { tokens, logProbs, stopped }] of generated.entries()) {
      expect(tokens.length).toBe(12);
      expect(stopped).toBe(false);
      expectNear(logProbs, await scored([...prompts[i], ...tokens], 12));
    }
  });

  test('over several turns, in and out of the batch', async () => {
    const uniform = randomSource(8);
    const streams = [0, 1, 2, 3];
    const histories: number[][] = streams.map(() => []);
    const drawn: { at: number; logProb: number }[][] = streams.map(() => []);
    await withSessions(4, async (sessions) => {
      for (let turn = 0; turn < 4; turn++) {
        // Not everybody talks in every turn, and the order changes.
        const talking = streams.filter((s) => (s + turn) % 4 !== 3).reverse();
        for (const s of talking) {
          const words = randomTokens(100 * turn + s, [1 + Math.floor(uniform() * 5)])[0];
          sessions.append(s, words);
          histories[s].push(...words);
        }
        const results = await sessions.generate(talking, { ...free, maxNewTokens: 3 + turn, stopTokens: [4, 9] });
        results.forEach(({ tokens, logProbs, stopped }, i) => {
          const s = talking[i];
          expect(stopped).toBe([4, 9].includes(tokens[tokens.length - 1]));
          logProbs.forEach((logProb, j) => {
            drawn[s].push({ at: histories[s].length + j, logProb });
          });
          histories[s].push(...tokens);
          expect(sessions.length(s)).toBe(histories[s].length);
        });
      }
    });
    const scores = await model.score(histories);
    for (const s of streams) {
      expect(drawn[s].length).toBeGreaterThan(4);
      expectNear(
        drawn[s].map(({ logProb }) => logProb),
        drawn[s].map(({ at }) => scores[s][at]),
      );
    }
  });

  test('text appended in pieces is text appended at once', async () => {
    const [text] = randomTokens(12, [30]);
    const atOnce = await withSessions(1, (sessions) => {
      sessions.append(0, text);
      return sessions.generate([0], free);
    });
    const inPieces = await withSessions(2, async (sessions) => {
      sessions.append(0, text.slice(0, 11));
      // Nothing may be drawn: the text is read, and the stream waits for more.
      const nothing = { tokens: [], logProbs: [], stopped: false };
      expect(await sessions.generate([0], { ...free, maxNewTokens: 0 })).toEqual([nothing]);
      sessions.append(0, text.slice(11, 12));
      sessions.append(0, text.slice(12));
      return sessions.generate([0], free);
    });
    expect(inPieces).toEqual(atOnce);
  });
});

describe('a stream is alone', () => {
  const prompts = randomTokens(31, [5, 17, 1, 9, 30, 2, 2]);
  const all = prompts.map((_, i) => i);

  async function generate(streams: readonly number[], options = free): Promise<Generated[]> {
    return withSessions(prompts.length, (sessions) => {
      for (const s of streams) sessions.append(s, prompts[s]);
      return sessions.generate(streams, options);
    });
  }

  test('a ragged batch gives what each gives alone, to the bit', async () => {
    for (const options of [free, { ...free, stopTokens: [3, 7, 11] }, { ...free, temperature: 0 }]) {
      const together = await generate(all, options);
      for (const s of all) expect(await generate([s], options)).toEqual([together[s]]);
    }
  });

  test('results come in the order asked', async () => {
    const [a, b, c] = await generate([4, 0, 2]);
    const straight = await generate([0, 2, 4]);
    expect([b, c, a]).toEqual(straight);
  });

  test('the same prompt on two streams: same log-probabilities, independent draws; another seed, other draws', async () => {
    const [text] = randomTokens(1, [6]);
    const draw = (seed: number) =>
      withSessions(8, (sessions) => {
        for (let s = 0; s < 8; s++) sessions.append(s, text);
        return sessions.generate([0, 1, 2, 3, 4, 5, 6, 7], { ...free, seed });
      });
    const first = await draw(1);
    expect(await draw(1)).toEqual(first);
    expect(await draw(2)).not.toEqual(first);
    expect(new Set(first.map(({ tokens }) => tokens.join())).size).toBeGreaterThan(6);
    const greedy = await withSessions(2, (sessions) => {
      sessions.append(0, text);
      sessions.append(1, text);
      return sessions.generate([0, 1], { ...free, temperature: 0 });
    });
    expect(greedy[0]).toEqual(greedy[1]);
  });

  test('a cleared stream is a new one', async () => {
    const again = await withSessions(2, async (sessions) => {
      sessions.append(0, prompts[4]);
      sessions.append(1, prompts[1]);
      await sessions.generate([0, 1], free);
      sessions.clear(0);
      expect(sessions.length(0)).toBe(0);
      sessions.append(0, prompts[3]);
      return sessions.generate([0], free);
    });
    const fresh = await withSessions(1, (sessions) => {
      sessions.append(0, prompts[3]);
      return sessions.generate([0], free);
    });
    expect(again).toEqual(fresh);
  });
});

describe('ends', () => {
  test('a stop token ends a reply and is part of it', async () => {
    const [plain] = await withSessions(1, (sessions) => {
      sessions.append(0, [1, 2, 3]);
      return sessions.generate([0], { ...free, maxNewTokens: 20 });
    });
    // Stop at the first occurrence of the token drawn at each place: whatever a look of the CPU covers.
    for (const at of [0, 1, 2, 3, 4, 5, 7, 11]) {
      const stop = plain.tokens[at];
      const end = plain.tokens.indexOf(stop) + 1;
      const [reply] = await withSessions(1, (sessions) => {
        sessions.append(0, [1, 2, 3]);
        return sessions.generate([0], { ...free, maxNewTokens: 20, stopTokens: [stop] });
      });
      expect(reply).toEqual({
        tokens: plain.tokens.slice(0, end),
        logProbs: plain.logProbs.slice(0, end),
        stopped: true,
      });
    }
  });

  test.each([1, 2, 3, 4, 5, 8, 9])('at most %i new tokens', async (maxNewTokens) => {
    const [reply] = await withSessions(1, (sessions) => {
      sessions.append(0, [5, 6]);
      return sessions.generate([0], { ...free, maxNewTokens });
    });
    expect(reply.tokens.length).toBe(maxNewTokens);
    expect(reply.stopped).toBe(false);
  });

  test('the context ends a reply, and a full stream still answers in words', async () => {
    const { contextLength } = tinyConfig;
    const [text] = randomTokens(3, [contextLength - 3]);
    await withSessions(2, async (sessions) => {
      sessions.append(0, text);
      sessions.append(1, [1]);
      const [reply, other] = await sessions.generate([0, 1], { ...free, maxNewTokens: 10 });
      expect(reply.tokens.length).toBe(3);
      expect(other.tokens.length).toBe(10);
      expect(sessions.length(0)).toBe(contextLength);
      expectNear(reply.logProbs, await scored([...text, ...reply.tokens], 3));
      expect(() => sessions.append(0, [1])).toThrow(expect.objectContaining({ code: 'context-full' }));
      const [full] = await sessions.generate([0], free);
      expect(full).toEqual({ tokens: [], logProbs: [], stopped: false });
    });
  });

  test('nothing appended is refused; nothing asked gives nothing', async () => {
    await withSessions(1, async (sessions) => {
      await expect(sessions.generate([0], free)).rejects.toMatchObject({ code: 'nothing-to-continue' });
      expect(await sessions.generate([], free)).toEqual([]);
    });
  });
});

test('prompts longer than one prefill are read in pieces', async () => {
  const config = { ...tinyConfig, contextLength: 3000, layers: 1 };
  const long = await tinyModel({}, config);
  const prompts = randomTokens(77, [700, 2500, 40]);
  const generated = await withSessions(
    3,
    (sessions) => {
      prompts.forEach((prompt, i) => {
        sessions.append(i, prompt);
      });
      return sessions.generate([0, 1, 2], { ...free, maxNewTokens: 6 });
    },
    long,
  );
  const scores = await long.score(prompts.map((prompt, i) => [...prompt, ...generated[i].tokens]));
  generated.forEach(({ logProbs }, i) => {
    expectNear(logProbs, [...scores[i].slice(prompts[i].length)]);
  });
  long.dispose();
});

test('sessions give their memory back', async () => {
  const gpu = await testGpu();
  const inUse = gpu.memory.bytesInUse;
  await withSessions(3, (sessions) => {
    sessions.append(0, [1, 2]);
    sessions.append(2, [3]);
    return sessions.generate([2, 0], free);
  });
  expect(gpu.memory.bytesInUse).toBe(inUse);
});

describe('a common prompt', () => {
  test('copied to others is what each would have computed, to the bit, and each goes its own way', async () => {
    const [prompt] = randomTokens(40, [21]);
    const alone = await withSessions(4, (sessions) => {
      for (const i of [0, 1, 3]) sessions.append(i, prompt);
      return sessions.generate([0, 1, 3], free);
    });
    await withSessions(4, async (sessions) => {
      sessions.append(0, prompt);
      sessions.append(3, [1, 2, 3]); // forgotten
      await sessions.copy(0, [1, 3]);
      expect([0, 1, 2, 3].map((i) => sessions.length(i))).toEqual([21, 21, 0, 21]);
      expect(await sessions.generate([0, 1, 3], free)).toEqual(alone);
      expect(alone[0].tokens).not.toEqual(alone[1].tokens);
    });
  });

  test('in the middle of an episode, with one token or none', async () => {
    await withSessions(3, async (sessions) => {
      sessions.append(0, [4, 5, 6]);
      const [first] = await sessions.generate([0], free);
      await sessions.copy(0, [2]);
      const rest = await sessions.generate([0, 2], { ...free, temperature: 0 });
      expect(rest[1]).toEqual(rest[0]);
      expectNear(rest[1].logProbs, await scored([4, 5, 6, ...first.tokens, ...rest[1].tokens], 12));
      await sessions.copy(1, [2]);
      expect(sessions.length(2)).toBe(0);
    });
  });
});

test('only allowed tokens are drawn; their log-probabilities are those of the full softmax', async () => {
  await withSessions(2, async (sessions) => {
    sessions.append(0, [1, 2]);
    sessions.append(1, [3]);
    const seen: number[] = [];
    const allowed = (stream: number, drawn: readonly number[]) => {
      if (stream === 1) return null;
      seen.push(drawn.length);
      return drawn.length === 2 ? [9] : [7, 8];
    };
    const [bound, unbound] = await sessions.generate([0, 1], { ...free, maxNewTokens: 5, allowed });
    expect(seen).toEqual([0, 1, 2, 3, 4]);
    expect(bound.tokens[2]).toBe(9);
    expect(bound.tokens.filter((_, i) => i !== 2).every((token) => token === 7 || token === 8)).toBe(true);
    expectNear(bound.logProbs, await scored([1, 2, ...bound.tokens], 5));
    sessions.clear(1);
    sessions.append(1, [3]);
    expect((await sessions.generate([1], { ...free, maxNewTokens: 5 }))[0]).toEqual(unbound);
    sessions.append(0, [1]);
    await expect(sessions.generate([0], { ...free, allowed: () => [] })).rejects.toMatchObject({
      code: 'nothing-allowed',
    });
  });
});

test('who watches the tokens come may end a stream; the others go on as before', async () => {
  await withSessions(2, async (sessions) => {
    const start = () => {
      for (const i of [0, 1]) {
        sessions.clear(i);
        sessions.append(i, [2, 4]);
      }
    };
    start();
    const whole = await sessions.generate([0, 1], free);
    start();
    const looks: number[] = [];
    const cut = await sessions.generate([0, 1], {
      ...free,
      onTokens: (stream, drawn) => {
        if (stream === 0) looks.push(drawn.length);
        return stream === 0 && drawn.length >= 4;
      },
    });
    expect(looks).toEqual([4]);
    expect(cut[0].tokens).toEqual(whole[0].tokens.slice(0, 4));
    expect(cut[1]).toEqual(whole[1]);
    expect(sessions.length(0)).toBe(6);
  });
});
