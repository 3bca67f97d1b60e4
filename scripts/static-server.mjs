/** @file A static file server for the built page: this machine only, right types, byte ranges, nothing outside its folder. */
import { createReadStream, realpathSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, sep } from 'node:path';
import { pipeline } from 'node:stream';

/** @type {Record<string, string>} */
const types = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.jsonl': 'application/jsonl; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.webp': 'image/webp',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.wasm': 'application/wasm',
  '.wgsl': 'text/plain; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.md': 'text/plain; charset=utf-8',
};

/**
 * Serves `folder` and resolves to its address.
 * @param {string} folder
 * @param {{port?: number, tries?: number}} [options] tries: how many ports from `port` on may be taken by others; port 0 takes any
 * @returns {Promise<{url: string, port: number, close: () => Promise<void>}>}
 */
export async function serve(folder, { port = 5173, tries = 20 } = {}) {
  const base = realpathSync(folder);
  const server = createServer((request, response) => answer(base, request, response));
  const actual = await listen(server, port, tries);
  return {
    url: `http://127.0.0.1:${actual}/`,
    port: actual,
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

/** @param {import('node:http').Server} server @param {number} port @param {number} tries @returns {Promise<number>} */
function listen(server, port, tries) {
  return new Promise((done, fail) => {
    let left = tries;
    server.on('error', (/** @type {NodeJS.ErrnoException} */ error) => {
      if (error.code === 'EADDRINUSE' && left-- > 0) server.listen(++port, '127.0.0.1');
      else fail(error);
    });
    server.on('listening', () => done(/** @type {import('node:net').AddressInfo} */ (server.address()).port));
    server.listen(port, '127.0.0.1');
  });
}

/** @param {string} base @param {import('node:http').IncomingMessage} request @param {import('node:http').ServerResponse} response */
function answer(base, request, response) {
  if (request.method !== 'GET' && request.method !== 'HEAD') return refuse(response, 405, { allow: 'GET, HEAD' });
  const path = findFile(base, request.url ?? '/');
  if (!path) return refuse(response, 404);
  const { size, mtimeMs } = statSync(path);
  const etag = `"${size.toString(36)}-${Math.trunc(mtimeMs).toString(36)}"`;
  const headers = {
    'content-type': types[extname(path).toLowerCase()] ?? 'application/octet-stream',
    'accept-ranges': 'bytes',
    // Ask again each time: a rebuilt page must not meet an old one's parts.
    'cache-control': 'no-cache',
    'x-content-type-options': 'nosniff',
    etag,
  };
  if (request.headers['if-none-match'] === etag) {
    response.writeHead(304, headers).end();
    return;
  }
  const range = byteRange(request.headers.range, size);
  if (range === 'invalid') return refuse(response, 416, { 'content-range': `bytes */${size}` });
  const { first, last } = range ?? { first: 0, last: size - 1 };
  response.writeHead(range ? 206 : 200, {
    ...headers,
    'content-length': last - first + 1,
    ...(range ? { 'content-range': `bytes ${first}-${last}/${size}` } : {}),
  });
  if (request.method === 'HEAD' || size === 0) response.end();
  // A visitor who leaves in the middle is no error; a file that cannot be read ends the connection.
  else pipeline(createReadStream(path, { start: first, end: last }), response, () => {});
}

/** The file of an address, or null: unreadable, missing, or outside the folder (links included). @param {string} base @param {string} url */
function findFile(base, url) {
  try {
    const name = decodeURIComponent(url.split(/[?#]/, 1)[0]);
    let path = realpathSync(join(base, name));
    if (statSync(path).isDirectory()) path = realpathSync(join(path, 'index.html'));
    return path.startsWith(base + sep) && statSync(path).isFile() ? path : null;
  } catch {
    return null;
  }
}

/** One range, as browsers ask for it; several at once are answered with the whole file (RFC 9110 allows it). @param {string | undefined} header @param {number} size */
function byteRange(header, size) {
  const [, from, to] = /^bytes=(\d*)-(\d*)$/.exec(header ?? '') ?? [];
  if (from === undefined || (from === '' && to === '')) return null;
  const first = from === '' ? Math.max(0, size - Number(to)) : Number(from);
  const last = from === '' || to === '' ? size - 1 : Math.min(Number(to), size - 1);
  return first > last || first >= size ? 'invalid' : { first, last };
}

/** @param {import('node:http').ServerResponse} response @param {number} status @param {Record<string, string>} [headers] */
function refuse(response, status, headers = {}) {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', ...headers }).end(`${status}\n`);
}
