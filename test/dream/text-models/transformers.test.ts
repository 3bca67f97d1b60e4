import { describe, expect, it } from 'vitest';
import { DreamError } from '../../../src/data/errors';
import { type Port, serve } from '../../../src/dream/text-models/channel';
import type { TextRequest } from '../../../src/dream/text-models/text-model';
import { type HostOptions, TransformersHost } from '../../../src/dream/text-models/transformers/host';
import { transformersEmbedder, transformersTextModel } from '../../../src/dream/text-models/transformers/models';
import { libraryFailedCode, type TransformersModel } from '../../../src/dream/text-models/transformers/protocol';
import { chooseWeights, externalData } from '../../../src/dream/text-models/transformers/weights';
import { fetchFor, localFile, localName, localRoot } from '../../../src/worker/transformers-worker-files';
import {
  batchesOf,
  serveTransformers,
  type TransformersLibrary,
} from '../../../src/worker/transformers-worker-service';
import { type FakeWorker, fakeWorker } from './ports';

const model: TransformersModel = { id: 'owner/tiny', source: { kind: 'hub' }, device: 'wasm', weights: 'q8' };
const request = (content: string, more: Partial<TextRequest> = {}): TextRequest => ({
  messages: [{ role: 'user', content }],
  maxTokens: 8,
  temperature: 1,
  ...more,
});
const end = 0;
const letters = (text: string) => [...text].map((letter) => letter.charCodeAt(0));
const text = (tokens: readonly number[]) => String.fromCharCode(...tokens);

interface Behaviour {
  /** Fails in the nth run of one worker, and in all later ones: the library's poisoned chain. */
  failsFrom?: number;
  /** Tokens per second do not matter; whether it yields does. */
  slow?: boolean;
}

/** Says its prompt backwards, one letter a token. */
function library(log: string[], { failsFrom = Infinity, slow = false }: Behaviour = {}): TransformersLibrary {
  let runs = 0;
  const run = () => {
    if (++runs >= failsFrom) throw new Error('session.run failed <b>badly</b>');
  };
  return {
    async loadGenerator({ id }, report) {
      log.push(`load ${id}`);
      report({ phase: 'loading', file: 'model.onnx', loadedBytes: 5, totalBytes: 10 });
      return {
        contextLength: 24,
        endTokens: new Set([end]),
        encode: (messages) => letters(messages.map(({ content }) => content).join('')),
        decode: text,
        async generate(prompts, { maxNewTokens, isDone, seed }) {
          run();
          log.push(`batch of ${prompts.length}, seed ${seed > 0}`);
          const rows = prompts.map(() => [] as number[]);
          const done = prompts.map(() => false);
          for (let t = 0; t < maxNewTokens && done.includes(false); t++) {
            if (slow) await new Promise((resolve) => setTimeout(resolve, 2));
            prompts.forEach((prompt, i) => {
              rows[i].push(slow ? 65 : (prompt.at(-1 - t) ?? end));
              done[i] ||= rows[i].at(-1) === end || isDone(i, rows[i]);
            });
          }
          return rows;
        },
        dispose: async () => {
          log.push(`unload ${id}`);
        },
      };
    },
    async loadEmbedder({ id }) {
      log.push(`load embedder ${id}`);
      return {
        async embed(texts) {
          run();
          return { vectors: Float32Array.from(texts.flatMap((one) => [one.length, 1])), dimension: 2 };
        },
        dispose: async () => {
          log.push(`unload embedder ${id}`);
        },
      };
    },
  };
}

function hostWith(behaviours: readonly Behaviour[], options: Partial<HostOptions> = {}) {
  const log: string[] = [];
  const workers: FakeWorker[] = [];
  const host = new TransformersHost({
    startWorker: () => {
      const behaviour = behaviours[Math.min(workers.length, behaviours.length - 1)];
      const worker = fakeWorker((self) => serveTransformers(self, library(log, behaviour)));
      workers.push(worker);
      return worker;
    },
    ...options,
  });
  return { host, log, workers };
}

