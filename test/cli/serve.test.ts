import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { unzipSync } from 'fflate';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { main } from '../../src/cli/main';
import { writeServerKit } from '../../src/data/exporters/server-kit';
import { presets } from '../../src/dream/presets';
import type { Task } from '../../src/envs/environment';
import { householdWorld } from '../../src/envs/household';
import { AgentGymEnvironment, AgentGymServer, agentGymTask } from '../../src/envs/remote';

let root: string;
let url: string;
let interrupt = () => {};
let ended: Promise<number>;
const tasks = householdWorld.trainingTasks(5);

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'dream-serve-'));
  const kit = writeServerKit({
    record: {
      format: 'dreamgym-run',
      version: 1,
      runId: 'run',
      created: '2026-01-01T00:00:00.000Z',
      adapter: '',
      config: presets['household-tiny'],
      metrics: [],
      evaluations: [],
      rollouts: [],
      tasks: [],
      weightsHash: null,
    },
    tasks,
  });
  for (const [name, bytes] of Object.entries(unzipSync(kit.zip))) {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await writeFile(join(root, name), bytes);
  }
  let told: (line: string) => void = () => {};
  const ready = new Promise<string>((resolve) => {
    told = resolve;
  });
  ended = main(['serve', '--tasks', 'data/tasks.jsonl', '--port', '0', '--sessions', '3', '--json'], {
    stdout: { write: (text) => told(text) },
    stderr: { write: () => true },
    root,
    folder: root,
    onInterrupt: (handler) => {
      interrupt = handler;
    },
  });
  const { port, tasks: count } = JSON.parse(await ready);
  expect(count).toBe(5);
  url = `http://127.0.0.1:${port}`;
});

afterAll(async () => {
  interrupt();
  expect(await ended).toBe(0);
  await rm(root, { recursive: true, force: true });
});

/** The expert's whole episode, played beside the server. */
function solution(task: Task): string[] {
  const environment = householdWorld.create();
  environment.reset(task);
  const actions: string[] = [];
  for (let step = 0; step < 60; step++) {
    const action = householdWorld.expert(environment);
    if (action === null) break;
    actions.push(action);
    if (environment.step(action).done) break;
  }
  return actions;
}

describe('dream serve', () => {
  it('plays a task of the kit for our own client, in sentences', async () => {
    const environment = new AgentGymEnvironment(new AgentGymServer({ dialect: 'textcraft', url }));
    expect(await environment.reset(agentGymTask('textcraft', 2))).toContain(tasks[2].instruction);
    expect(await environment.step('fly to the moon')).toMatchObject({ observation: 'Nothing happens.', valid: false });
    const results = [];
    for (const action of solution(tasks[2])) results.push(await environment.step(action));
    expect(results.at(-1)).toMatchObject({ reward: 1, done: true });
    expect(results.slice(0, -1).every(({ reward }) => reward === 0)).toBe(true);
    expect(await environment.close()).toBe(true);
    await expect(
      new AgentGymEnvironment(new AgentGymServer({ dialect: 'textcraft', url })).reset(agentGymTask('textcraft', 9)),
    ).rejects.toMatchObject({ code: 'remote-server-error' });
  });

  it('keeps its number of sessions, and tells whoever lost one', async () => {
    const server = new AgentGymServer({ dialect: 'textcraft', url });
    const first = new AgentGymEnvironment(server);
    await first.reset(agentGymTask('textcraft', 0));
    for (let i = 0; i < 3; i++) await new AgentGymEnvironment(server).reset(agentGymTask('textcraft', i));
    expect(await first.step('look')).toMatchObject({ lost: true, reward: 0 });
    expect(await first.reset(agentGymTask('textcraft', 0))).toContain(tasks[0].instruction);
  });

  it('takes nothing that a web page may send unasked, and nothing that is no request', async () => {
    const post = (body: string, type = 'application/json', path = '/create') =>
      fetch(url + path, { method: 'POST', body, headers: { 'content-type': type } });
    expect((await post('{}', 'text/plain')).status).toBe(415);
    expect((await post('[]')).status).toBe(422);
    expect((await post('{"__proto__":{}}')).status).toBe(422);
    expect((await post('"'.padEnd(100_000, 'x'))).status).toBe(413);
    expect((await post('{}', 'application/json', '/toString')).status).toBe(404);
    expect((await fetch(`${url}/create`, { method: 'OPTIONS' })).status).toBe(405);
    expect(await (await post('{"id":"0","action":"look"}', 'application/json', '/step')).json()).toHaveProperty(
      'error',
    );
  });

  it("the kit's own Python plays in it", async () => {
    const script = `
import json, sys
from world_client import World
world = World(url=sys.argv[1])
index, actions = json.loads(sys.argv[2])
first = world.reset(index)
for action in actions: seen, done = world.step(action)
again = World(url=sys.argv[1]); again.reset(0); again._id = 10**6
lost = again.step("look")
print(json.dumps([first, done, world.reward, world.turns, lost[0], again.lost, again.reward]))
`;
    const actions = solution(tasks[1]).slice(0, presets['household-tiny'].maxSteps);
    const said = await python(script, url, JSON.stringify([1, actions]));
    if (said === null) return;
    const [first, done, reward, turns, ...lost] = JSON.parse(said);
    expect(first).toContain(tasks[1].instruction);
    expect([done, turns]).toEqual([true, actions.length]);
    expect(reward).toBe(actions.length === solution(tasks[1]).length ? 1 : 0);
    expect(lost).toEqual(['The episode was lost.', true, 0]);
  });
});

/** Null where this machine has no Python. */
function python(code: string, ...args: string[]): Promise<string | null> {
  return new Promise((resolve, reject) => {
    const child = spawn('python3', ['-c', code, ...args], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    let out = '';
    let err = '';
    child.stdout.on('data', (part) => {
      out += part;
    });
    child.stderr.on('data', (part) => {
      err += part;
    });
    child.on('error', () => resolve(null));
    child.on('close', (status) => (status === 0 ? resolve(out) : reject(new Error(err))));
  });
}
