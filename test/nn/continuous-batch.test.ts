import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { generateAll } from '../../src/nn/continuous-batch';
import type { DecoderModel } from '../../src/nn/decoder-model';
import type { Generated } from '../../src/nn/language-model';
import { randomTokens, tinyModel } from './tiny-models';

const prompts = randomTokens(3, [5, 1, 12, 7, 3, 9, 2]);
const options = { temperature: 2, seed: 4, stopTokens: [6], maxNewTokens: 37 };
let model: DecoderModel;
beforeAll(async () => {
  model = await tinyModel();
});
afterAll(() => model.dispose());

describe('more prompts than streams', () => {
  test('each gives what it would give alone, in whatever company', async () => {
    const alone: Generated[] = [];
    for (const [i, prompt] of prompts.entries()) {
      const sessions = model.sessions(1);
      sessions.append(0, prompt);
      alone.push(...(await sessions.generate([0], { ...options, keyOf: () => i })));
      sessions.dispose();
    }
    expect(new Set(alone.map(({ tokens }) => tokens.length)).size).toBeGreaterThan(2);
    for (const streams of [1, 3, 7, 20]) {
      const finished: number[] = [];
      const together = await generateAll(model, prompts, { ...options, streams, onFinished: (i) => finished.push(i) });
      expect(together.map(({ tokens, stopped }) => ({ tokens, stopped }))).toEqual(
        alone.map(({ tokens, stopped }) => ({ tokens, stopped })),
      );
      together.forEach(({ logProbs }, i) => {
        logProbs.forEach((value, t) => {
          expect(Math.abs(value - alone[i].logProbs[t])).toBeLessThan(1e-5);
        });
      });
      expect([...finished].sort()).toEqual(prompts.map((_, i) => i));
    }
  });

  test('a mask and a watcher see the whole answer across rounds', async () => {
    const free = { ...options, stopTokens: [], streams: 2 };
    const seen = new Map<number, number>();
    const cut = await generateAll(model, prompts.slice(0, 3), {
      ...free,
      onTokens: (prompt, drawn) => {
        seen.set(prompt, drawn.length);
        return prompt === 1 && drawn.length >= 20;
      },
    });
    expect(cut.map(({ tokens }) => tokens.length)).toEqual([37, 20, 37]);
    expect(seen.get(0)).toBe(37);
    const [forced] = await generateAll(model, prompts.slice(0, 1), {
      ...free,
      allowed: (_, drawn) => [drawn.length % 24],
    });
    expect(forced.tokens).toEqual(Array.from({ length: 37 }, (_, i) => i % 24));
  });

  test('nothing in, nothing out; an abort ends it and gives the memory back', async () => {
    expect(await generateAll(model, [], { ...options, streams: 4 })).toEqual([]);
    const stop = new AbortController();
    const watch = { ...options, stopTokens: [], streams: 1, signal: stop.signal, onFinished: () => stop.abort() };
    await expect(generateAll(model, prompts, watch)).rejects.toThrow(/abort/i);
  });
});
