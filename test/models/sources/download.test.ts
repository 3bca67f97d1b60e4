/** @file Downloads from a hub that drops, lies, hangs and refuses. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { DirectoryCache } from '../../../src/cli/directory-cache';
import type { RetryOptions } from '../../../src/models/sources/back-off';
import {
  type DownloadOptions,
  downloadModel,
  ModelDownload,
  planDownload,
  remoteFiles,
  removeModel,
} from '../../../src/models/sources/download';
import type { FileCache } from '../../../src/models/sources/file-cache';
import { MemoryFileCache } from '../../../src/models/sources/memory-file-cache';
import { OpfsFileCache, openOpfsCache } from '../../../src/models/sources/opfs-file-cache';
import type { DownloadProgress } from '../../../src/models/sources/progress';
import type { ByteSource } from '../../../src/models/weights';
import { FakeOpfs } from './fake-opfs';
import { commit, noise, RangeServer } from './range-server';

const server = new RangeServer();
const retry: RetryOptions = { attempts: 3, firstMs: 1, longestMs: 5, stallMs: 30_000 };
const weights = noise(300_000);
const config = new TextEncoder().encode('{"model_type":"llama"}');
let host = '';
let cache: FileCache;
let options: DownloadOptions;

beforeAll(async () => {
  host = await server.start();
});
afterAll(() => server.stop());
beforeEach(() => {
  server.reset();
  server.files.set('model.safetensors', { bytes: weights });
  server.files.set('config.json', { bytes: config });
  server.files.set('README.md', { bytes: noise(100) });
  cache = new MemoryFileCache();
  options = { host, cache, retry };
});

const all = (source: ByteSource): Promise<Uint8Array<ArrayBuffer>> => source.read(0, source.size);
const code = (expected: string): unknown => expect.objectContaining({ name: 'DreamError', code: expected });
/** Byte for byte; `toEqual` on large arrays takes seconds. */
const same = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0;
const weightRequests = (): string[] => server.requests.filter((line) => line.startsWith('model.safetensors'));

describe('a download', () => {
  test('fetches what the model needs, small files first, and nothing twice', async () => {
    const { files, plan } = await downloadModel('owner/name', options);
    expect(files.map((file) => file.name)).toEqual(['config.json', 'model.safetensors']);
    expect(same(await all(files[1]), weights)).toBe(true);
    expect(plan).toMatchObject({ commit, format: 'safetensors', totalBytes: 300_000 + config.length });
    const before = server.requests.length;
    expect((await planDownload('owner/name', options)).fetchBytes).toBe(0);
    await downloadModel('owner/name', options);
    expect(server.requests.length).toBe(before);
  });

  test('goes on where the connection was dropped', async () => {
    server.faults.push({}, { dropAfter: 100_000 }, { dropAfter: 50_000 }, { status: 503 });
    const { files } = await downloadModel('owner/name', options);
    expect(same(await all(files[1]), weights)).toBe(true);
    expect(weightRequests()[0]).toBe('model.safetensors bytes=0-');
    const starts = weightRequests().map((line) => Number(/bytes=(\d+)/.exec(line)?.[1]));
    expect(starts).toHaveLength(4);
    expect(starts[1]).toBeGreaterThan(0);
    expect(starts[2]).toBeGreaterThan(starts[1]);
    expect(starts[3]).toBe(starts[2]);
  });

  test('goes on after a stall', async () => {
    server.faults.push({}, { hangAfter: 100_000 }, { silent: true });
    // A busy machine may stall more often than the server does.
    const impatient = { ...options, retry: { ...retry, attempts: 8, stallMs: 500 } };
    const { files } = await downloadModel('owner/name', impatient);
    expect(same(await all(files[1]), weights)).toBe(true);
    expect(weightRequests().length).toBeGreaterThanOrEqual(3);
  });

  test('gives up after so many failures in a row, keeps what came, and goes on the next time', async () => {
    const dropped = { dropAfter: 100_000 };
    server.faults.push({}, dropped, { status: 500 }, { status: 500 });
    await expect(downloadModel('owner/name', options)).rejects.toEqual(code('network'));
    const kept = (await cache.list()).find((file) => file.key.endsWith('model.safetensors'));
    expect(kept).toMatchObject({ complete: false });
    expect(kept?.bytes).toBeGreaterThan(0);
    const { files } = await downloadModel('owner/name', options);
    expect(same(await all(files[1]), weights)).toBe(true);
    expect(weightRequests().at(-1)).toBe(`model.safetensors bytes=${kept?.bytes}-`);
  });

  test('starts a file anew when its ETag changes, or the server knows no ranges', async () => {
    server.faults.push({}, { dropAfter: 100_000, etag: '"old"', instead: noise(300_000, 7) });
    expect(same(await all((await downloadModel('owner/name', options)).files[1]), weights)).toBe(true);
    cache = new MemoryFileCache();
    server.faults.push({}, { dropAfter: 100_000, ignoreRange: true }, { ignoreRange: true });
    expect(same(await all((await downloadModel('owner/name', { ...options, cache })).files[1]), weights)).toBe(true);
  });

  test('waits as long as a busy server asks', async () => {
    server.faults.push({ status: 429, headers: { 'Retry-After': '0.02' } });
    const began = performance.now();
    await downloadModel('owner/name', options);
    expect(performance.now() - began).toBeGreaterThan(19);
  });
});

