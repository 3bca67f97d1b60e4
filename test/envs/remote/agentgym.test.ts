import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import {
  AgentGymEnvironment,
  type AgentGymOptions,
  AgentGymServer,
  agentGymTask,
  type DialectName,
  dialectNames,
  remoteBatch,
} from '../../../src/envs/remote';
import { type Asked, type MockAgentGym, mockAgentGym, pageFetch } from './mock-agentgym';

let mock: MockAgentGym | undefined;
afterEach(async () => {
  await mock?.close();
  mock = undefined;
});

async function start(dialect: DialectName, options: Partial<AgentGymOptions> = {}, delayMs = 0) {
  mock = await mockAgentGym(dialect, { delayMs });
  const server = new AgentGymServer({
    dialect,
    url: mock.url,
    timeoutMs: 2000,
    wait: async () => undefined,
    ...options,
  });
  return { mock, server, environment: new AgentGymEnvironment(server) };
}

const counted = (asked: readonly Asked[], path: string) => asked.filter((one) => one.path.startsWith(path)).length;

describe.each(dialectNames)('AgentGym, %s', (dialect) => {
  it('plays whole episodes in one session', async () => {
    const { mock, environment } = await start(dialect);
    const won = dialect === 'webshop' ? 0.5 : 1;
    expect(await environment.reset(agentGymTask(dialect, 3))).toBe('You face door 3.');
    if (dialect === 'alfworld') expect(environment.actions).toEqual(['open', 'look']);
    expect(await environment.step('look')).toMatchObject({ observation: 'Nothing happens.', valid: false, reward: 0 });
    expect(await environment.step('open')).toMatchObject({ observation: 'It opens.', reward: won, done: true });
    await expect(environment.step('open')).rejects.toMatchObject({ code: 'remote-no-episode' });
    expect(await environment.reset(agentGymTask(dialect, 4))).toBe('You face door 4.');
    // Session 0 is a session; nothing was created twice.
    expect(counted(mock.asked, '/create')).toBe(1);
    const canClose = dialect === 'textcraft' || dialect === 'webarena';
    expect(await environment.close()).toBe(canClose);
    expect(mock.sessions.size).toBe(canClose ? 0 : 1);
  });

  it('an error inside 200 loses the episode at a step, and is typed at a reset', async () => {
    const { mock, environment } = await start(dialect);
    await environment.reset(agentGymTask(dialect, 0));
    mock.trouble = ({ path }, response) => {
      if (path !== '/step' && path !== '/reset') return false;
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end('{"error":"The id 0 is not valid."}');
      return true;
    };
    expect(await environment.step('open')).toMatchObject({ lost: true, reward: 0, done: true });
    expect(environment.lostBecause).toMatchObject({ code: 'remote-server-error' });
    expect(environment.lostBecause?.message).toContain('The id 0 is not valid.');
    await expect(environment.reset(agentGymTask(dialect, 0))).rejects.toMatchObject({ code: 'remote-server-error' });
  });
});

