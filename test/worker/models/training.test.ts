/** @file The loop with the loaded model as policy, through the service that the page talks to, on Dawn. */
import 'fake-indexeddb/auto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nodeGpu } from '../../../src/cli/node-gpu';
import { MemoryFileCache } from '../../../src/models/sources/memory-file-cache';
import { ModelService } from '../../../src/worker/models/model-service';
import type { ModelsEvent, TrainingRequest } from '../../../src/worker/models/protocol';
import type { RunPhase } from '../../../src/worker/protocol';
import { testGpu } from '../../gpu';
import '../../nn/patience';
import { talkingGguf } from './talking-gguf';

const gguf = talkingGguf(4096);
const room = { rank: 0, contextLength: 2560, streams: 1, passTokens: 2560, budgetBytes: 2 ** 32 };
const events: ModelsEvent[] = [];
const asked: string[] = [];
let service: ModelService;

/** An endpoint that dreams: whatever is done, nothing happens. */
const fetch: typeof globalThis.fetch = async (_input, init) => {
  asked.push(String(init?.body));
  const content = '{"reasoning":"no","valid":false,"observation":"Nothing happens.","reward":0,"done":false}';
  return Response.json({ choices: [{ message: { content }, finish_reason: 'stop' }] });
};

beforeAll(async () => {
  await testGpu(); // chooses the driver
  service = new ModelService({
    webgpu: await nodeGpu(),
    checkDevice: async () => {},
    cache: async () => new MemoryFileCache(),
    fetch,
    embeddedFiles: async () => [],
    startTransformers: () => {
      throw new Error('not here');
    },
  });
  service.subscribe((event) => void events.push(event));
  await service.inspect({ kind: 'files', files: [{ path: 'talking.gguf', file: new Blob([gguf]) }] });
  await service.load(room);
});

afterAll(() => service.close());

const request = (changes: Partial<TrainingRequest> = {}): TrainingRequest => ({
  settings: {
    preset: 'household-quick',
    seed: 4,
    iterations: 2,
    tasksPerIteration: 1,
    groupSize: 2,
    maxSteps: 2,
    evalTasks: 10,
    evalEvery: 100,
    lambda: 0,
    bufferCapacity: 200,
  },
  text: { thoughtTokens: 0, warmStart: 1 },
  rank: 4,
  alpha: 8,
  dream: { kind: 'loaded' },
  recall: { kind: 'words' },
  ...changes,
});

const phase = (): RunPhase => service.training().progress.phase;
const reach = (...phases: RunPhase[]) =>
  expect.poll(phase, { timeout: 200_000, interval: 50 }).toSatisfy((now: RunPhase) => phases.includes(now));

describe('training the loaded model', () => {
  it('steps one iteration: imitation, a dream by its own base, GRPO; then it waits', async () => {
    await service.stepTraining(request());
    await expect(
      service.generate({ prompt: 'a', chat: false, temperature: 0, maxTokens: 1, seed: 1 }),
    ).rejects.toMatchObject({
      code: 'busy',
    });
    await reach('paused', 'failed');
    const status = service.training();
    expect(status.error).toBeNull();
    expect(status.metrics).toHaveLength(1);
    const [metrics] = status.metrics;
    // Every turn was one of the possible actions, every dreamed answer one of the household's sentences.
    expect(metrics).toMatchObject({ malformedActions: 0, malformed: 0, lostEpisodes: 0, validActionRate: 1 });
    expect(metrics.dreamedTransitions).toBeGreaterThan(0);
    const imitated = events.some(
      (event) =>
        event.type === 'run' && event.event.type === 'progress' && /imitating/.test(event.event.progress.detail),
    );
    expect(imitated).toBe(true);
    expect(service.loaded()?.adapter).toMatchObject({ name: 'trained here', rank: 4, alpha: 8, modules: 14 });
  });

  it('stopped, it is exported, and goes on where it was with another dream', async () => {
    await service.stopTraining();
    const { bytes } = await service.exportAdapter('peft');
    expect(bytes.length).toBeGreaterThan(1000);
    expect((await service.exportTraining()).length).toBeGreaterThan(100);
    const last = await service.lastTraining();
    expect(last).toMatchObject({ iteration: 1 });
    // In half precision the rest of the run would be another run.
    await service.load({ ...room, precision: 'f16' });
    expect(service.loaded()?.precision).toBe('f16');
    const dream = { kind: 'endpoint' as const, baseUrl: 'http://localhost:1', model: 'someone' };
    await service.resumeTraining({ dream, recall: { kind: 'model' } });
    await reach('finished', 'failed', 'paused');
    expect(service.training().error).toBeNull();
    expect(phase()).toBe('finished');
    expect(service.training().metrics).toHaveLength(2);
    expect(asked.length).toBeGreaterThan(0);
    expect(asked[0]).toContain('someone');
    expect(service.loaded()?.precision).toBe('f32');
  });

  it('refuses what cannot be trained, in words', async () => {
    await expect(service.startTraining(request({ settings: { groupSize: 1 } }))).rejects.toMatchObject({
      code: 'config-invalid',
    });
    await service.unload();
    await expect(service.startTraining(request())).rejects.toMatchObject({ code: 'nothing-loaded' });
    await service.inspect({ kind: 'files', files: [{ path: 'talking.gguf', file: new Blob([gguf]) }] });
    await service.load({ rank: 0, contextLength: 256, streams: 1, passTokens: 256, budgetBytes: 2 ** 32 });
    await service.startTraining(request());
    await reach('failed');
    expect(service.training().error).toMatchObject({ code: 'context-too-short' });
  });
});