describe('integrity', () => {
  test('a wrong hash discards the file, large or small', async () => {
    for (const [path, lie] of [
      ['model.safetensors', '1'.repeat(64)],
      ['config.json', '2'.repeat(40)],
    ]) {
      server.lies.clear();
      server.lies.set(path, lie);
      await expect(downloadModel('owner/name', options)).rejects.toEqual(code('hash-mismatch'));
      expect((await cache.list()).some((file) => file.key.endsWith(path))).toBe(false);
      await removeModel(cache, 'owner/name');
    }
  });

  test('a byte that changed on the way, too long and too short files', async () => {
    const changed = weights.slice();
    changed[123_456] ^= 1;
    server.faults.push({}, { instead: changed });
    await expect(downloadModel('owner/name', options)).rejects.toEqual(code('hash-mismatch'));
    const longer = new Uint8Array(weights.length + 1000);
    longer.set(weights);
    server.faults.push({ instead: longer });
    expect(same(await all((await downloadModel('owner/name', options)).files[1]), weights)).toBe(true);
    await removeModel(cache, 'owner/name');
    const short = { instead: weights.slice(0, 1000) };
    server.faults.push({}, short, { ...short, status: 416 });
    await expect(downloadModel('owner/name', options)).rejects.toEqual(code('hub-refused'));
  });

  test('what an earlier download left is hashed again: damage shows', async () => {
    const key = `owner/name/${commit}/model.safetensors`;
    const left = await cache.write(key);
    await left.append(noise(1000, 99));
    await left.close();
    await expect(downloadModel('owner/name', options)).rejects.toEqual(code('hash-mismatch'));
    expect(weightRequests()).toEqual(['model.safetensors bytes=1000-']);
  });

  test('files without a hash do not count', async () => {
    server.lies.set('model.safetensors', '');
    await expect(downloadModel('owner/name', options)).rejects.toEqual(code('no-model-files'));
  });
});