describe('a model in its worker', () => {
  it('answers in order, in batches of equal length, and loads once', async () => {
    const { host, log } = hostWith([{}]);
    const progress: string[] = [];
    const decoder = transformersTextModel(host, model, { onProgress: ({ phase }) => progress.push(phase) });
    const answers = await decoder.complete(['abc', 'de', 'fgh', 'i'].map((content) => request(content, { seed: 7 })));
    expect(answers.map((answer) => answer.text)).toEqual(['cba', 'ed', 'hgf', 'i']);
    expect(answers[0]).toEqual({ text: 'cba', finishReason: 'stop', generatedTokens: 3 });
    expect(log).toEqual(['load owner/tiny', 'batch of 2, seed true', 'batch of 1, seed true', 'batch of 1, seed true']);
    await decoder.complete([request('x')]);
    expect(log.filter((line) => line.startsWith('load'))).toHaveLength(1);
    expect(progress).toContain('loading');
    expect(progress).toContain('working');
    host.dispose();
  });

  it('tells an end from a cut, a stop string and a prompt that does not fit', async () => {
    const { host } = hostWith([{}]);
    const decoder = transformersTextModel(host, model);
    const answers = await decoder.complete([
      request('abcdefghijk'),
      request('abcdefghijk', { stop: ['hg'] }),
      request('x'.repeat(20)),
    ]);
    expect(answers).toMatchObject([
      { text: 'kjihgfed', finishReason: 'length' },
      { text: 'kji', finishReason: 'stop' },
      { text: '', finishReason: 'length' },
    ]);
    host.dispose();
  });

  it('is killed after one failed run, and goes on in a new one', async () => {
    const { host, log, workers } = hostWith([{ failsFrom: 2 }, {}]);
    const decoder = transformersTextModel(host, model);
    await decoder.complete([request('ab')]);
    expect((await decoder.complete([request('cd')]))[0].text).toBe('dc');
    expect(workers.map((worker) => worker.terminated)).toEqual([true, false]);
    expect(log.filter((line) => line.startsWith('load'))).toHaveLength(2);
    host.dispose();
  });

  it('that fails twice is a typed error, and the next question gets a clean worker', async () => {
    const { host, workers } = hostWith([{ failsFrom: 1 }, { failsFrom: 1 }, {}]);
    const decoder = transformersTextModel(host, model);
    await expect(decoder.complete([request('ab')])).rejects.toMatchObject({
      code: libraryFailedCode,
      message: expect.stringContaining('session.run failed'),
    });
    expect(workers.every((worker) => worker.terminated)).toBe(true);
    expect((await decoder.complete([request('ab')]))[0].text).toBe('ba');
    host.dispose();
  });

  it('takes its neighbours’ questions with it, and they are asked again', async () => {
    const { host } = hostWith([{ failsFrom: 1 }, {}]);
    const decoder = transformersTextModel(host, model);
    const sentences = transformersEmbedder(host, { ...model, id: 'mini' });
    const [answers, vectors] = await Promise.all([
      decoder.complete([request('ab')]),
      sentences.embed(['one', 'three']),
    ]);
    expect(answers[0].text).toBe('ba');
    expect(vectors.map((vector) => [...vector])).toEqual([
      [3, 1],
      [5, 1],
    ]);
    host.dispose();
  });

  it('that crashes is replaced', async () => {
    const { host, workers } = hostWith([{ slow: true }, {}]);
    const decoder = transformersTextModel(host, model);
    const answer = decoder.complete([request('ab')]);
    setTimeout(() => workers[0].crash('out of memory'), 6);
    expect((await answer)[0].text).toBe('ba');
    expect(host.starts).toBe(2);
    host.dispose();
  });

  it('stops when asked, without being killed', async () => {
    const { host, workers } = hostWith([{ slow: true }]);
    const decoder = transformersTextModel(host, model);
    const controller = new AbortController();
    const reason = new Error('enough');
    const answer = decoder.complete([request('abcd', { maxTokens: 16 })], controller.signal);
    setTimeout(() => controller.abort(reason), 8);
    await expect(answer).rejects.toBe(reason);
    expect((await decoder.complete([request('ab')]))[0].text).toBe('A'.repeat(8));
    expect(workers).toHaveLength(1);
    host.dispose();
  });

  it('that does not stop when asked is killed before the next question', async () => {
    const deaf = (self: Port) => {
      serve(self, { complete: () => new Promise(() => {}) }, () => new DreamError('x', 'x', 'x'));
    };
    const workers: FakeWorker[] = [];
    const host = new TransformersHost({
      graceMs: 20,
      startWorker: () => {
        const worker = fakeWorker(workers.length === 0 ? deaf : (self) => serveTransformers(self, library([])));
        workers.push(worker);
        return worker;
      },
    });
    const decoder = transformersTextModel(host, model);
    await expect(decoder.complete([request('ab')], AbortSignal.timeout(10))).rejects.toMatchObject({
      name: 'TimeoutError',
    });
    expect((await decoder.complete([request('ab')]))[0].text).toBe('ba');
    expect(workers.map((worker) => worker.terminated)).toEqual([true, false]);
    host.dispose();
  });

  it('that falls silent is killed, and the error says so', async () => {
    const host = new TransformersHost({
      stallMs: 40,
      startWorker: () => fakeWorker(() => {}),
    });
    await expect(transformersTextModel(host, model).complete([request('ab')])).rejects.toMatchObject({
      code: 'transformers-stalled',
    });
  });

  it('shares one worker with the embedder; the last to leave ends it', async () => {
    const { host, log, workers } = hostWith([{}]);
    const decoder = transformersTextModel(host, model);
    const sentences = transformersEmbedder(host, { ...model, id: 'mini' });
    await decoder.complete([request('a')]);
    await sentences.embed(Array.from({ length: 40 }, () => 'text'));
    await decoder.dispose();
    await decoder.dispose();
    expect(log).toContain('unload owner/tiny');
    expect(workers[0].terminated).toBe(false);
    await sentences.dispose();
    expect(workers).toHaveLength(1);
    expect(workers[0].terminated).toBe(true);
  });

  it('disposed, answers no more', async () => {
    const { host } = hostWith([{ slow: true }]);
    const decoder = transformersTextModel(host, model);
    const answer = decoder.complete([request('ab')]);
    setTimeout(() => host.dispose(), 5);
    await expect(answer).rejects.toMatchObject({ code: 'transformers-closed' });
    await expect(decoder.complete([request('ab')])).rejects.toMatchObject({ code: 'transformers-closed' });
  });
});

