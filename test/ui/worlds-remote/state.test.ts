/** @file The page's visit to a server, with the worker's service in this very thread, over real sockets. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { nodeSocket } from '../../../src/cli/node-socket';
import type { DreamError } from '../../../src/data/errors';
import { formFromSchema } from '../../../src/envs/remote';
import { givenValues, startValues } from '../../../src/ui/worlds-remote/field';
import * as visit from '../../../src/ui/worlds-remote/state';
import { RemoteWorldService } from '../../../src/worker/remote-world/service';
import { mockAgentGym, pageFetch } from '../../envs/remote/mock-agentgym';
import { mockOpenEnv } from '../../envs/remote/mock-openenv';

const ends: (() => Promise<void>)[] = [];
let crash: (error: DreamError) => void;

function inThisThread(fetch?: typeof globalThis.fetch) {
  const service = new RemoteWorldService({
    openSocket: nodeSocket,
    retries: 0,
    timeoutMs: 3000,
    ...(fetch ? { fetch } : {}),
  });
  ends.push(() => service.leave());
  const crashed = new Promise<DreamError>((resolve) => {
    crash = resolve;
  });
  const connection = { crashed, terminate: () => undefined };
  visit.connectBy(
    () => Object.assign(service, connection) as unknown as ReturnType<Parameters<typeof visit.connectBy>[0]>,
  );
}

beforeEach(() => inThisThread());
afterEach(async () => {
  await visit.leave();
  for (const end of ends.splice(0)) await end();
});

async function openEnv(options = {}) {
  const server = await mockOpenEnv(options);
  ends.push(() => server.close());
  visit.chooseKind('openenv');
  visit.address.value = server.url;
  return server;
}

describe('a visit to an OpenEnv server', () => {
  it('connects, begins, acts through its form, asks for its state, and leaves', async () => {
    const server = await openEnv();
    await visit.connect();
    expect(visit.facts.value).toMatchObject({ name: 'door', hasState: true, formProblem: null });
    visit.number.value = 4;
    await visit.begin();
    expect(visit.beginning.value).toBe('You face door 4.');
    await visit.act({ message: 'knock' }, 'knock');
    await visit.askState();
    expect(visit.told.value).toContain('"step_count": 1');
    await visit.act({ wrong: 'x' }, 'x');
    expect(visit.problem.value).toMatchObject({ code: 'remote-action-form' });
    expect(visit.over.value).toBeNull();
    await visit.act({ message: 'open' }, 'open');
    expect([visit.over.value, visit.total.value, visit.problem.value]).toEqual(['done', 1, null]);
    expect(visit.moves.value.map(({ action, observation }) => [action, observation])).toEqual([
      ['knock', 'Nothing happens.'],
      ['open', 'It opens.'],
    ]);
    await visit.leave();
    expect(visit.facts.value).toBeNull();
    await expect.poll(() => server.sessions()).toBe(0);
  });

  it('tells a lost episode, a full server, nobody there, and a dead worker, with advice', async () => {
    const server = await openEnv();
    await visit.connect();
    await visit.begin();
    server.trouble = 'drop';
    await visit.act({ message: 'open' }, 'open');
    expect([visit.over.value, visit.total.value, visit.moves.value.length]).toEqual(['lost', 0, 0]);
    expect(visit.problem.value).toMatchObject({ code: 'remote-disconnected', advice: expect.stringContaining('lost') });
    server.trouble = null;
    await visit.begin();
    expect([visit.over.value, visit.problem.value, visit.beginning.value]).toEqual([null, null, 'You face door 4.']);

    await openEnv({ maxSessions: 0 });
    await visit.connect();
    await visit.begin();
    expect(visit.problem.value).toMatchObject({ code: 'remote-capacity' });
    expect(visit.beginning.value).toBeNull();

    visit.address.value = 'ws://127.0.0.1:9';
    await visit.connect();
    // The form is a wish; whether one can play is for the socket to say.
    expect(visit.facts.value?.formProblem).toMatchObject({ code: 'remote-unreachable' });
    await visit.begin();
    expect(visit.problem.value).toMatchObject({ code: 'remote-unreachable' });

    visit.address.value = 'nonsense://x';
    await visit.connect();
    expect([visit.facts.value, visit.problem.value?.code]).toEqual([null, 'remote-address-invalid']);

    crash({ code: 'worker-crashed', message: 'gone', advice: 'Connect again.' } as DreamError);
    await expect.poll(() => visit.problem.value?.code).toBe('worker-crashed');
  });

  it('can be left while the server hangs', async () => {
    const server = await openEnv();
    await visit.connect();
    await visit.begin();
    server.trouble = 'hang';
    const acting = visit.act({ message: 'open' }, 'open');
    await new Promise((later) => setTimeout(later, 100));
    await visit.leave();
    await acting;
    expect([visit.facts.value, visit.over.value, visit.waiting.value]).toEqual([null, null, null]);
  });
});

describe('a visit to an AgentGym server', () => {
  it('without CORS names the relay for this server and this page', async () => {
    const server = await mockAgentGym('alfworld');
    ends.push(() => server.close());
    inThisThread(pageFetch('https://page.example'));
    visit.chooseKind('alfworld');
    visit.address.value = server.url;
    await visit.connect();
    await visit.begin();
    expect(visit.problem.value?.code).toBe('remote-no-cors');
    expect(visit.relayCommand(server.url, new URL('https://page.example/a/b'))).toBe(
      `npm run --silent dream -- relay --target ${server.url} --origin https://page.example`,
    );
    expect(visit.relayCommand(server.url, new URL('http://localhost:5173/'))).not.toContain('--origin');
  });

  it('offers what the server accepts', async () => {
    const server = await mockAgentGym('alfworld');
    ends.push(() => server.close());
    visit.chooseKind('alfworld');
    visit.address.value = server.url;
    visit.number.value = 2;
    await visit.connect();
    expect(visit.facts.value).toMatchObject({ name: 'alfworld', hasState: false, form: null });
    await visit.begin();
    expect([visit.beginning.value, visit.possible.value]).toEqual(['You face door 2.', ['open', 'look']]);
    await visit.act('open', 'open');
    expect([visit.over.value, visit.total.value]).toEqual(['done', 1]);
    await visit.askState();
    expect(visit.problem.value?.code).toBe('remote-no-state');
  });

  it('keeps an address that was typed, and proposes the usual one otherwise', () => {
    visit.address.value = 'http://127.0.0.1:36002';
    visit.chooseKind('webshop');
    expect(visit.address.value).toBe('http://127.0.0.1:36003');
    visit.address.value = 'http://10.0.0.7:1';
    visit.chooseKind('openenv');
    expect(visit.address.value).toBe('http://10.0.0.7:1');
  });
});

describe('a form’s values', () => {
  const { fields } = formFromSchema({
    required: ['say'],
    properties: {
      say: { type: 'string' },
      loud: { type: 'boolean' },
      times: { type: 'integer', default: 2 },
      more: { default: { a: 1 } },
      toString: {},
    },
  });

  it('begin with the defaults, and leave out what is empty and optional', () => {
    expect(startValues(fields)).toEqual({ times: '2', more: '{"a":1}' });
    expect(givenValues(fields, { say: '', loud: '', times: '3', stray: 'x' })).toEqual({ say: '', times: '3' });
  });
});