describe('pause, resume, cancel', () => {
  test('an abort stops at once and keeps what came', async () => {
    const controller = new AbortController();
    server.faults.push({}, { hangAfter: 100_000 });
    const onProgress = (progress: DownloadProgress): void => {
      if (progress.file === 'model.safetensors') controller.abort();
    };
    const stopped = downloadModel('owner/name', { ...options, signal: controller.signal, onProgress });
    await expect(stopped).rejects.toEqual(code('download-stopped'));
    expect((await cache.list()).find((file) => file.key.endsWith('model.safetensors'))?.bytes).toBeGreaterThan(0);
    const { files } = await downloadModel('owner/name', options);
    expect(same(await all(files[1]), weights)).toBe(true);
  });

  test('the buttons', async () => {
    const until = async (condition: () => Promise<boolean>): Promise<void> => {
      while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 5));
    };
    const begun = async (): Promise<boolean> => (await cache.list()).some((f) => !f.complete && f.bytes > 50_000);
    const hang = { hangAfter: 100_000 };
    server.faults.push({}, hang);
    const download = new ModelDownload('owner/name', options);
    await until(begun);
    download.pause();
    expect(download.paused).toBe(true);
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(weightRequests()).toHaveLength(1);
    download.resume();
    expect(same(await all((await download.result).files[1]), weights)).toBe(true);
    expect(weightRequests()).toHaveLength(2);

    await removeModel(cache, 'owner/name');
    expect(await cache.list()).toEqual([]);
    server.faults.push({}, hang);
    const cancelled = new ModelDownload('owner/name', options);
    await until(begun);
    cancelled.cancel();
    await expect(cancelled.result).rejects.toEqual(code('download-stopped'));
    expect((await cache.list()).every((file) => file.complete)).toBe(true);
  });
});

describe('the hub', () => {
  test('reads every page of a long list', async () => {
    server.pageSize = 1;
    expect((await planDownload('owner/name', options)).files).toHaveLength(2);
  });

  test.each([
    [404, 'model-not-found'],
    [401, 'model-gated'],
    [403, 'model-gated'],
    [410, 'hub-refused'],
  ])('status %d is %s', async (status, expected) => {
    server.apiFaults.push({ status });
    await expect(planDownload('owner/name', options)).rejects.toEqual(code(expected));
  });

  test('tries a busy API again; an answer that is no answer is an error', async () => {
    server.apiFaults.push({ status: 502 }, { status: 429, headers: { 'Retry-After': '0.001' } });
    expect((await planDownload('owner/name', options)).commit).toBe(commit);
    for (const body of ['<html>sign in</html>', '{}', 'null', '{"sha":"main"}']) {
      server.apiFaults.push({ status: 200, body });
      await expect(planDownload('owner/name', options)).rejects.toEqual(code('hub-refused'));
    }
  });

  test('no network', async () => {
    const fetch = async (): Promise<Response> => {
      throw new TypeError('fetch failed');
    };
    await expect(planDownload('owner/name', { ...options, fetch })).rejects.toEqual(code('network'));
  });

  test('a token goes to the hub with every request', async () => {
    await downloadModel('owner/name', { ...options, token: 'secret' });
    expect(new Set(server.authorizations)).toEqual(new Set(['Bearer secret']));
  });

  test('a model can be looked at before its weights are fetched', async () => {
    server.files.set('model.safetensors', { bytes: noise(2 ** 25 + 5) });
    const plan = await planDownload('owner/name', options);
    const [json, tensors] = await remoteFiles(plan, options);
    expect(same(await all(json), config)).toBe(true);
    expect(tensors.size).toBe(2 ** 25 + 5);
    expect(same(await tensors.read(8, 100), noise(2 ** 25 + 5).subarray(8, 108))).toBe(true);
    expect(weightRequests()).toEqual(['model.safetensors bytes=0-0', 'model.safetensors bytes=0-262143']);
  });
});

test('progress: bytes of all files, rate and remaining time', async () => {
  const events: DownloadProgress[] = [];
  await downloadModel('owner/name', { ...options, onProgress: (progress) => events.push(progress) });
  const last = events.at(-1);
  const total = 300_000 + config.length;
  expect(last).toMatchObject({ file: 'model.safetensors', phase: 'fetching', loaded: total, total, secondsLeft: 0 });
  expect(last?.bytesPerSecond).toBeGreaterThan(0);
  expect(events.map((event) => event.loaded)).toEqual(events.map((event) => event.loaded).sort((a, b) => a - b));
});

