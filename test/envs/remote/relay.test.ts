import { request } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { main } from '../../../src/cli/main';
import { type Relay, type RelayOptions, startRelay } from '../../../src/cli/relay/server';
import { relayTargets } from '../../../src/cli/relay/target';
import {
  AgentGymEnvironment,
  AgentGymServer,
  agentGymTask,
  type DialectName,
  describeOpenEnv,
  dialectNames,
} from '../../../src/envs/remote';
import { type MockAgentGym, mockAgentGym, pageFetch } from './mock-agentgym';
import { mockOpenEnv } from './mock-openenv';

const page = 'http://localhost:5173';
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function start(
  dialect: DialectName = 'textcraft',
  options: Partial<RelayOptions> = {},
): Promise<{ mock: MockAgentGym; relay: Relay; url: string }> {
  const mock = await mockAgentGym(dialect);
  const relay = await startRelay({ targets: relayTargets(mock.url, []), port: 0, ...options });
  closing.push(
    () => relay.close(),
    () => mock.close(),
  );
  return { mock, relay, url: relay.urls[0] };
}

/** Past `fetch`, which would not let a test lie about Host, Origin or paths. */
function raw(port: number, path: string, method: string, headers: Record<string, string>, body = '') {
  return new Promise<{ status: number; headers: Record<string, unknown>; text: string }>((resolve, reject) => {
    const call = request({ host: '127.0.0.1', port, path, method, headers }, (answer) => {
      let text = '';
      answer.on('data', (part) => {
        text += part;
      });
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text }));
    });
    call.on('error', reject);
    call.end(body);
  });
}

