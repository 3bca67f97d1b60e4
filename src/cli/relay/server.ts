/**
 * @file A relay for environment servers that send no CORS headers: it adds them, for the pages it was started for.
 *
 * A hole in the browser's walls must be small. It listens on loopback only, knows its targets by number, and every path begins
 * with a random token, so that no page can find it by guessing, not even with a preflight. Its own name is checked (DNS
 * rebinding), the page's origin is checked, bodies are capped, redirects are not followed, and of all headers only the content
 * type passes, either way: no cookie, no authorisation, no referrer.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import { DreamError } from '../../data/errors';
import { readBody } from '../read-body';
import { originAllowed, type RelayTarget } from './target';

export interface RelayOptions {
  targets: readonly RelayTarget[];
  /** 0 = any free one. */
  port: number;
  /** Origins allowed besides pages of this machine. */
  origins?: readonly string[];
  /** Default: 32 random bytes. */
  token?: string;
  maxRequestBytes?: number;
  maxAnswerBytes?: number;
  timeoutMs?: number;
}

export interface Relay {
  /** Base address per target, in order: what a person gives to the page. The token is in it. */
  urls: readonly string[];
  port: number;
  close(): Promise<void>;
}

const methods = new Set(['GET', 'POST']);
const maxConnections = 64;

/** Throws DreamError `relay-port`. */
export async function startRelay(options: RelayOptions): Promise<Relay> {
  const token = options.token ?? randomBytes(32).toString('base64url');
  const origins = new Set(options.origins ?? []);
  const server = createServer({ maxHeaderSize: 16 * 1024, requestTimeout: 30_000 }, (request, response) => {
    void relay(request, response, token, origins, options).catch(() => response.destroy());
  });
  server.maxConnections = maxConnections;
  // No tunnels: WebSockets need no relay, since browsers let pages open them anywhere.
  server.on('upgrade', (_, socket) => socket.destroy());
  server.on('connect', (_, socket) => socket.destroy());
  await new Promise<void>((ready, fail) => {
    server.once('error', (cause) =>
      fail(
        new DreamError(
          'relay-port',
          `The relay cannot listen on port ${options.port} (${(cause as NodeJS.ErrnoException).code}).`,
          'Choose another one with --port, or leave it out for any free one.',
          { cause },
        ),
      ),
    );
    server.listen(options.port, '127.0.0.1', ready);
  });
  const { port } = server.address() as AddressInfo;
  return {
    port,
    urls: options.targets.map((_, i) => `http://127.0.0.1:${port}/${token}/${i}`),
    async close() {
      server.closeAllConnections();
      await new Promise<void>((done) => server.close(() => done()));
    },
  };
}

interface Refusal {
  status: number;
  code: string;
  message: string;
}

const refusal = (status: number, code: string, message: string): Refusal => ({ status, code, message });

async function relay(
  request: IncomingMessage,
  response: ServerResponse,
  token: string,
  origins: ReadonlySet<string>,
  options: RelayOptions,
): Promise<void> {
  const { origin } = request.headers;
  response.setHeader('cache-control', 'no-store');
  response.setHeader('x-content-type-options', 'nosniff');
  response.setHeader('vary', 'origin');
  const route = findRoute(request, token, options.targets);
  // Before the token is right, nothing is said: not even that this is a relay.
  if (!route) return end(response, refusal(404, 'not-found', 'There is nothing here.'));
  if (origin !== undefined && !originAllowed(origin, origins))
    return end(response, refusal(403, 'relay-origin', 'This page may not use the relay; start it with --origin.'));
  if (origin !== undefined) response.setHeader('access-control-allow-origin', origin);
  if (request.method === 'OPTIONS') return preflight(request, response);
  if (!methods.has(request.method ?? ''))
    return end(response, refusal(405, 'relay-method', 'Only GET and POST are relayed.'));
  const body = await readBody(request, options.maxRequestBytes ?? 2 ** 20);
  if (body === null) return end(response, refusal(413, 'relay-too-large', 'The request is too large.'));
  const answer = await forward(request, response, route, body, options);
  if ('code' in answer) return end(response, answer);
  response.writeHead(answer.status, { 'content-type': answer.type, 'content-length': answer.body.byteLength });
  response.end(answer.body);
}

