import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { serve } from '../../scripts/static-server.mjs';

const parent = mkdtempSync(join(tmpdir(), 'dream-serve-'));
const folder = join(parent, 'site');
let server: Awaited<ReturnType<typeof serve>>;

beforeAll(async () => {
  mkdirSync(join(folder, 'models'), { recursive: true });
  writeFileSync(join(folder, 'index.html'), '<!doctype html>');
  writeFileSync(join(folder, 'app.js'), 'export {};');
  writeFileSync(join(folder, 'empty.css'), '');
  writeFileSync(join(folder, 'models', 'model.safetensors'), '0123456789');
  writeFileSync(join(parent, 'secret.txt'), 'secret');
  symlinkSync(join(parent, 'secret.txt'), join(folder, 'link.txt'));
  server = await serve(folder, { port: 0 });
});

afterAll(async () => {
  await server.close();
  rmSync(parent, { recursive: true });
});

/** fetch tidies a path before it sends it; an attacker does not. */
function raw(path: string): Promise<number> {
  return new Promise((done, fail) => {
    request({ host: '127.0.0.1', port: server.port, path }, (response) => {
      response.resume();
      done(response.statusCode ?? 0);
    })
      .on('error', fail)
      .end();
  });
}

describe('serve', () => {
  test.each([
    ['', 'text/html; charset=utf-8'],
    ['index.html?x=1', 'text/html; charset=utf-8'],
    ['app.js', 'text/javascript; charset=utf-8'],
    ['empty.css', 'text/css; charset=utf-8'],
    ['models/model.safetensors', 'application/octet-stream'],
  ])('/%s has its type', async (path, type) => {
    const response = await fetch(server.url + path);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe(type);
  });

  test.each([
    ['bytes=2-4', '234', 'bytes 2-4/10'],
    ['bytes=7-', '789', 'bytes 7-9/10'],
    ['bytes=-2', '89', 'bytes 8-9/10'],
    ['bytes=8-99', '89', 'bytes 8-9/10'],
  ])('range %s', async (range, body, contentRange) => {
    const response = await fetch(`${server.url}models/model.safetensors`, { headers: { range } });
    expect(response.status).toBe(206);
    expect(response.headers.get('content-range')).toBe(contentRange);
    expect(await response.text()).toBe(body);
  });

  test('a range beyond the file is refused, a strange one ignored', async () => {
    const url = `${server.url}models/model.safetensors`;
    expect((await fetch(url, { headers: { range: 'bytes=10-' } })).status).toBe(416);
    expect((await fetch(url, { headers: { range: 'bytes=0-1,3-4' } })).status).toBe(200);
  });

  test('an unchanged file is not sent twice', async () => {
    const first = await fetch(`${server.url}app.js`);
    const etag = first.headers.get('etag') ?? '';
    expect((await fetch(`${server.url}app.js`, { headers: { 'if-none-match': etag } })).status).toBe(304);
  });

  test.each(['/../secret.txt', '/..%2fsecret.txt', '/link.txt', '/%00', '/%', '/models', '/none.js', '//secret.txt'])(
    '%s is not found',
    async (path) => {
      expect(await raw(path)).toBe(404);
    },
  );

  test('only reading is allowed', async () => {
    expect((await fetch(server.url, { method: 'POST' })).status).toBe(405);
  });

  test('a port that is taken is passed over', async () => {
    const second = await serve(folder, { port: server.port });
    expect(second.port).toBeGreaterThan(server.port);
    await second.close();
  });
});
