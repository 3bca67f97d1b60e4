import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import {
  type TextRequest,
  TransformersHost,
  transformersEmbedder,
  transformersTextModel,
} from '../../../src/dream/text-models';
import type { TransformersModel } from '../../../src/dream/text-models/transformers/protocol';
import { serveTransformers, type TransformersLibrary } from '../../../src/worker/transformers-worker-service';
import { fakeWorker } from './ports';
import { tinyDecoder, tinyEncoder } from './tiny-onnx';

// The browser's build of the library, as the worker has it; its Node build wants packages that are not installed.
const browserBuild = fileURLToPath(import.meta.resolve('@huggingface/transformers')).replace(
  /[^/]*$/,
  'transformers.web.js',
);
vi.mock('@huggingface/transformers', () => import(/* @vite-ignore */ browserBuild));

const words = ['<pad>', '<end>', '<unk>', 'so', 'the', 'box', 'opens', 'red', 'blue', 'open'];
const next: Record<string, string> = { so: 'the', the: 'box', box: 'opens', opens: '<end>' };

const request = (content: string, more: Partial<TextRequest> = {}): TextRequest => ({
  messages: [{ role: 'user', content }],
  maxTokens: 6,
  temperature: 0,
  ...more,
});

let library: TransformersLibrary;
const decoder: TransformersModel = {
  id: 'my folder',
  source: { kind: 'folder', files: tinyDecoder(words, (word) => [next[word] ?? '<unk>']) },
  device: 'wasm',
  weights: 'fp32',
};

beforeAll(async () => {
  // Otherwise the library takes this for Node and looks for files on the disk.
  vi.stubGlobal('process', Object.create(process, { release: { value: { name: 'browser' } } }));
  vi.stubGlobal('fetch', () => {
    throw new Error('nothing may be fetched');
  });
  ({ transformersLibrary: library } = await import('../../../src/worker/transformers-worker-library'));
});

const open = () => new TransformersHost({ startWorker: () => fakeWorker((self) => serveTransformers(self, library)) });

describe('the real library on the processor', () => {
  it('generates from a folder in memory: batches, ends, stops, cuts, prompts that do not fit', async () => {
    const host = open();
    const files: string[] = [];
    const model = transformersTextModel(host, decoder, {
      onProgress: (progress) => progress.phase === 'loading' && files.push(progress.file),
    });
    const answers = await model.complete([
      request('open the box'),
      request('red'),
      request('open the red'),
      request('blue', { maxTokens: 2 }),
      request('open', { stop: ['opens'] }),
      request('red '.repeat(40)),
    ]);
    expect(answers).toEqual([
      { text: 'the box opens', finishReason: 'stop', generatedTokens: 3 },
      { text: 'the box opens', finishReason: 'stop', generatedTokens: 3 },
      { text: 'the box opens', finishReason: 'stop', generatedTokens: 3 },
      { text: 'the box', finishReason: 'length', generatedTokens: 2 },
      { text: 'the box ', finishReason: 'stop', generatedTokens: 3 },
      { text: '', finishReason: 'length', generatedTokens: 0 },
    ]);
    expect(files).toContain('onnx/model.onnx');
    await model.dispose();
  });

  it('samples by seed: the same seed the same text, another seed another', async () => {
    const host = open();
    const flat = { ...decoder, source: { kind: 'folder' as const, files: tinyDecoder(words, () => words.slice(3)) } };
    const model = transformersTextModel(host, flat);
    const say = async (seed: number) =>
      (await model.complete([request('red', { temperature: 1, seed, maxTokens: 12 })]))[0].text;
    const [first, again, other] = [await say(1), await say(1), await say(2)];
    expect(again).toBe(first);
    expect(other).not.toBe(first);
    await model.dispose();
  });

  it('embeds sentences as unit vectors, whatever else is in the batch', async () => {
    const vectors = words.map((word) => (word === 'red' ? [3, 4, 0] : word === 'blue' ? [0, 0, 2] : [1, 0, 0]));
    const files = tinyEncoder(words, vectors);
    const encoder = transformersEmbedder(open(), {
      id: 'sentences',
      source: { kind: 'folder', files },
      device: 'wasm',
      weights: 'q8',
    });
    const [red, blue, both] = await encoder.embed(['red', 'blue', 'red red blue']);
    expect([...red]).toEqual([0.6, 0.8, 0].map((x) => expect.closeTo(x, 5)));
    expect([...blue]).toEqual([0, 0, 1].map((x) => expect.closeTo(x, 5)));
    const length = Math.hypot(2, 8 / 3, 2 / 3);
    expect([...both]).toEqual([2 / length, 8 / 3 / length, 2 / 3 / length].map((x) => expect.closeTo(x, 5)));
    await encoder.dispose();
  });

  it('says what is missing', async () => {
    const without = new Map([...(decoder.source.kind === 'folder' ? decoder.source.files : [])]);
    without.delete('tokenizer.json');
    const broken = transformersTextModel(open(), { ...decoder, source: { kind: 'folder', files: without } });
    await expect(broken.complete([request('red')])).rejects.toMatchObject({ code: 'transformers-failed' });
    const absent = transformersTextModel(open(), { ...decoder, weights: 'q4' });
    await expect(absent.complete([request('red')])).rejects.toMatchObject({ code: 'transformers-file-missing' });
    const gpu = transformersTextModel(open(), { ...decoder, device: 'webgpu' });
    await expect(gpu.complete([request('red')])).rejects.toMatchObject({ code: 'no-webgpu' });
  });
});
