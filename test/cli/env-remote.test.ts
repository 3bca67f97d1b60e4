/** @file `dream env play --remote` against protocol-exact servers on real sockets. */
import { Readable } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';
import type { CommandIo } from '../../src/cli/command';
import { play } from '../../src/cli/env-play';
import { UsageError } from '../../src/cli/options';
import { ProgressBar } from '../../src/cli/progress';
import type { DialectName } from '../../src/envs/remote';
import { type MockAgentGym, mockAgentGym } from '../envs/remote/mock-agentgym';
import { type MockOpenEnv, mockOpenEnv } from '../envs/remote/mock-openenv';

const servers: (MockOpenEnv | MockAgentGym)[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function openEnv(options?: { maxSessions: number }): Promise<MockOpenEnv> {
  const server = await mockOpenEnv(options);
  servers.push(server);
  return server;
}

async function agentGym(dialect: DialectName): Promise<MockAgentGym> {
  const server = await mockAgentGym(dialect);
  servers.push(server);
  return server;
}

async function game(args: string[], typed: readonly string[], signal = new AbortController().signal) {
  const printed: string[] = [];
  let result: object = {};
  const io: CommandIo = {
    json: false,
    root: '',
    signal,
    print: (line) => void printed.push(line),
    note: () => undefined,
    result(value) {
      result = value;
    },
    progress: (label) => new ProgressBar({ write: () => true, isTTY: false, columns: 80 }, label),
    resolve: (path) => path,
  };
  const code = await play(args, io, Readable.from(typed.map((line) => `${line}\n`)));
  return { code, printed, text: printed.join('\n'), result };
}

describe('an OpenEnv server', () => {
  it('is played with words and JSON, its form is shown, and it tells its state', async () => {
    const server = await openEnv();
    const typed = ['knock', ':state', ':undo', ':hint', ':commands', ':form', '{"message":"open"}', 'too late'];
    const { code, text, result } = await game(['--remote', `${server.url}/ws`, '--seed', '7'], typed);
    expect(code).toBe(0);
    expect(text).toContain('door: A door.');
    expect(text).toContain('message: text, required. What to do with the door');
    expect(text).toContain('You face door 7.');
    expect(text).toContain('Nothing happens.');
    expect(text).toContain('"step_count": 1');
    expect(text).toContain('cannot take an action back');
    expect(text).toContain('no :hint');
    expect(text).toContain('It opens.\n(reward 1)');
    expect(text).toContain('Over after 2 steps; the reward is 1.');
    expect(result).toMatchObject({ env: 'door', success: true, reward: 1, steps: 2, done: true, lost: null });
    await expect.poll(() => server.sessions()).toBe(0);
    expect(server.seen.filter(({ type }) => type === 'step')).toHaveLength(2);
  });

  it('takes arguments of reset', async () => {
    const server = await openEnv();
    await game(['--remote', server.url, '--task', '{"episode_id":"mine"}'], [':quit']);
    expect(server.seen[0]).toEqual({ type: 'reset', data: { episode_id: 'mine', seed: 1 } });
  });

  it('that loses the connection or hangs loses the episode, and says why', async () => {
    const server = await openEnv();
    server.trouble = 'drop';
    const dropped = await game(['--remote', server.url], ['open', 'open']);
    expect(dropped.code).toBe(1);
    expect(dropped.text).toContain('was lost after 1 step and does not count');
    expect(dropped.text).toContain('closed the connection');
    expect(dropped.result).toMatchObject({ success: false, reward: 0, lost: 'remote-disconnected' });
    await expect.poll(() => server.sessions()).toBe(0);
    server.trouble = 'hang';
    const hung = await game(['--remote', server.url, '--timeout', '0.3'], ['open']);
    expect(hung.result).toMatchObject({ lost: 'remote-timeout' });
    expect(hung.text).toContain('gave no answer within 300 ms');
  });

  it('that is full, or is not there, is an error with advice', async () => {
    const server = await openEnv({ maxSessions: 0 });
    await expect(game(['--remote', server.url], [])).rejects.toMatchObject({
      code: 'remote-capacity',
      message: expect.stringContaining('0 of 0 sessions'),
      advice: expect.stringContaining('max_concurrent_envs'),
    });
    await expect(game(['--remote', 'ws://127.0.0.1:9'], [])).rejects.toMatchObject({ code: 'remote-unreachable' });
  });

  it('of the other kind is recognised', async () => {
    const server = await agentGym('textcraft');
    await expect(game(['--remote', server.url], [])).rejects.toMatchObject({
      code: 'remote-no-socket',
      advice: expect.stringContaining('--dialect'),
    });
  });

  it('can be left while it hangs', async () => {
    const server = await openEnv();
    server.trouble = 'hang';
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 600);
    const start = performance.now();
    const { result } = await game(['--remote', server.url], ['open'], controller.signal);
    expect(result).toMatchObject({ steps: 0, done: false, lost: null });
    expect(performance.now() - start).toBeLessThan(10_000);
  });
});

describe('an AgentGym server', () => {
  it.each<[DialectName, number]>([
    ['textcraft', 1],
    ['alfworld', 1],
    ['webshop', 0.5],
    ['webarena', 1],
  ])('%s is played in its dialect', async (dialect, reward) => {
    const server = await agentGym(dialect);
    const args = ['--remote', server.url, '--dialect', dialect, '--task', '3'];
    const { text, result } = await game(args, ['look', ':commands', ':state', 'open']);
    expect(text).toContain('You face door 3.');
    expect(text).toContain(dialect === 'alfworld' ? '\nlook\n' : 'does not say what it would accept');
    expect(text).toContain('tell no state');
    expect(result).toMatchObject({ env: dialect, task: `agentgym:${dialect}:3`, reward, steps: 2, done: true });
    if (dialect === 'textcraft') expect(server.sessions.size).toBe(0);
  });

  it('an error inside 200 loses the episode', async () => {
    const server = await agentGym('textcraft');
    server.trouble = ({ path }, response) => {
      if (path !== '/step') return false;
      response.end('{"error":"\\u001b[31mno such id"}');
      return true;
    };
    const { text, result } = await game(['--remote', server.url, '--dialect', 'textcraft'], ['open']);
    expect(result).toMatchObject({ lost: 'remote-server-error', reward: 0 });
    expect(text).toContain('no such id');
    expect(text).not.toContain('\u001b');
  });
});

describe('options', () => {
  it.each([
    [['--remote', 'http://127.0.0.1:1', '--size', 'small']],
    [['--remote', 'http://127.0.0.1:1', '--dialect', 'nethack']],
    [['--remote', 'http://127.0.0.1:1', '--dialect', 'webshop', '--task', 'shoes']],
    [['--remote', 'ws://127.0.0.1:1', '--task', '[1]']],
    [['--dialect', 'webshop']],
  ])('%j is refused', async (args) => {
    await expect(game(args, [])).rejects.toThrow(UsageError);
  });

  it('a socket address does not go with a dialect', async () => {
    await expect(game(['--remote', 'ws://127.0.0.1:1', '--dialect', 'webshop'], [])).rejects.toMatchObject({
      code: 'remote-kind',
    });
  });
});
