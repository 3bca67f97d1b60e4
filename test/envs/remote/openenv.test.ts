import { afterEach, describe, expect, it } from 'vitest';
import { nodeSocket } from '../../../src/cli/node-socket';
import {
  CapacityError,
  describeOpenEnv,
  formFromSchema,
  OpenEnvEnvironment,
  type OpenEnvOptions,
  openEnvTask,
  remoteBatch,
} from '../../../src/envs/remote';
import { doorSchema, type MockOpenEnv, mockOpenEnv, type Trouble } from './mock-openenv';

let server: MockOpenEnv | undefined;
const opened: OpenEnvEnvironment[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((environment) => environment.close()));
  await server?.close();
  server = undefined;
});

async function start(options?: { maxSessions: number }): Promise<MockOpenEnv> {
  server = await mockOpenEnv(options);
  return server;
}

function open(url: string, options: Partial<OpenEnvOptions> = {}): OpenEnvEnvironment {
  const environment = new OpenEnvEnvironment({
    url,
    openSocket: nodeSocket,
    form: formFromSchema(doorSchema.action),
    timeoutMs: 3000,
    wait: async () => undefined,
    ...options,
  });
  opened.push(environment);
  return environment;
}

const task = openEnvTask('door', 'open the door', { seed: 42, options: { episode_id: 'e1' } });

describe('OpenEnvEnvironment', () => {
  it('plays whole episodes on one session, in the exact wire format', async () => {
    const mock = await start();
    const environment = open(mock.url.replace('ws:', 'http:'));
    expect(await environment.reset(task)).toBe('You face door 42.');
    expect(await environment.step('knock')).toMatchObject({
      observation: 'Nothing happens.',
      reward: 0,
      done: false,
      valid: true,
      imagined: false,
    });
    expect(await environment.state()).toEqual({ episode_id: 'e1', step_count: 1 });
    expect(await environment.step('open')).toMatchObject({ observation: 'It opens.', reward: 1, done: true });
    await expect(environment.step('open')).rejects.toMatchObject({ code: 'remote-no-episode' });
    expect(await environment.reset(openEnvTask('door', 'again', { seed: 7 }))).toBe('You face door 7.');
    expect(mock.sessions()).toBe(1);
    expect(mock.seen).toEqual([
      { type: 'reset', data: { episode_id: 'e1', seed: 42 } },
      { type: 'step', data: { message: 'knock' } },
      { type: 'state' },
      { type: 'step', data: { message: 'open' } },
      { type: 'reset', data: { seed: 7 } },
    ]);
    await environment.close();
    await expect(environment.reset(task)).rejects.toMatchObject({ code: 'remote-closed' });
    await expect.poll(() => mock.sessions()).toBe(0);
  });

  it('says how many sessions a full server has, and gets in once there is room', async () => {
    const mock = await start();
    const first = open(mock.url);
    await first.reset(task);
    const waits: number[] = [];
    const second = open(mock.url, { retries: 2, wait: async (ms) => void waits.push(ms) });
    const refused = await second.reset(task).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(CapacityError);
    expect(refused).toMatchObject({ code: 'remote-capacity', activeSessions: 1, maxSessions: 1 });
    expect((refused as CapacityError).message).toContain('1 of 1 sessions');
    expect(waits).toHaveLength(2);
    // The refusal of the second did not disturb the first.
    expect(await first.step('open')).toMatchObject({ reward: 1 });

    const third = open(mock.url, {
      retries: 5,
      async wait() {
        await first.close();
        await expect.poll(() => mock.sessions()).toBe(0);
      },
    });
    expect(await third.reset(task)).toBe('You face door 42.');
  });

  it('loses an episode with its connection, never rewards it, and plays the next on a new one', async () => {
    const mock = await start();
    const environment = open(mock.url);
    await environment.reset(task);
    mock.trouble = 'drop';
    expect(await environment.step('open')).toMatchObject({ lost: true, reward: 0, done: true });
    expect(environment.lostBecause?.code).toBe('remote-disconnected');
    await expect(environment.step('open')).rejects.toMatchObject({ code: 'remote-no-episode' });
    mock.trouble = null;
    await environment.reset(task);
    expect(await environment.step('open')).toMatchObject({ reward: 1, done: true });
  });

  it.each<[Trouble, string]>([
    ['hang', 'remote-timeout'],
    ['garbage', 'remote-garbage'],
    ['bytes', 'remote-garbage'],
    ['deep', 'remote-garbage'],
    ['wrong-type', 'remote-garbage'],
    ['huge', 'remote-too-large'],
  ])('a server that answers with %s loses the episode with a typed error', async (trouble, code) => {
    const mock = await start({ maxSessions: 2 });
    // Two cores and other work: only silence may be waited for that briefly.
    const environment = open(mock.url, { timeoutMs: trouble === 'hang' ? 300 : 5000, retries: 0 });
    await environment.reset(task);
    mock.trouble = trouble;
    expect(await environment.step('open')).toMatchObject({ lost: true, reward: 0 });
    expect(environment.lostBecause?.code).toBe(code);
    mock.troubleAtReset = true;
    await expect(environment.reset(task)).rejects.toMatchObject({ code });
  });

  it.each<Trouble>(['flood', 'twice'])('never takes an unasked message for an answer (%s)', async (trouble) => {
    const mock = await start({ maxSessions: 2 });
    const environment = open(mock.url);
    await environment.reset(task);
    mock.trouble = trouble;
    const first = await environment.step('knock');
    if (!first.done) {
      await new Promise((later) => setTimeout(later, 50));
      expect(await environment.step('knock')).toMatchObject({ lost: true, reward: 0 });
      expect(environment.lostBecause?.code).toBe('remote-flood');
    }
    mock.trouble = null;
    expect(await environment.reset(task)).toBe('You face door 42.');
  });

  it('an action that the server rejects costs a step, not the episode; a crash costs the episode', async () => {
    const mock = await start();
    const environment = open(mock.url, { form: undefined });
    await environment.reset(task);
    const refused = await environment.step('{"mess":"open"}');
    expect(refused).toMatchObject({ valid: false, done: false, reward: 0 });
    expect(refused.lost).toBeUndefined();
    expect(refused.observation).toContain('(message: Field required)');
    expect(await environment.step('{"message":"knock"}')).toMatchObject({ valid: true });
    expect(await environment.step('crash')).toMatchObject({ lost: true, reward: 0 });
    expect(environment.lostBecause?.message).toContain('ZeroDivisionError');
  });

  it('says what is wrong with an address, a task, or a server that is not there', async () => {
    expect(() => open('ftp://host')).toThrow(expect.objectContaining({ code: 'remote-address-invalid' }));
    expect(() => open('ws://me:secret@host')).toThrow(expect.objectContaining({ code: 'remote-address-invalid' }));
    const nobody = open('ws://127.0.0.1:9', { retries: 1 });
    await expect(nobody.reset(task)).rejects.toMatchObject({ code: 'remote-unreachable' });
    await expect(nobody.reset({ ...task, data: { seed: 'x' } })).rejects.toMatchObject({ code: 'remote-bad-task' });
  });

  it('asks the server for the form of its actions', async () => {
    const mock = await start();
    const description = await describeOpenEnv(mock.url);
    expect(description).toMatchObject({ name: 'door', form: { title: 'DoorAction' } });
    expect(description.form.fields.map(({ name, kind, required }) => [name, kind, required])).toEqual([
      ['message', 'text', true],
    ]);
  });
});