describe('the relay', () => {
  it.each(dialectNames)('lets a page play %s, which it could not without', async (dialect) => {
    const { mock, url } = await start(dialect);
    const through = (address: string) =>
      new AgentGymEnvironment(
        new AgentGymServer({ dialect, url: address, fetch: pageFetch(page), retries: 0, timeoutMs: 3000 }),
      );
    await expect(through(mock.url).reset(agentGymTask(dialect, 5))).rejects.toMatchObject({ code: 'remote-no-cors' });
    const environment = through(url);
    expect(await environment.reset(agentGymTask(dialect, 5))).toBe('You face door 5.');
    const last = await environment.step('open');
    expect(last).toMatchObject({ done: true });
    expect(last.reward).toBeGreaterThan(0);
    await environment.close();
    // What leaks from a page is its origin, its cookies, its address: none of it may arrive.
    for (const { headers } of mock.asked.slice(-3))
      expect(
        Object.keys(headers).filter(
          (name) => !['host', 'connection', 'accept', 'content-type', 'content-length'].includes(name),
        ),
      ).toEqual([]);
  });

  it('shows the error inside a 200, and its own, where AgentGym clients look', async () => {
    const { mock, url } = await start('textcraft');
    const environment = new AgentGymEnvironment(
      new AgentGymServer({ dialect: 'textcraft', url, fetch: pageFetch(page), retries: 0 }),
    );
    await environment.reset(agentGymTask('textcraft', 1));
    mock.forget();
    expect(await environment.step('open')).toMatchObject({ lost: true });
    await mock.close();
    await expect(environment.reset(agentGymTask('textcraft', 1))).rejects.toMatchObject({
      code: 'remote-server-error',
      message: expect.stringContaining('relay-unreachable'),
    });
  });

  it('brings an OpenEnv server’s form to the page', async () => {
    const server = await mockOpenEnv();
    const relay = await startRelay({ targets: relayTargets(server.url.replace('ws', 'http'), []), port: 0 });
    closing.push(
      () => relay.close(),
      () => server.close(),
    );
    const { form } = await describeOpenEnv(relay.urls[0], { fetch: pageFetch(page) });
    expect(form.fields[0]).toMatchObject({ name: 'message', required: true });
  });

  it('says nothing to whoever lacks the token, calls it by another name, or comes from elsewhere', async () => {
    const { mock, relay, url } = await start();
    const path = new URL(url).pathname;
    const host = `127.0.0.1:${relay.port}`;
    const before = mock.asked.length;
    const wrong = `/${'A'.repeat(43)}/0/create`;
    expect((await raw(relay.port, wrong, 'POST', { host }, '{}')).status).toBe(404);
    const probe = await raw(relay.port, wrong, 'OPTIONS', { host, origin: page });
    expect(probe.status).toBe(404);
    expect(probe.headers).not.toHaveProperty('access-control-allow-origin');
    expect((await raw(relay.port, `${path}/create`, 'POST', { host: 'evil.example' }, '{}')).status).toBe(404);
    expect((await raw(relay.port, `${path.slice(0, -1)}7/create`, 'POST', { host }, '{}')).status).toBe(404);
    expect((await raw(relay.port, `http://evil.example${path}/create`, 'GET', { host })).status).toBe(404);
    const foreign = await raw(relay.port, `${path}/create`, 'POST', { host, origin: 'https://evil.example' }, '{}');
    expect(foreign.status).toBe(403);
    expect(foreign.headers).not.toHaveProperty('access-control-allow-origin');
    expect((await raw(relay.port, `${path}/create`, 'POST', { host, origin: 'null' }, '{}')).status).toBe(403);
    expect((await raw(relay.port, `${path}/create`, 'DELETE', { host })).status).toBe(405);
    expect(mock.asked.length).toBe(before);
    // A second slash names no other host: it stays a path of the target.
    await raw(relay.port, `${path}//evil.example/x`, 'GET', { host });
    expect(mock.asked.at(-1)).toMatchObject({ path: '/evil.example/x', headers: { host: new URL(mock.url).host } });
  });

  it('keeps cookies, authorisation and forwarding headers out, both ways', async () => {
    const { mock, relay, url } = await start();
    mock.trouble = (_, response) => {
      response.writeHead(200, {
        'content-type': 'application/json',
        'set-cookie': 'a=b',
        server: 'x',
        'x-secret': 'y',
      });
      response.end('{}');
      return true;
    };
    const answer = await raw(relay.port, `${new URL(url).pathname}/observation?id=0`, 'GET', {
      host: `localhost:${relay.port}`,
      origin: page,
      cookie: 'session=1',
      authorization: 'Bearer secret',
      referer: `${page}/private`,
      'x-forwarded-for': '1.2.3.4',
    });
    expect(answer.status).toBe(200);
    expect(answer.headers).toMatchObject({ 'access-control-allow-origin': page, vary: 'origin' });
    expect(answer.headers).not.toHaveProperty('set-cookie');
    expect(answer.headers).not.toHaveProperty('x-secret');
    const { headers } = mock.asked.at(-1)!;
    for (const name of ['cookie', 'authorization', 'referer', 'origin', 'x-forwarded-for'])
      expect(headers).not.toHaveProperty(name);
  });

  it('caps bodies both ways, follows no redirect, and gives up on a server that hangs', async () => {
    const { mock, relay, url } = await start('textcraft', {
      maxRequestBytes: 1000,
      maxAnswerBytes: 1000,
      timeoutMs: 200,
    });
    const path = `${new URL(url).pathname}/step`;
    const headers = { host: `127.0.0.1:${relay.port}`, 'content-type': 'application/json' };
    expect((await raw(relay.port, path, 'POST', headers, 'x'.repeat(2000))).status).toBe(413);
    mock.trouble = (_, response) => Boolean(response.end('x'.repeat(5000)));
    expect((await raw(relay.port, path, 'POST', headers, '{}')).text).toContain('relay-answer-too-large');
    mock.trouble = (_, response) => Boolean(response.writeHead(307, { location: 'http://127.0.0.1:9/' }).end());
    expect((await raw(relay.port, path, 'POST', headers, '{}')).text).toContain('relay-redirect');
    mock.trouble = () => true;
    expect((await raw(relay.port, path, 'POST', headers, '{}')).status).toBe(504);
  });

  it('takes targets on this machine, and others only by name', () => {
    const codes = (target: string, hosts: string[] = []) => {
      try {
        return relayTargets(target, hosts).map(({ origin, local }) => [origin, local]);
      } catch (error) {
        return (error as { code: string }).code;
      }
    };
    expect(codes('http://127.0.0.1:36001,http://localhost:8000')).toEqual([
      ['http://127.0.0.1:36001', true],
      ['http://localhost:8000', true],
    ]);
    expect(codes('http://gpu.example:36001')).toBe('bad-value');
    expect(codes('http://gpu.example:36001', ['gpu.example'])).toEqual([['http://gpu.example:36001', false]]);
    for (const bad of [
      '',
      'file:///etc/passwd',
      'http://127.0.0.1.evil.example',
      'http://a:b@127.0.0.1',
      'http://127.0.0.1/x',
    ])
      expect(codes(bad)).toBe('bad-value');
  });

  it('is a command that says when it is ready and ends with Ctrl-C', async () => {
    const mock = await mockAgentGym('webshop');
    closing.push(() => mock.close());
    const out: string[] = [];
    let interrupt = () => {};
    const ended = main(['relay', '--target', mock.url, '--json'], {
      stdout: { write: (text) => out.push(text) },
      stderr: { write: () => true },
      root: '.',
      folder: '.',
      onInterrupt: (handler) => {
        interrupt = handler;
      },
    });
    await expect.poll(() => out.length).toBe(1);
    const { ready, relays } = JSON.parse(out[0]);
    expect(ready).toBe(true);
    const environment = new AgentGymEnvironment(
      new AgentGymServer({ dialect: 'webshop', url: relays[0].url, fetch: pageFetch(page) }),
    );
    expect(await environment.reset(agentGymTask('webshop', 2))).toBe('You face door 2.');
    interrupt();
    expect(await ended).toBe(0);
  });
});