describe('in the browser’s private file system', () => {
  test('keeps, resumes and lists', async () => {
    const disk = new FakeOpfs();
    const opfs = (await openOpfsCache(disk)) as OpfsFileCache;
    server.faults.push({}, { dropAfter: 100_000 }, { status: 500 }, { status: 500 });
    await expect(downloadModel('owner/name', { ...options, cache: opfs })).rejects.toEqual(code('network'));
    // A new page.
    const again = (await openOpfsCache(disk)) as OpfsFileCache;
    expect((await again.list()).map((file) => file.complete).sort()).toEqual([false, true]);
    const { files } = await downloadModel('owner/name', { ...options, cache: again });
    expect(same(await all(files[1]), weights)).toBe(true);
    expect(weightRequests().at(-1)).not.toContain('bytes=0-');
    expect(await again.list()).toEqual(
      expect.arrayContaining([{ key: `owner/name/${commit}/model.safetensors`, bytes: 300_000, complete: true }]),
    );
    await removeModel(again, 'owner/name');
    expect(await again.list()).toEqual([]);
  });

  test('says before a download that there is no room', async () => {
    const opfs = (await openOpfsCache(new FakeOpfs(200_000))) as OpfsFileCache;
    await expect(downloadModel('owner/name', { ...options, cache: opfs })).rejects.toEqual(code('storage-full'));
    expect(server.requests).toEqual([]);
  });

  test('a disk that fills up on the way: what came is kept, and goes on when there is room', async () => {
    const disk = new FakeOpfs(200_000);
    const opfs = new OpfsFileCache(await disk.getDirectory(), { getDirectory: () => disk.getDirectory() });
    await expect(downloadModel('owner/name', { ...options, cache: opfs })).rejects.toEqual(code('storage-full'));
    expect((await opfs.list()).find((file) => !file.complete)?.bytes).toBeGreaterThan(0);
    disk.quota = 1e9;
    const { files } = await downloadModel('owner/name', { ...options, cache: opfs });
    expect(same(await all(files[1]), weights)).toBe(true);
  });

  test('one writer at a time', async () => {
    const opfs = (await openOpfsCache(new FakeOpfs())) as OpfsFileCache;
    const writer = await opfs.write('owner/name/x');
    await expect(opfs.write('owner/name/x')).rejects.toEqual(code('file-in-use'));
    await writer.close();
    await (await opfs.write('owner/name/x')).close();
  });

  test.each(['SecurityError', 'InvalidStateError'])('a private window has none (%s)', async (name) => {
    const disk = new FakeOpfs();
    disk.refuses = name;
    expect(await openOpfsCache(disk)).toBeNull();
  });
});

test('in a folder of this machine', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'dream-cache-'));
  try {
    const disk = new DirectoryCache(folder);
    server.faults.push({}, { dropAfter: 100_000 }, { status: 500 }, { status: 500 });
    await expect(downloadModel('owner/name', { ...options, cache: disk })).rejects.toEqual(code('network'));
    expect((await disk.list()).map((file) => file.complete).sort()).toEqual([false, true]);
    const { files } = await downloadModel('owner/name', { ...options, cache: new DirectoryCache(folder) });
    expect(same(await all(files[1]), weights)).toBe(true);
    expect(weightRequests().at(-1)).not.toContain('bytes=0-');
    expect((await disk.list()).every((file) => file.complete)).toBe(true);
    // Names from a hub lead nowhere else.
    const outside = await disk.write('owner/../../up');
    await outside.append(new Uint8Array(3));
    await outside.finish();
    expect((await disk.list()).map((file) => file.key)).toContain('owner/../../up');
    await removeModel(disk, 'owner/name');
    expect((await disk.list()).map((file) => file.key)).toEqual(['owner/../../up']);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
