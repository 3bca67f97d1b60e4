/**
 * @file A server that speaks OpenEnv's wire format over real sockets: sessions, capacity, error codes, stateless HTTP schema.
 *
 * Its world is a door: `open` wins, `knock` does nothing, `crash` breaks the environment.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';

/** What a misbehaving server does instead of answering a step. */
export type Trouble = 'hang' | 'garbage' | 'flood' | 'huge' | 'drop' | 'bytes' | 'deep' | 'twice' | 'wrong-type';

export interface MockOpenEnv {
  url: string;
  /** Every message received, parsed. */
  seen: { type: string; data?: Record<string, unknown> }[];
  sessions(): number;
  trouble: Trouble | null;
  /** Also at reset. */
  troubleAtReset: boolean;
  close(): Promise<void>;
}

export const doorSchema = {
  action: {
    title: 'DoorAction',
    type: 'object',
    additionalProperties: false,
    required: ['message'],
    properties: {
      metadata: { type: 'object', additionalProperties: true },
      message: { type: 'string', title: 'Message', description: 'What to do with the door' },
    },
  },
  observation: { type: 'object' },
  state: { type: 'object' },
};

const topKeys: Record<string, readonly string[]> = {
  reset: ['type', 'data'],
  step: ['type', 'data'],
  state: ['type'],
  close: ['type'],
};

export async function mockOpenEnv({ maxSessions = 1 } = {}): Promise<MockOpenEnv> {
  const http: Server = createServer((request, response) => {
    const bodies: Record<string, unknown> = {
      '/schema': doorSchema,
      '/health': { status: 'healthy' },
      '/metadata': { name: 'door', description: 'A door.' },
    };
    const body = bodies[request.url ?? ''];
    response.writeHead(body ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body ?? { detail: 'Not Found' }));
  });
  const sockets = new WebSocketServer({ server: http, path: '/ws' });
  const live = new Set<WebSocket>();
  const mock: MockOpenEnv = {
    url: '',
    seen: [],
    sessions: () => live.size,
    trouble: null,
    troubleAtReset: false,
    async close() {
      for (const socket of sockets.clients) socket.terminate();
      await new Promise((done) => sockets.close(done));
      http.closeAllConnections();
      await new Promise((done) => http.close(done));
    },
  };

  sockets.on('connection', (socket) => {
    const send = (type: string, data: unknown) => socket.send(JSON.stringify({ type, data }));
    const fail = (code: string, message: string, more = {}) => send('error', { message, code, ...more });
    socket.on('error', () => undefined);
    if (live.size >= maxSessions) {
      fail('CAPACITY_REACHED', 'Server at capacity', { active_sessions: live.size, max_sessions: maxSessions });
      socket.close();
      return;
    }
    live.add(socket);
    socket.on('close', () => live.delete(socket));
    let steps = 0;
    let episode = '';
    const observe = (prompt: string, reward: number | boolean | null, done: boolean) =>
      send('observation', { observation: { prompt, messages: [], info: {} }, reward, done });

    socket.on('message', (bytes) => {
      let message: { type: string; data?: Record<string, unknown> };
      try {
        message = JSON.parse(String(bytes));
      } catch {
        return fail('INVALID_JSON', 'Invalid JSON');
      }
      mock.seen.push(message);
      const keys = topKeys[message.type];
      if (!keys) return fail('UNKNOWN_TYPE', `Unknown message type: ${message.type}`);
      if (Object.keys(message).some((key) => !keys.includes(key)))
        return fail('VALIDATION_ERROR', 'Invalid message', { errors: [{ type: 'extra_forbidden' }] });
      if (mock.trouble && (message.type === 'step' || (message.type === 'reset' && mock.troubleAtReset)))
        return misbehave(socket, mock.trouble, observe);
      if (message.type === 'reset') {
        steps = 0;
        episode = String(message.data?.episode_id ?? 'e');
        return observe(`You face door ${message.data?.seed ?? 0}.`, null, false);
      }
      if (message.type === 'step') {
        const text = message.data?.message;
        if (typeof text !== 'string')
          return fail('VALIDATION_ERROR', 'Invalid action', {
            errors: [{ loc: ['message'], msg: 'Field required', type: 'missing' }],
          });
        steps++;
        if (text === 'crash') return fail('EXECUTION_ERROR', 'ZeroDivisionError');
        return text === 'open' ? observe('It opens.', 1.0, true) : observe('Nothing happens.', 0.0, false);
      }
      if (message.type === 'state') return send('state', { episode_id: episode, step_count: steps });
      socket.close();
    });
  });
  await new Promise<void>((ready) => http.listen(0, '127.0.0.1', ready));
  mock.url = `ws://127.0.0.1:${(http.address() as AddressInfo).port}`;
  return mock;
}

function misbehave(
  socket: WebSocket,
  trouble: Trouble,
  observe: (prompt: string, reward: number, done: boolean) => void,
): void {
  switch (trouble) {
    case 'hang':
      return;
    case 'garbage':
      socket.send('<html>502 Bad Gateway</html>');
      break;
    case 'bytes':
      socket.send(Buffer.from([1, 2, 3]));
      break;
    case 'deep':
      socket.send(`${'['.repeat(5000)}${']'.repeat(5000)}`);
      break;
    case 'wrong-type':
      socket.send(JSON.stringify({ type: 'state', data: {} }));
      break;
    case 'twice':
      observe('Once.', 0, false);
      observe('Twice.', 1, true);
      break;
    case 'flood':
      for (let i = 0; i < 2000; i++) observe('Again.', 1, true);
      break;
    case 'huge':
      socket.send(JSON.stringify({ type: 'observation', data: { observation: 'x'.repeat(3 * 2 ** 20) } }));
      break;
    case 'drop':
      socket.terminate();
      break;
  }
}