interface Route {
  target: RelayTarget;
  /** Path and query for the target. */
  path: string;
}

function findRoute(request: IncomingMessage, token: string, targets: readonly RelayTarget[]): Route | null {
  const { port } = request.socket.address() as AddressInfo;
  if (![`127.0.0.1:${port}`, `localhost:${port}`].includes(request.headers.host ?? '')) return null;
  const [, given, number, path] = /^\/([\w-]+)\/(\d{1,2})(\/[^\s\\]*|)$/.exec(request.url ?? '') ?? [];
  if (given === undefined || !sameSecret(given, token)) return null;
  const target = targets[Number(number)];
  // A path of two slashes would name another host to a careless parser; ours are joined to an origin, and normal.
  return target ? { target, path: path === '' ? '/' : path.replace(/^\/+/, '/') } : null;
}

function sameSecret(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}

function preflight(request: IncomingMessage, response: ServerResponse): void {
  response.setHeader('access-control-allow-methods', 'GET, POST');
  response.setHeader('access-control-allow-headers', 'content-type');
  response.setHeader('access-control-max-age', '600');
  // Chromium asks before a public page may call this machine.
  if (request.headers['access-control-request-private-network'] === 'true')
    response.setHeader('access-control-allow-private-network', 'true');
  response.writeHead(204).end();
}

function forward(
  request: IncomingMessage,
  response: ServerResponse,
  { target, path }: Route,
  body: Buffer,
  options: RelayOptions,
): Promise<{ status: number; type: string; body: Buffer } | Refusal> {
  const { timeoutMs = 120_000, maxAnswerBytes = 8 * 2 ** 20 } = options;
  const url = new URL(target.origin);
  const call = url.protocol === 'https:' ? httpsRequest : httpRequest;
  const { 'content-type': type, accept } = request.headers;
  return new Promise((resolve) => {
    const outgoing = call(
      {
        protocol: url.protocol,
        hostname: url.hostname.replace(/^\[|\]$/g, ''),
        port: url.port,
        method: request.method,
        path,
        headers: {
          host: url.host,
          ...(accept ? { accept } : {}),
          ...(body.byteLength > 0 ? { 'content-length': body.byteLength } : {}),
          ...(body.byteLength > 0 && type ? { 'content-type': type } : {}),
        },
        agent: false,
        signal: AbortSignal.timeout(timeoutMs),
      },
      async (incoming) => {
        const status = incoming.statusCode ?? 502;
        if (status >= 300 && status < 400) {
          incoming.destroy();
          return resolve(
            refusal(502, 'relay-redirect', 'The server sends its callers elsewhere; that is not followed.'),
          );
        }
        try {
          const answer = await readBody(incoming, maxAnswerBytes);
          if (answer === null) {
            incoming.destroy();
            return resolve(refusal(502, 'relay-answer-too-large', 'The answer of the server is too large.'));
          }
          const contentType = incoming.headers['content-type'] ?? 'application/octet-stream';
          resolve({
            status,
            type: /^[\w!#$&^.+/; ="-]{1,200}$/.test(contentType) ? contentType : 'text/plain',
            body: answer,
          });
        } catch {
          resolve(refusal(502, 'relay-cut-off', 'The server broke off its answer.'));
        }
      },
    );
    outgoing.on('error', (error) =>
      resolve(
        error.name === 'TimeoutError' || error.name === 'AbortError'
          ? refusal(504, 'relay-timeout', 'The server gave no answer in time.')
          : refusal(502, 'relay-unreachable', 'Nothing answers at the target.'),
      ),
    );
    // Whoever asked may be gone before the answer is there.
    response.once('close', () => outgoing.destroy());
    outgoing.end(body);
  });
}

/** `error` is where AgentGym's clients look, whatever the status. */
function end(response: ServerResponse, { status, code, message }: Refusal): void {
  if (response.headersSent) return;
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close' });
  response.end(JSON.stringify({ error: `${message} (${code})` }));
}
