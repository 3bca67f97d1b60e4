/** @file Sources of bytes: a Blob, a path, an address, and reading ahead. All keep the same contract. */
import { mkdir, mkdtemp, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPath, PathSource } from '../../../src/cli/path-source';
import { delayMs, patient, wait } from '../../../src/models/sources/back-off';
import { BlobSource } from '../../../src/models/sources/blob-source';
import { HttpSource } from '../../../src/models/sources/http-source';
import { ReadAhead } from '../../../src/models/sources/read-ahead';
import type { ByteSource } from '../../../src/models/weights';
import { noise, RangeServer } from './range-server';

const bytes = noise(1_000_000);
const server = new RangeServer();
const retry = { ...patient, attempts: 3, firstMs: 1 };
const code = (expected: string): unknown => expect.objectContaining({ name: 'DreamError', code: expected });
let host = '';
let folder = '';

beforeAll(async () => {
  host = await server.start();
  folder = await mkdtemp(join(tmpdir(), 'dream-sources-'));
  await writeFile(join(folder, 'model.bin'), bytes);
  server.files.set('/model.bin', { bytes });
});
afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

const sources: [string, () => Promise<ByteSource>][] = [
  ['blob', async () => new BlobSource(new File([bytes], 'model.bin'))],
  ['path', () => PathSource.open(join(folder, 'model.bin'))],
  ['address', () => HttpSource.open(`${host}/model.bin`, { retry })],
  ['reading ahead', async () => new ReadAhead(new BlobSource(new File([bytes], 'model.bin')))],
];

describe.each(sources)('%s', (_, open) => {
  test('gives the bytes asked for, and nothing outside', async () => {
    const source = await open();
    expect(source).toMatchObject({ name: 'model.bin', size: bytes.length });
    const parts = [
      [0, 10],
      [262_140, 10],
      [999_990, 10],
      [5, 0],
      [0, 1_000_000],
    ];
    for (const [offset, length] of parts) {
      const read = await source.read(offset, length);
      expect(Buffer.compare(read, bytes.subarray(offset, offset + length))).toBe(0);
    }
    const outside = [
      [-1, 1],
      [0, 1_000_001],
      [1_000_000, 1],
      [0, -1],
      [0.5, 1],
      [0, Number.MAX_SAFE_INTEGER],
      [Number.NaN, 1],
    ];
    for (const [offset, length] of outside)
      await expect(source.read(offset, length)).rejects.toEqual(code('file-read'));
  });
});

describe('a path', () => {
  test('that is not there, and a file that shrinks', async () => {
    await expect(PathSource.open(join(folder, 'none'))).rejects.toEqual(code('file-read'));
    await expect(openPath(join(folder, 'none'))).rejects.toEqual(code('file-read'));
    const path = join(folder, 'shrinking');
    await writeFile(path, bytes.subarray(0, 1000));
    const source = await PathSource.open(path);
    await truncate(path, 500);
    await expect(source.read(400, 200)).rejects.toEqual(code('file-read'));
    await rm(path);
    await expect(source.read(0, 1)).rejects.toEqual(code('file-read'));
  });

  test('of a folder: files by their path within it, links followed, hidden files not', async () => {
    const model = join(folder, 'model');
    await mkdir(join(model, 'onnx'), { recursive: true });
    await writeFile(join(model, 'onnx', 'm.onnx'), 'x');
    await writeFile(join(model, '.hidden'), 'x');
    await symlink(join(folder, 'model.bin'), join(model, 'a.gguf'));
    await symlink(join(folder, 'gone'), join(model, 'dangling'));
    const found = await openPath(model);
    expect(found.map((source) => source.name)).toEqual(['a.gguf', 'onnx/m.onnx']);
  });
});

test('a Blob that went away', async () => {
  class Gone extends Blob {
    override slice(): Blob {
      return Object.assign(new Blob(), { arrayBuffer: () => Promise.reject(new Error('NotReadableError')) });
    }
  }
  await expect(new BlobSource(new Gone([bytes]), 'x').read(0, 1)).rejects.toEqual(code('file-read'));
});

describe('an address', () => {
  test('goes on after a drop, in the middle of a read', async () => {
    const source = await HttpSource.open(`${host}/model.bin`, { retry });
    server.requests.length = 0;
    server.faults.push({ dropAfter: 200_000 }, { status: 503 });
    expect(Buffer.compare(await source.read(10, 900_000), bytes.subarray(10, 900_010))).toBe(0);
    expect(server.requests).toHaveLength(3);
    expect(server.requests[2]).not.toContain('bytes=10-');
  });

  test('is an error when the file changes, the server gives no parts, or nobody is there', async () => {
    const source = await HttpSource.open(`${host}/model.bin`, { retry });
    server.faults.push({ etag: '"two"' });
    await expect(source.read(0, 10)).rejects.toEqual(code('file-read'));
    server.faults.push({ ignoreRange: true });
    await expect(HttpSource.open(`${host}/model.bin`, { retry })).rejects.toEqual(code('no-range'));
    await expect(HttpSource.open(`${host}/none`, { retry })).rejects.toEqual(code('model-not-found'));
    await expect(HttpSource.open('http://127.0.0.1:9/x', { retry })).rejects.toEqual(code('network'));
  });

  test('stops when told to', async () => {
    const controller = new AbortController();
    const source = await HttpSource.open(`${host}/model.bin`, { retry, signal: controller.signal });
    server.faults.push({ hangAfter: 10 });
    const reading = source.read(0, 1000);
    controller.abort();
    await expect(reading).rejects.toEqual(code('download-stopped'));
  });
});

test('reading ahead asks once for what lies together, and again after a failure', async () => {
  const asked: number[] = [];
  let fails = true;
  const source = new ReadAhead({
    name: 'x',
    size: bytes.length,
    read: async (offset, length) => {
      asked.push(offset);
      if (fails) throw new Error('not now');
      return bytes.slice(offset, offset + length);
    },
  });
  await expect(source.read(0, 8)).rejects.toThrow('not now');
  fails = false;
  for (let i = 0; i < 100; i++) await source.read(i * 8, 8);
  expect(asked).toEqual([0, 0]);
});

test('waiting: doubled, bounded, as asked, ended by an abort', async () => {
  expect([1, 2, 3, 20].map((failures) => delayMs(failures, patient))).toEqual([500, 1000, 2000, 30_000]);
  expect(delayMs(1, patient, '7')).toBe(7000);
  expect(delayMs(1, patient, '99999')).toBe(120_000);
  expect(delayMs(1, patient, 'Wed, 21 Oct 2026 07:28:00 GMT')).toBe(500);
  const controller = new AbortController();
  const waiting = wait(60_000, controller.signal);
  controller.abort();
  await expect(waiting).rejects.toEqual(code('download-stopped'));
  await expect(wait(1, controller.signal)).rejects.toEqual(code('download-stopped'));
});