describe('remoteBatch over OpenEnv', () => {
  it('plays side by side, keeps its sessions, and loses one episode without the others', async () => {
    const mock = await start({ maxSessions: 3 });
    const batch = remoteBatch(() => open(mock.url), 3);
    expect(await batch.reset([task, task, task], 0)).toEqual(Array(3).fill('You face door 42.'));
    const results = await batch.step(['open', null, 'crash']);
    expect(results[0]).toMatchObject({ reward: 1, done: true });
    expect(results[1]).toBeNull();
    expect(results[2]).toMatchObject({ lost: true, reward: 0 });
    await batch.reset([task, task], 1);
    expect(await batch.step(['knock', 'open'])).toMatchObject([{ done: false }, { reward: 1 }]);
    await batch.close();
    await expect.poll(() => mock.sessions()).toBe(0);
  });

  it('more episodes than sessions take turns: one begins again where it was, as far as the server repeats itself', async () => {
    const mock = await start({ maxSessions: 2 });
    const batch = remoteBatch(() => open(mock.url), 2);
    expect(batch.capacity).toBe(2);
    const tasks = [1, 2, 3, 4, 5].map((seed) => openEnvTask('door', 'open it', { seed }));
    expect(await batch.reset(tasks, 0)).toEqual([1, 2, 3, 4, 5].map((seed) => `You face door ${seed}.`));
    const knocked = await batch.step(['knock', 'open', 'knock', 'knock', 'crash']);
    expect(knocked.map((result) => [result?.reward, result?.lost ?? false])).toEqual([
      [0, false],
      [1, false],
      [0, false],
      [0, false],
      [0, true],
    ]);
    const opened = await batch.step(['open', null, 'open', 'knock', null]);
    expect(opened.map((result) => result?.reward ?? null)).toEqual([1, null, 1, 0, null]);
    expect(mock.sessions()).toBe(2);
    await batch.close();
  });

  it('an episode that the server tells otherwise the second time is lost', async () => {
    let visits = 0;
    const fickle = () => ({
      lostBecause: null,
      reset: () => `visit ${++visits}`,
      step: () => ({ observation: 'here', reward: 1, done: false, valid: true, imagined: false }),
      close: async () => undefined,
    });
    const batch = remoteBatch(fickle, 1);
    await batch.reset([task, task], 0);
    const [first, second] = await batch.step(['look', 'look']);
    expect(first).toMatchObject({ lost: true, reward: 0, raw: expect.stringContaining('did not answer the same') });
    expect(second).toMatchObject({ lost: true, reward: 0 });
  });

  it('where an action changes more than its own session, none is repeated', async () => {
    const batch = remoteBatch(() => open('ws://127.0.0.1:9'), 2, { sharedWorld: true });
    await expect(batch.reset([task, task, task], 0)).rejects.toMatchObject({
      code: 'remote-capacity',
      advice: expect.stringContaining('at most that many in parallel'),
    });
  });

  it('a server with fewer sessions than promised is a failure of the run, with its numbers', async () => {
    const mock = await start({ maxSessions: 2 });
    const batch = remoteBatch(() => open(mock.url, { retries: 0 }), 4);
    await expect(batch.reset([task, task, task], 0)).rejects.toMatchObject({ code: 'remote-capacity', maxSessions: 2 });
    await batch.close();
  });
});