describe('batches', () => {
  it('are of one length, one limit and one temperature, at most eight', () => {
    const requests = Array.from({ length: 20 }, (_, i) => request('', { temperature: i === 19 ? 0 : 1 }));
    const prompts = requests.map((_, i) => (i % 10 === 9 ? [1, 2] : [1]));
    const batches = batchesOf(
      requests.map((_, i) => i),
      prompts,
      requests,
    );
    expect(batches.map((batch) => batch.length).sort()).toEqual([1, 1, 2, 8, 8]);
    expect(batches.flat().sort((a, b) => a - b)).toEqual(requests.map((_, i) => i));
  });
});

const folder = (...paths: string[]): TransformersModel => ({
  ...model,
  weights: 'q4f16',
  source: { kind: 'folder', files: new Map(paths.map((path) => [path, new Blob([path])])) },
});

describe('weights', () => {
  const [half, full] = [{ halfPrecision: true }, { halfPrecision: false }];

  it('of half precision need a device that has it, or fall back', () => {
    expect(chooseWeights(folder('onnx/model_q4f16.onnx'), half)).toBe('q4f16');
    expect(chooseWeights(folder('onnx/model_q4f16.onnx', 'onnx/model_q4.onnx'), full)).toBe('q4');
    const code = (one: TransformersModel, device: typeof half | null) => {
      try {
        return chooseWeights(one, device);
      } catch (error) {
        return (error as DreamError).code;
      }
    };
    expect(code(folder('onnx/model_q4f16.onnx'), full)).toBe('transformers-needs-f16');
    expect(code(folder('onnx/model_q4f16.onnx'), null)).toBe('transformers-needs-f16');
    expect(code(folder('onnx/model.onnx'), half)).toBe('transformers-file-missing');
    expect(code({ ...model, weights: 'q4f16' }, full)).toBe('transformers-needs-f16');
    expect(code(model, null)).toBe('q8');
  });

  it('find the parts beside the model file, in order', () => {
    const { source } = folder(
      'onnx/model_q4.onnx',
      ...[10, 2, 1].map((n) => `onnx/model_q4.onnx_data_${n}`),
      'onnx/model_q4.onnx_data',
      'onnx/model_q4f16.onnx_data',
    );
    const parts = source.kind === 'folder' ? externalData(source.files, 'q4') : [];
    expect(parts.map(({ path }) => path)).toEqual(['', '_1', '_2', '_10'].map((n) => `model_q4.onnx_data${n}`));
  });
});

describe('files', () => {
  const address = (file: string) => `${localRoot}${localName}/${file}`;

  it('of a folder are answered from memory, and nothing else is', async () => {
    const { source } = folder('config.json');
    const asked: unknown[] = [];
    const read = fetchFor(
      source,
      () => {},
      async (input) => {
        asked.push(input);
        return new Response('from the network');
      },
    );
    expect(await (await read(address('config.json'))).text()).toBe('config.json');
    expect((await read(address('config.json'))).headers.get('content-length')).toBe('11');
    for (const other of [
      address('generation_config.json'),
      'https://elsewhere.example/config.json',
      address('../../secret'),
    ])
      expect((await read(other)).status).toBe(404);
    expect(asked).toEqual([]);
    expect(localFile('/elsewhere/config.json')).toBeNull();
  });

  it('of a site come from its folder, counted; a page in place of a file is no file', async () => {
    const counts: [string, number][] = [];
    const site: Record<string, Response> = {
      'https://page.example/m/config.json': new Response('{"a":1}', {
        headers: { 'content-type': 'application/json' },
      }),
      'https://page.example/m/generation_config.json': new Response('<html>', {
        headers: { 'content-type': 'text/html' },
      }),
    };
    const read = fetchFor(
      { kind: 'site', url: 'https://page.example/m/' },
      (file, loaded) => counts.push([file, loaded]),
      async (input) => site[String(input)] ?? new Response(null, { status: 404 }),
    );
    expect(await (await read(address('config.json'))).json()).toEqual({ a: 1 });
    expect((await read(address('generation_config.json'))).status).toBe(404);
    expect((await read(address('other'))).status).toBe(404);
    expect(counts).toEqual([['config.json', 7]]);
  });
});
