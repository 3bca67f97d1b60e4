/** @file The loop in worlds on other machines, over real sockets: waves, lost episodes, and dreams of a described one. */
import { afterEach, describe, expect, it } from 'vitest';
import { nodeSocket } from '../../../src/cli/node-socket';
import { DreamLoop } from '../../../src/dream/loop';
import type { LoopParts } from '../../../src/dream/loop-parts';
import { resolveConfig } from '../../../src/dream/presets';
import {
  checkPlayable,
  type OpenRemoteWorld,
  openRemoteDomain,
  openRemoteWorld,
  remoteDefaults,
} from '../../../src/dream/remote-domain';
import { defaultTextSettings } from '../../../src/dream/text-household';
import { spokenWorlds } from '../../../src/dream/text-worlds';
import { parseDreamedWorld } from '../../../src/envs/dreamed-world';
import { parseRemoteTasks } from '../../../src/envs/remote';
import type { RunConfig } from '../../../src/worker/protocol';
import { type MockAgentGym, mockAgentGym } from '../../envs/remote/mock-agentgym';
import { type MockOpenEnv, mockOpenEnv } from '../../envs/remote/mock-openenv';
import { cpuAdvantages } from '../../rl/cpu-advantages';
import { cpuTopK } from '../cpu-top-k';
import { MemoryStore } from '../memory-store';
import { SpeakingModel } from '../text-household/speaking-models';
import { chatTokenizer } from '../text-household/tokenizers';
import { WillingModel } from '../text-worlds/willing-model';

const tokenizer = chatTokenizer('chatml');
const cleanUp: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of cleanUp.splice(0).reverse()) await end();
});

async function openEnv(maxSessions: number): Promise<MockOpenEnv> {
  const server = await mockOpenEnv({ maxSessions });
  cleanUp.push(() => server.close());
  return server;
}

async function agentGym(dialect: 'textcraft' | 'alfworld'): Promise<MockAgentGym> {
  const server = await mockAgentGym(dialect);
  cleanUp.push(() => server.close());
  return server;
}

const overSocket = (url: string, sessions: number): OpenRemoteWorld => ({
  target: { kind: 'openenv', url },
  tasks: parseRemoteTasks('0-9', 'openenv'),
  sessions,
  openSocket: nodeSocket,
  retries: 0,
  timeoutMs: 3000,
});

const overHttp = (url: string, dialect: 'textcraft' | 'alfworld', sessions: number): OpenRemoteWorld => ({
  target: { kind: 'agentgym', url, dialect },
  tasks: parseRemoteTasks('0-9', 'agentgym'),
  sessions,
  retries: 0,
});

/** Opens the door, or knocks, as the draw has it; what it was trained on stands in `trained`. */
function visitor(chance = 0.5) {
  return new SpeakingModel(
    tokenizer,
    (_, draw) => ` I try.\nAction: ${(draw % 100) / 100 < chance ? 'open' : 'knock'}`,
  );
}

async function runOn(options: OpenRemoteWorld, changes: Partial<RunConfig> = {}, policy = visitor()) {
  const settings = { ...defaultTextSettings, constrain: 'none' as const };
  const { world, domain, close } = await openRemoteDomain(tokenizer, 8192, { ...options, settings });
  cleanUp.push(close);
  const config = resolveConfig(
    remoteDefaults(world, {
      ...{ seed: 5, iterations: 1, tasksPerIteration: 2, groupSize: 3, maxSteps: 3, evalTasks: 10 },
      ...{ bufferCapacity: 200, klCoef: 0, rollouts: 'real' as const },
      ...changes,
    }),
  );
  const parts: LoopParts = {
    policy,
    experience: new WillingModel(tokenizer),
    domain,
    kernels: { advantages: cpuAdvantages, topK: cpuTopK },
    store: new MemoryStore(),
    adapter: 'plain code',
    gpuBytes: () => 0,
    emit: () => {},
    parallel: 6,
  };
  const loop = DreamLoop.fresh(parts, config, 'run');
  await loop.run();
  return { loop, world, close };
}

