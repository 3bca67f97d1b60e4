/**
 * @file AgentGym's four servers over a real socket: their field names, errors inside 200, 422, missing /close, 405 preflight.
 *
 * Every world is the same door behind four dialects: `open` wins, anything else does nothing.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { DialectName } from '../../../src/envs/remote';

export interface Asked {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  body: Record<string, unknown> | undefined;
}

export interface MockAgentGym {
  url: string;
  asked: Asked[];
  /** Sessions that nobody closed. */
  sessions: Set<number>;
  /** Takes over the response when it returns true. */
  trouble: ((asked: Asked, response: ServerResponse) => boolean) | null;
  /** Most requests that were under way at once. */
  mostAtOnce: number;
  /** Forgets all sessions, as a server that was started anew. */
  forget(): void;
  close(): Promise<void>;
}

const idKeys: Record<DialectName, string> = {
  textcraft: 'id',
  alfworld: 'id',
  webshop: 'env_idx',
  webarena: 'env_idx',
};

export async function mockAgentGym(dialect: DialectName, { delayMs = 0 } = {}): Promise<MockAgentGym> {
  const idKey = idKeys[dialect];
  const done = new Map<number, boolean>();
  const views = new Map<number, string>();
  let next = 0;
  let atOnce = 0;
  const mock: MockAgentGym = {
    url: '',
    asked: [],
    sessions: new Set(),
    trouble: null,
    mostAtOnce: 0,
    forget() {
      mock.sessions.clear();
    },
    async close() {
      http.closeAllConnections();
      await new Promise((closed) => http.close(closed));
    },
  };

  function answer({ method, path, body }: Asked): { status: number; json: unknown } {
    const ok = (json: unknown) => ({ status: 200, json });
    const url = new URL(path, 'http://mock');
    const number = body ? body[idKey] : Number(url.searchParams.get(idKey));
    const id = typeof number === 'number' ? number : -1;
    // Starlette refuses a method it does not know for the path; so it refuses every preflight.
    const routes: Record<string, string> = {
      '/create': 'POST',
      '/reset': 'POST',
      '/step': 'POST',
      '/observation': 'GET',
      ...(dialect === 'textcraft' || dialect === 'webarena' ? { '/close': 'POST' } : {}),
      '/': 'GET',
    };
    if (!routes[url.pathname]) return { status: 404, json: { detail: 'Not Found' } };
    if (routes[url.pathname] !== method) return { status: 405, json: { detail: 'Method Not Allowed' } };
    if (url.pathname === '/') return ok('ok');
    if (url.pathname === '/create') {
      if (dialect === 'textcraft' && !body)
        return { status: 422, json: { detail: [{ loc: ['body'], msg: 'Field required' }] } };
      const created = next++;
      mock.sessions.add(created);
      if (dialect === 'webshop') return ok(created);
      if (dialect === 'webarena') return ok({ env_idx: created });
      return ok(
        dialect === 'textcraft' ? { id: created, observation: 'new', done: false, reward: 0 } : { id: created },
      );
    }
    if (!mock.sessions.has(id)) return ok({ error: `The id ${id} is not valid.` });
    if (url.pathname === '/observation') return ok(views.get(id) ?? '');
    if (url.pathname === '/close') {
      mock.sessions.delete(id);
      return ok({ closed: true });
    }
    if (url.pathname === '/reset') {
      const index =
        body?.[{ textcraft: 'data_idx', alfworld: 'game', webshop: 'session_id', webarena: 'idx' }[dialect]];
      if (typeof index !== 'number') return { status: 422, json: { detail: [{ msg: 'Field required' }] } };
      done.set(id, false);
      const view = `You face door ${index}.`;
      views.set(id, view);
      if (dialect === 'webshop') return ok([view, null]);
      // WebArena's reset answers with parts; its prompt is at /observation.
      if (dialect === 'webarena') return ok({ observation: { text: 'raw' }, sites: ['shopping'], object: '' });
      if (dialect === 'alfworld')
        return ok({ id, observation: view, available_actions: ['open', 'look'], task_type: 'door' });
      return ok({ id, observation: view, done: false, reward: 0 });
    }
    if (done.get(id)) return ok({ error: 'The episode is over.' });
    const said = String(body?.action);
    // WebArena's server wants the whole of a model's answer, with the action between fences.
    const opened = (dialect === 'webarena' ? /```(.*?)```/s.exec(said)?.[1] : said) === 'open';
    done.set(id, opened);
    const view = opened ? 'It opens.' : 'Nothing happens.';
    views.set(id, view);
    if (dialect === 'webshop') return ok({ state: view, reward: opened ? 0.5 : 0.0, done: opened, info: null });
    if (dialect === 'webarena')
      return ok({ observation: view, reward: opened ? 1.0 : 0, terminated: opened, truncated: false, info: {} });
    return ok({
      observation: view,
      reward: opened ? 1 : 0,
      done: opened,
      ...(dialect === 'alfworld' ? { available_actions: ['look'] } : {}),
    });
  }

  const http: Server = createServer((request, response) => {
    let text = '';
    request.on('data', (part) => {
      text += part;
    });
    request.on('end', () => {
      const asked: Asked = {
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers,
        body: text === '' ? undefined : JSON.parse(text),
      };
      mock.asked.push(asked);
      if (mock.trouble?.(asked, response)) return;
      atOnce++;
      mock.mostAtOnce = Math.max(mock.mostAtOnce, atOnce);
      setTimeout(() => {
        atOnce--;
        const { status, json } = answer(asked);
        response.writeHead(status, { 'content-type': 'application/json' });
        response.end(JSON.stringify(json));
      }, delayMs);
    });
  });
  await new Promise<void>((ready) => http.listen(0, '127.0.0.1', ready));
  mock.url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  return mock;
}

/** `fetch` as a page of `origin` has it: preflights for real, and hides what the server does not allow it to read. */
export function pageFetch(origin: string): typeof globalThis.fetch {
  return async (input, init = {}) => {
    const url = String(input);
    const { redirect: _, ...plain } = init;
    if (init.mode === 'no-cors') {
      await fetch(url, { ...plain, mode: undefined });
      return { type: 'opaque', status: 0, body: null } as Response;
    }
    const allowed = (headers: Headers) => ['*', origin].includes(headers.get('access-control-allow-origin') ?? '');
    const simple = init.method !== 'POST' || !new Headers(init.headers).has('content-type');
    if (!simple) {
      const preflight = await fetch(url, {
        method: 'OPTIONS',
        headers: {
          origin,
          'access-control-request-method': String(init.method),
          'access-control-request-headers': 'content-type',
        },
      });
      const headers = preflight.headers.get('access-control-allow-headers') ?? '';
      if (!preflight.ok || !allowed(preflight.headers) || !/content-type/i.test(headers))
        throw new TypeError('Failed to fetch');
    }
    const headers = new Headers(init.headers);
    headers.set('origin', origin);
    const response = await fetch(url, { ...init, headers });
    if (!allowed(response.headers)) throw new TypeError('Failed to fetch');
    return response;
  };
}