describe('AgentGym servers in trouble', () => {
  const task = agentGymTask('textcraft', 1);

  it('a server started anew gets a new session at the next reset', async () => {
    const { mock, environment } = await start('textcraft');
    await environment.reset(task);
    mock.forget();
    expect(await environment.step('open')).toMatchObject({ lost: true });
    expect(await environment.reset(task)).toBe('You face door 1.');
    expect(await environment.step('open')).toMatchObject({ reward: 1 });
  });

  it('repeats a reset that was cut off, and never a step', async () => {
    const { mock, environment } = await start('textcraft', { retries: 3 });
    let cut = 2;
    mock.trouble = ({ path }, response) => {
      if (path !== '/reset' || cut-- <= 0) return false;
      response.destroy();
      return true;
    };
    expect(await environment.reset(task)).toBe('You face door 1.');
    expect(counted(mock.asked, '/reset')).toBe(3);
    mock.trouble = ({ path }, response) => path === '/step' && Boolean(response.destroy());
    expect(await environment.step('open')).toMatchObject({ lost: true, reward: 0 });
    expect(counted(mock.asked, '/step')).toBe(1);
  });

  it.each<[string, string, (response: ServerResponse) => unknown]>([
    ['hangs', 'remote-timeout', () => true],
    ['talks HTML', 'remote-garbage', (response) => response.end('<html>')],
    [
      'answers in another dialect',
      'remote-garbage',
      (response) => response.end('{"state":"x","reward":1,"done":true}'),
    ],
    ['nests deeply', 'remote-garbage', (response) => response.end('['.repeat(9000) + ']'.repeat(9000))],
    ['reaches for prototypes', 'remote-garbage', (response) => response.end('{"__proto__":{"reward":1}}')],
    [
      'redirects',
      'remote-redirected',
      (response) => response.writeHead(302, { location: 'http://127.0.0.1:9/' }).end(),
    ],
    ['fails', 'remote-server-error', (response) => response.writeHead(500).end('oops')],
    ['refuses the form', 'remote-validation', (response) => response.writeHead(422).end('{"detail":[{"msg":"no"}]}')],
    [
      'floods',
      'remote-too-large',
      (response) => {
        const pour = () => {
          while (!response.destroyed && response.write('x'.repeat(65_536)));
        };
        response.on('drain', pour);
        pour();
      },
    ],
  ])('a server that %s loses the episode: %s', async (_, code, misbehave) => {
    const { mock, environment } = await start('textcraft', { timeoutMs: 400, maxAnswerBytes: 2 ** 20 });
    await environment.reset(task);
    mock.trouble = ({ path }, response) => {
      if (path !== '/step') return false;
      misbehave(response);
      return true;
    };
    expect(await environment.step('open')).toMatchObject({ lost: true, reward: 0 });
    expect(environment.lostBecause?.code).toBe(code);
  });

  it('keeps to its limit of requests at once', async () => {
    const { mock, server } = await start('textcraft', { concurrency: 2 }, 10);
    const batch = remoteBatch(() => new AgentGymEnvironment(server), 6);
    await batch.reset(Array(6).fill(task), 0);
    const results = await batch.step(Array(6).fill('open'));
    expect(results.map((result) => result?.reward)).toEqual(Array(6).fill(1));
    expect(mock.mostAtOnce).toBe(2);
    await batch.close();
    expect(mock.sessions.size).toBe(0);
  });

  it('one session that cannot begin loses its episode; all of them are a failure of the run', async () => {
    const { mock, server } = await start('textcraft', { retries: 0 });
    const batch = remoteBatch(() => new AgentGymEnvironment(server), 2);
    mock.trouble = ({ path, body }, response) => path === '/reset' && body?.id === 1 && Boolean(response.destroy());
    await batch.reset([task, task], 0);
    expect(await batch.step(['open', 'open'])).toMatchObject([{ reward: 1 }, { lost: true, reward: 0 }]);
    mock.trouble = (_, response) => Boolean(response.destroy());
    await expect(batch.reset([task, task], 1)).rejects.toMatchObject({ code: 'remote-unreachable' });
  });

  it('tells a page that the server is there but does not let it read, and what to do', async () => {
    const { mock, environment } = await start('alfworld', { fetch: pageFetch('http://localhost:5173'), retries: 0 });
    const refused = await environment.reset(agentGymTask('alfworld', 0)).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'remote-no-cors', advice: expect.stringContaining('relay --target') });
    expect(mock.asked.some(({ method }) => method === 'OPTIONS') || mock.asked.length > 0).toBe(true);
    const nobody = new AgentGymEnvironment(
      new AgentGymServer({
        dialect: 'alfworld',
        url: 'http://127.0.0.1:9',
        fetch: pageFetch('http://localhost:5173'),
        retries: 0,
      }),
    );
    await expect(nobody.reset(agentGymTask('alfworld', 0))).rejects.toMatchObject({ code: 'remote-unreachable' });
  });

  it('refuses a task that names no number', async () => {
    const { environment } = await start('textcraft');
    await expect(environment.reset({ ...task, data: {} })).rejects.toMatchObject({ code: 'remote-bad-task' });
  });
});
