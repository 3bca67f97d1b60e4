/** @file A built-in world as an environment server in AgentGym's TextCraft dialect, for trainers that are not ours. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DreamError } from '../../data/errors';
import { parsePlainJson } from '../../data/importers/plain-json';
import { isJsonObject } from '../../data/json-object';
import { readBody } from '../read-body';
import type { Answer, Sessions } from './sessions';

export interface WorldServer {
  port: number;
  close(): Promise<void>;
}

const maxBodyBytes = 64 * 1024;

/** Throws DreamError `serve-port`. */
export async function startWorldServer(sessions: Sessions, host: string, port: number): Promise<WorldServer> {
  const server = createServer({ requestTimeout: 30_000, maxHeaderSize: 16 * 1024 }, (request, response) => {
    void answer(sessions, request, response).catch(() => response.destroy());
  });
  server.on('upgrade', (_, socket) => socket.destroy());
  await new Promise<void>((ready, fail) => {
    server.once('error', (cause) =>
      fail(
        new DreamError(
          'serve-port',
          `The world cannot be served at ${host}:${port} (${(cause as NodeJS.ErrnoException).code}).`,
          'Choose another port with --port, or another address with --host.',
          { cause },
        ),
      ),
    );
    server.listen(port, host, ready);
  });
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      server.closeAllConnections();
      await new Promise<void>((done) => server.close(() => done()));
    },
  };
}

type Handler = (sessions: Sessions, body: Readonly<Record<string, unknown>>) => Answer;

const posts: Readonly<Record<string, Handler>> = {
  '/create': (sessions) => sessions.open(),
  '/reset': (sessions, { id, data_idx: index }) => sessions.reset(id, index),
  '/step': (sessions, { id, action }) => sessions.step(id, action),
  '/close': (sessions, { id }) => sessions.close(id),
};

async function answer(sessions: Sessions, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://world');
  const send = (status: number, value: unknown) => {
    response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
    response.end(JSON.stringify(value));
  };
  if (request.method === 'GET' && url.pathname === '/observation')
    return send(200, sessions.observation(Number(url.searchParams.get('id') ?? Number.NaN)));
  if (request.method === 'GET' && url.pathname === '/') return send(200, 'ok');
  const handler = Object.hasOwn(posts, url.pathname) ? posts[url.pathname] : undefined;
  if (!handler) return send(404, { detail: 'Not Found' });
  if (request.method !== 'POST') return send(405, { detail: 'Method Not Allowed' });
  // Anything else a page could send here without being asked for permission.
  if (!/^application\/json\b/.test(request.headers['content-type'] ?? ''))
    return send(415, { detail: 'The content type must be application/json.' });
  const body = await readBody(request, maxBodyBytes);
  if (body === null) {
    response.setHeader('connection', 'close');
    return send(413, { detail: `A request has at most ${maxBodyBytes} bytes.` });
  }
  let value: unknown;
  try {
    value = parsePlainJson(body.toString('utf8'));
  } catch {
    value = null;
  }
  if (!isJsonObject(value)) return send(422, { detail: [{ loc: ['body'], msg: 'A JSON object is needed.' }] });
  return send(200, handler(sessions, value as Readonly<Record<string, unknown>>));
}
