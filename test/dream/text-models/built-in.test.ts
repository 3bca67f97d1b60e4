import { afterEach, describe, expect, it } from 'vitest';
import {
  type BuiltInCreateOptions,
  type BuiltInLanguageModel,
  builtInAvailability,
  openBuiltInModel,
} from '../../../src/dream/text-models/built-in';
import { borrowTextModel, lendTextModel } from '../../../src/dream/text-models/remote-model';
import type { TextRequest } from '../../../src/dream/text-models/text-model';
import { portPair } from './ports';

interface Fake extends BuiltInLanguageModel {
  created: BuiltInCreateOptions[];
  asked: string[];
  open: number;
}

interface Manners {
  availability?: 'unavailable' | 'downloadable' | 'available';
  sampling?: boolean;
  streams?: boolean;
  answer?: string;
  fails?: Error;
  refusesToOpen?: Error;
  hangs?: boolean;
}

function fake(manners: Manners = {}): Fake {
  const { availability = 'available', sampling = true, streams = true, answer = 'one two three' } = manners;
  const found: Fake = {
    created: [],
    asked: [],
    open: 0,
    availability: async () => availability,
    ...(sampling ? { params: async () => ({ defaultTopK: 3, maxTopK: 8, maxTemperature: 2 }) } : {}),
    async create(options = {}) {
      if (manners.refusesToOpen) throw manners.refusesToOpen;
      options.signal?.throwIfAborted();
      found.created.push(options);
      found.open++;
      options.monitor?.({
        addEventListener: (_, listener) =>
          [0, 0.5, 1].forEach((loaded) => {
            listener({ loaded, total: 1 });
          }),
      });
      const say = async (input: string, signal?: AbortSignal) => {
        found.asked.push(input);
        if (manners.fails) throw manners.fails;
        if (manners.hangs)
          await new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
        return answer;
      };
      return {
        prompt: (input, more) => say(input, more?.signal),
        ...(streams
          ? {
              promptStreaming: (input: string, more?: { signal?: AbortSignal }) =>
                new ReadableStream<string>({
                  async start(controller) {
                    try {
                      const words = (await say(input, more?.signal)).split(/(?<= )/);
                      for (const word of words) controller.enqueue(word);
                      controller.close();
                    } catch (error) {
                      controller.error(error);
                    }
                  },
                }),
            }
          : {}),
        destroy: () => {
          found.open--;
        },
      };
    },
  };
  return found;
}

const request = (more: Partial<TextRequest> = {}): TextRequest => ({
  messages: [
    { role: 'system', content: 'be a box' },
    { role: 'user', content: 'open' },
  ],
  maxTokens: 16,
  temperature: 0.5,
  ...more,
});

afterEach(() => {
  Reflect.deleteProperty(globalThis, 'LanguageModel');
});