describe('an OpenEnv server', () => {
  it('is trained and examined in, in waves of its sessions, which are kept between them', async () => {
    const server = await openEnv(2);
    const { loop, world, close } = await runOn(overSocket(server.url, 2));
    const [m] = loop.state.metrics;
    expect(loop.phase).toBe('finished');
    expect(m.realTransitions).toBeGreaterThanOrEqual(6);
    expect(m.dreamedTransitions).toBe(0);
    expect(m.malformedActions).toBe(0);
    expect(m.tasksGenerated).toBe(0);
    expect(m.lostEpisodes ?? 0).toBe(0);
    expect(m.replayPrecision).toBeNull();
    expect(loop.state.rollouts[0].trajectories.every(({ source }) => source === 'real')).toBe(true);
    expect(loop.state.rollouts[0].trajectories[0].firstObservation).toMatch(/^You face door [0-7]\.$/);
    // Two of ten are held out, and asked at two temperatures before and after.
    expect(loop.state.evaluations).toHaveLength(2);
    expect(loop.state.evaluations[0].atRolloutTemperature.episodes).toBe(2);
    expect(server.sessions()).toBe(2);
    expect(world.name).toBe('openenv-door');
    expect(world.rules).toContain('message: text, required');
    await close();
    await expect.poll(() => server.sessions()).toBe(0);
  });

  it('with less room than promised ends the run with its numbers', async () => {
    const server = await openEnv(1);
    await expect(runOn(overSocket(server.url, 3))).rejects.toMatchObject({
      code: 'remote-capacity',
      message: expect.stringContaining('1 of 1'),
    });
  });

  it('loses episodes that are never rewarded nor trained on', async () => {
    const server = await openEnv(6);
    let steps = 0;
    // Crashes of the environment, by the same actions that would else have won.
    const policy = new SpeakingModel(tokenizer, (_, draw) =>
      steps++ % 2 === 0 ? ' I break it.\nAction: crash' : ` I try.\nAction: ${draw % 2 === 0 ? 'open' : 'knock'}`,
    );
    const { loop } = await runOn(overSocket(server.url, 6), { groupSize: 6 }, policy);
    const [m] = loop.state.metrics;
    expect(m.lostEpisodes).toBeGreaterThan(0);
    const { trajectories } = loop.state.rollouts[0];
    for (const { lost, success, return: total } of trajectories) if (lost) expect([success, total]).toEqual([false, 0]);
    const trained = policy.trained.map(({ tokens }) => tokenizer.decode(tokens)).join('\n');
    expect(trained).not.toContain('crash');
  });

  it('that nobody described is not dreamed of', async () => {
    const server = await openEnv(2);
    await expect(runOn(overSocket(server.url, 2), { rollouts: 'dream' })).rejects.toMatchObject({ code: 'no-dream' });
    const world = await openRemoteWorld(overSocket(server.url, 2));
    expect(() => checkPlayable(world, { rollouts: 'dream' })).toThrow(expect.objectContaining({ code: 'no-dream' }));
    checkPlayable(world, { rollouts: 'real' });
    checkPlayable(await spokenWorlds.shop(), { rollouts: 'dream' });
    expect(remoteDefaults(null, { seed: 3 })).toEqual({ seed: 3 });
  });
});

const definition = parseDreamedWorld(
  JSON.stringify({
    format: 'dreamed-world',
    version: 1,
    name: 'door',
    systemPrompt: 'You face a door. It may open.',
    actions: ['open', 'knock'],
    tasks: [{ instruction: 'unused', firstObservation: 'unused' }],
    transitions: [{ state: 'You face door 1.', action: 'knock', nextState: 'Nothing happens.' }],
  }),
);

describe('an AgentGym server', () => {
  it('that was described is dreamed of, from its own first observations, and audited in the truth in waves', async () => {
    const server = await agentGym('textcraft');
    const policy = new WillingModel(tokenizer);
    const options = { ...overHttp(server.url, 'textcraft', 2), definition };
    const { domain, world, close } = await openRemoteDomain(tokenizer, 8192, options);
    cleanUp.push(close);
    expect(world.trainingTasks().map(({ firstObservation }) => firstObservation)).toContain('You face door 7.');
    expect(domain.offlineTransitions(9)).toMatchObject([{ room: 'agentgym-textcraft', action: 'knock' }]);
    const config = resolveConfig(
      remoteDefaults(world, {
        ...{ seed: 2, iterations: 1, tasksPerIteration: 2, groupSize: 3, maxSteps: 3, evalTasks: 10 },
        ...{ bufferCapacity: 100, klCoef: 0, rollouts: 'dream' as const },
      }),
    );
    const parts: LoopParts = {
      policy,
      experience: new WillingModel(tokenizer),
      domain,
      kernels: { advantages: cpuAdvantages, topK: cpuTopK },
      store: new MemoryStore(),
      adapter: 'plain code',
      gpuBytes: () => 0,
      emit: () => {},
      parallel: 6,
    };
    const loop = DreamLoop.fresh(parts, config, 'run');
    await loop.run();
    const [m] = loop.state.metrics;
    expect(m.dreamedTransitions).toBeGreaterThan(3);
    expect(m.malformedActions).toBe(0);
    expect(m.measurementSteps).toBeGreaterThan(0);
    expect(m.rewardError).not.toBeNull();
    expect(server.sessions.size).toBe(2);
    await close();
    expect(server.sessions.size).toBe(0);
  });

  it('says what it would accept, and the policy is led along that', async () => {
    const server = await agentGym('alfworld');
    const { world, domain, close } = await openRemoteDomain(tokenizer, 8192, overHttp(server.url, 'alfworld', 2));
    cleanUp.push(close);
    const truth = world.truth();
    await truth.reset(world.trainingTasks().slice(0, 2), 0);
    expect(truth.admissible?.(0)).toEqual(['open', 'look']);
    await truth.step(['look', null]);
    expect(truth.admissible?.(0)).toEqual(['look']);
    expect(domain.admissible?.('', [])).toEqual([]);
    expect(world.rules).toContain('household');
    const told = await openRemoteWorld({ ...overHttp(server.url, 'alfworld', 1), rules: 'There are doors.' });
    expect(told.rules).toBe('There are doors.');
  });
});