describe('the browser’s own model', () => {
  it('where there is none is a typed error', async () => {
    expect(await builtInAvailability()).toBe('absent');
    await expect(openBuiltInModel()).rejects.toMatchObject({ code: 'built-in-absent' });
  });

  it('is found in the global scope', async () => {
    Reflect.set(globalThis, 'LanguageModel', fake());
    expect(await builtInAvailability()).toBe('available');
    const model = await openBuiltInModel();
    expect((await model.complete([request()]))[0].text).toBe('one two three');
  });

  it('reports its download, asks each question in a session of its own, and closes all', async () => {
    const languageModel = fake({ availability: 'downloadable' });
    const fractions: number[] = [];
    const model = await openBuiltInModel({ languageModel, onProgress: (fraction) => fractions.push(fraction) });
    expect(fractions).toEqual([0, 0.5, 1]);
    expect(await model.complete([request(), request({ temperature: 0 })])).toHaveLength(2);
    expect(languageModel.created.slice(1)).toMatchObject([
      { initialPrompts: [{ role: 'system', content: 'be a box' }], temperature: 0.5, topK: 8 },
      { temperature: 0, topK: 1 },
    ]);
    expect(languageModel.asked).toEqual(['open', 'open']);
    expect(languageModel.open).toBe(0);
    expect(model.limits).toMatchObject({ logProbabilities: false, training: false, concurrency: 1 });
  });

  it('leaves sampling alone where a page may not choose it', async () => {
    const languageModel = fake({ sampling: false });
    const model = await openBuiltInModel({ languageModel });
    await model.complete([request()]);
    expect(languageModel.created[1]).not.toHaveProperty('temperature');
    expect(languageModel.created[1]).not.toHaveProperty('topK');
    expect(model.limits.reason).toContain('temperature');
  });

  it.each([true, false])('is cut at stop strings and at its length (streaming: %s)', async (streams) => {
    const model = await openBuiltInModel({ languageModel: fake({ streams }) });
    const [stopped, cut] = await model.complete([request({ stop: [' three'] }), request({ maxTokens: 1 })]);
    expect(stopped).toEqual({ text: 'one two', finishReason: 'stop' });
    expect(cut).toEqual({ text: 'one tw', finishReason: 'length' });
  });

  it.each([
    [{ availability: 'unavailable' } as Manners, 'built-in-unavailable'],
    [{ refusesToOpen: new DOMException('click first', 'NotAllowedError') }, 'built-in-needs-click'],
    [{ refusesToOpen: new Error('no disk') }, 'built-in-failed'],
  ])('%j -> %s', async (manners, code) => {
    await expect(openBuiltInModel({ languageModel: fake(manners) })).rejects.toMatchObject({ code });
  });

  it('fails typed while answering; a prompt that does not fit is no failure', async () => {
    const failing = await openBuiltInModel({ languageModel: fake({ fails: new Error('gone') }) });
    await expect(failing.complete([request()])).rejects.toMatchObject({ code: 'built-in-failed' });
    const full = fake({ fails: new DOMException('too much', 'QuotaExceededError') });
    const model = await openBuiltInModel({ languageModel: full });
    expect(await model.complete([request()])).toEqual([{ text: '', finishReason: 'length' }]);
    expect(full.open).toBe(0);
  });

  it('can be aborted and disposed', async () => {
    const languageModel = fake({ hangs: true });
    const model = await openBuiltInModel({ languageModel });
    await expect(model.complete([request()], AbortSignal.timeout(15))).rejects.toMatchObject({ name: 'TimeoutError' });
    const waiting = model.complete([request()]);
    setTimeout(() => model.dispose(), 5);
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
    expect(languageModel.open).toBe(0);
  });
});

describe('a model lent to another thread', () => {
  it('answers, fails typed and can be aborted as if it were here', async () => {
    const [here, there] = portPair();
    const own = await openBuiltInModel({ languageModel: fake() });
    const takeBack = lendTextModel(here, own);
    const model = await borrowTextModel(there);
    expect(model).toMatchObject({ kind: 'built-in', label: own.label, limits: own.limits });
    expect(await model.complete([request(), request()])).toEqual(await own.complete([request(), request()]));

    const [second, secondThere] = portPair();
    lendTextModel(second, await openBuiltInModel({ languageModel: fake({ hangs: true }) }));
    const slow = await borrowTextModel(secondThere);
    await expect(slow.complete([request()], AbortSignal.timeout(10))).rejects.toMatchObject({ name: 'TimeoutError' });

    const [third, thirdThere] = portPair();
    lendTextModel(third, await openBuiltInModel({ languageModel: fake({ fails: new Error('gone') }) }));
    const failing = await borrowTextModel(thirdThere);
    await expect(failing.complete([request()])).rejects.toMatchObject({
      code: 'built-in-failed',
      advice: expect.any(String),
    });

    const left = model.complete([request()]);
    model.dispose();
    await expect(left).rejects.toMatchObject({ name: 'AbortError' });
    takeBack();
  });
});
