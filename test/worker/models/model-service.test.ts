/** @file The panel's service as a whole: a model file in, text out, on Dawn; and nothing left behind when it goes wrong. */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { nodeGpu } from '../../../src/cli/node-gpu';
import type { KillableWorker } from '../../../src/dream/text-models';
import { zipPeft } from '../../../src/models/adapters';
import { MemoryFileCache } from '../../../src/models/sources/memory-file-cache';
import { embeddedFiles } from '../../../src/worker/models/embedded-files';
import { ModelService, type ModelServiceParts } from '../../../src/worker/models/model-service';
import type { ModelsEvent, PickedFile, PlanInputs } from '../../../src/worker/models/protocol';
import { testGpu } from '../../gpu';
import '../../nn/patience';
import { RangeServer } from '../../models/sources/range-server';
import { normals } from '../../numbers';
import { talkingGguf } from './talking-gguf';

const bytes = talkingGguf();
const picked = (content: Uint8Array<ArrayBuffer> = bytes, path = 'talking.gguf'): PickedFile[] => [
  { path, file: new Blob([content]) },
];
const inputs: PlanInputs = { rank: 0, contextLength: 128, streams: 1, passTokens: 128, budgetBytes: 2 ** 32 };

/** One device for all: compiling its kernels is what takes long. */
const devices: GPUDevice[] = [];
const cache = new MemoryFileCache();
const events: ModelsEvent[] = [];
/** Replaced by a test. */
let hub: ModelServiceParts['hub'];
let fetch: typeof globalThis.fetch = async () => Response.error();
let service: ModelService;
let checks = 0;

beforeAll(async () => {
  await testGpu(); // chooses the driver
  service = new ModelService({
    webgpu: noting(await nodeGpu()),
    // test/gpu/self-test.test.ts tests it; here only when it is asked for.
    checkDevice: async () => {
      checks++;
    },
    cache: async () => cache,
    get hub() {
      return hub;
    },
    fetch: (...request) => fetch(...request),
    embeddedFiles: () => embeddedFiles((name) => readFile(`public/models/household-tiny/${name}`)),
    startTransformers: (): KillableWorker => {
      throw new Error('not here');
    },
  });
});

beforeEach(() => {
  events.length = 0;
  service.subscribe((event) => void events.push(event));
});

afterAll(() => service.close());

/** The same WebGPU, with every device it hands out kept for a test to destroy. */
function noting(gpu: GPU): GPU {
  const requestAdapter: GPU['requestAdapter'] = async (options) => {
    const adapter = await gpu.requestAdapter(options);
    if (!adapter) return null;
    return new Proxy(adapter, {
      get(target, key) {
        const value: unknown = Reflect.get(target, key, target);
        if (typeof value !== 'function') return value;
        if (key !== 'requestDevice') return value.bind(target);
        return async (descriptor: GPUDeviceDescriptor) => {
          const device = await target.requestDevice(descriptor);
          devices.push(device);
          return device;
        };
      },
    });
  };
  return { requestAdapter } as GPU;
}

async function loadTalking(): Promise<void> {
  await service.inspect({ kind: 'files', files: picked() });
  await service.load(inputs);
}

const rejection = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: unknown) => error,
  );

/** An adapter for every q projection of the talking model. */
function adapterFor(rank = 4) {
  const modules = new Map(
    [0, 1].map((layer) => [
      `model.layers.${layer}.self_attn.q_proj`,
      { a: normals(layer + 1, rank * 256), b: normals(layer + 9, 256 * rank) },
    ]),
  );
  return { rank, alpha: 8, modules, baseModel: 'someone/base' };
}

describe('a model from a file', () => {
  it('must be chosen and loaded before anything can be done with it', async () => {
    expect(await rejection(service.plan(inputs))).toMatchObject({ code: 'nothing-chosen' });
    expect(await rejection(service.load(inputs))).toMatchObject({ code: 'nothing-chosen' });
    expect(await rejection(service.score('hello world'))).toMatchObject({ code: 'nothing-loaded' });
  });

  it('is described, planned, loaded, continued and scored', async () => {
    const facts = await service.inspect({ kind: 'files', files: picked() });
    expect(facts).toMatchObject({
      label: 'talking.gguf',
      architecture: 'llama',
      hasTokenizer: true,
      hasChatTemplate: true,
      tokenizerProblem: null,
      download: null,
    });
    expect(facts.storedAs[0].type).toBe('Q4_0');
    expect(facts.parameters).toBe(856_320);

    const plan = await service.plan({ ...inputs, rank: 16 });
    expect(plan).toMatchObject({ verdict: 'fits', device: { adapter: expect.any(String) } });
    expect(plan.adapter).toBeGreaterThan(0);
    expect((await service.plan({ ...inputs, budgetBytes: 2 ** 18 })).verdict).toBe('no');

    const loaded = await service.load(inputs);
    expect(loaded).toMatchObject({ contextLength: 128, hasChatTemplate: true, adapter: null });
    expect(loaded.gpuBytes).toBeGreaterThan(plan.weights / 2);
    const phases = new Set(events.flatMap((event) => (event.type === 'progress' ? [event.progress.phase] : [])));
    expect([...phases]).toEqual(['opening', 'self-test', 'loading']);
    expect(checks).toBe(1);

    const request = { prompt: 'hello world', chat: false, temperature: 0.8, maxTokens: 10, seed: 3 };
    const answer = await service.generate(request);
    expect(answer.tokens.length).toBeGreaterThan(0);
    expect(answer.names).toHaveLength(answer.tokens.length);
    expect(answer.logProbs.every((logProb) => logProb <= 0)).toBe(true);
    expect(await service.generate(request)).toMatchObject({ tokens: answer.tokens, text: answer.text });
    const told = events.flatMap((event) => (event.type === 'text' ? [event.text] : [])).join('');
    expect((answer.text + answer.text).startsWith(told.slice(0, 3))).toBe(true);
    expect((await service.generate({ ...request, chat: true })).promptTokens).toBeGreaterThan(answer.promptTokens);

    const scored = await service.score('hello world');
    expect(scored.logProbs[0]).toBe(0);
    expect(scored.names.join('')).toBe('hello world');
    expect(scored.perplexity).toBeGreaterThan(1);
  });

  it('refuses what cannot be: too long a text, two things at once', async () => {
    await loadTalking();
    const long = { prompt: 'x'.repeat(200), chat: false, temperature: 0, maxTokens: 4, seed: 1 };
    expect(await rejection(service.generate(long))).toMatchObject({ code: 'context-full' });
    const running = service.generate({ ...long, prompt: 'hello' });
    expect(await rejection(service.score('hello world'))).toMatchObject({ code: 'busy', message: /writing/ });
    await running;
  });

  it('stops between pieces, and says so', async () => {
    await loadTalking();
    service.subscribe((event) => {
      events.push(event);
      if (event.type === 'text') service.stop();
    });
    const request = { prompt: 'hello', chat: false, temperature: 1, maxTokens: 50, seed: 1 };
    expect(await service.generate(request)).toMatchObject({ ended: expect.stringMatching(/stopped|model/) });
  });

  it('a newer choice overtakes an older one', async () => {
    const older = rejection(service.inspect({ kind: 'files', files: picked() }));
    const newer = service.inspect({ kind: 'files', files: picked(bytes, 'newer.gguf') });
    expect(await older).toMatchObject({ code: 'superseded' });
    expect((await newer).label).toBe('newer.gguf');
  });

  it('a damaged tensor, or a cancel, leaves nothing on the GPU', async () => {
    const damaged = bytes.slice();
    damaged.fill(0xff, damaged.length - 200_000); // half scales of 0xffff are NaN
    await service.inspect({ kind: 'files', files: picked(damaged) });
    expect(await rejection(service.load(inputs))).toMatchObject({ code: 'bad-weights' });
    expect(service.loaded()).toBeNull();

    await service.inspect({ kind: 'files', files: picked() });
    service.subscribe((event) => {
      events.push(event);
      if (event.type === 'progress' && event.progress.phase === 'loading') service.cancelLoad();
    });
    expect(await rejection(service.load(inputs))).toMatchObject({ code: 'stopped' });
    expect(service.loaded()).toBeNull();
    service.subscribe(() => {});
    const first = await service.load(inputs);
    // Again over itself: the old one made room, so no more is held than before.
    expect((await service.load(inputs)).gpuBytes).toBe(first.gpuBytes);
  });

  it('keeps what it read in half the bytes where that is asked for', async () => {
    await loadTalking();
    const request = { prompt: 'hello world', chat: false, temperature: 0, maxTokens: 8, seed: 3 };
    const whole = await service.generate(request);
    const plans = await Promise.all([service.plan(inputs), service.plan({ ...inputs, precision: 'f16' })]);
    expect(plans[1].keyValueCache).toBe(plans[0].keyValueCache / 2);
    expect(await service.load({ ...inputs, precision: 'f16' })).toMatchObject({ precision: 'f16' });
    const half = await service.generate(request);
    expect(half.tokens).toEqual(whole.tokens);
    const gaps = half.logProbs.map((logProb, i) => Math.abs(logProb - whole.logProbs[i]));
    expect(Math.max(...gaps)).toBeGreaterThan(0);
    expect(Math.max(...gaps)).toBeLessThan(3e-2);
    await service.unload();
  });
});

describe('the embedded model', () => {
  it('is a model like any other, only without a chat template', async () => {
    const facts = await service.inspect({ kind: 'embedded' });
    expect(facts).toMatchObject({ hasTokenizer: true, hasChatTemplate: false, tokenizerProblem: null });
    await service.load(inputs);
    const scored = await service.score('go to shelf 1');
    expect(scored.tokens.length).toBe(2);
  });
});

describe('adapters', () => {
  /** A changed query shows where there is more than one key to choose from. */
  const words = 'hello world, hello words';

  it('come as PEFT zip, switch on and off, and leave as PEFT and GGUF that load again', async () => {
    await loadTalking();
    expect(await rejection(service.exportAdapter('peft'))).toMatchObject({ code: 'no-lora' });
    const base = (await service.score(words)).logProbs;

    const state = await service.importAdapter(picked(zipPeft(adapterFor()), 'mine.zip'));
    expect(state.adapter).toMatchObject({ name: 'mine.zip', rank: 4, alpha: 8, modules: 2, enabled: true });
    const adapted = (await service.score(words)).logProbs;
    expect(adapted).not.toEqual(base);
    expect(service.setAdapter(false).adapter?.enabled).toBe(false);
    expect((await service.score(words)).logProbs).toEqual(base);
    service.setAdapter(true);
    expect((await service.score(words)).logProbs).toEqual(adapted);

    for (const format of ['peft', 'gguf'] as const) {
      const file = await service.exportAdapter(format);
      expect(file.name).toBe(`lora-talking.${format === 'peft' ? 'zip' : 'gguf'}`);
      await service.importAdapter(picked(file.bytes, file.name));
      expect((await service.score(words)).logProbs).toEqual(adapted);
    }
    expect((await service.removeAdapter()).adapter).toBeNull();
    expect((await service.score(words)).logProbs).toEqual(base);
  });

  it('for another base are refused, and the model stays', async () => {
    await service.inspect({ kind: 'embedded' });
    await service.load(inputs);
    const foreign = picked(zipPeft(adapterFor()), 'foreign.zip');
    expect(await rejection(service.importAdapter(foreign))).toMatchObject({ code: 'adapter-mismatch' });
    const noise = picked(new TextEncoder().encode('noise'), 'x.bin');
    expect(await rejection(service.importAdapter(noise))).toMatchObject({ code: 'bad-adapter' });
    expect(service.loaded()?.label).toBe('the embedded model');
  });
});

describe('a model of the hub', () => {
  const server = new RangeServer();

  beforeAll(async () => {
    hub = { host: await server.start() };
  });
  beforeEach(() => {
    server.reset();
    server.files.set('model-Q4_0.gguf', { bytes });
  });
  afterAll(() => server.stop());

  it('is looked at, then fetched, kept, and deleted', async () => {
    const facts = await service.inspect({ kind: 'hub', id: 'owner/name@main' });
    expect(facts.download).toMatchObject({ repository: 'owner/name', totalBytes: bytes.length });
    expect((await service.plan(inputs)).verdict).toBe('fits');
    expect(await service.load(inputs)).toMatchObject({ label: expect.stringContaining('gguf') });
    expect(await service.kept()).toEqual([{ repository: 'owner/name', bytes: bytes.length, complete: true }]);
    const again = await service.inspect({ kind: 'hub', id: 'owner/name@main' });
    expect(again.download?.fetchBytes).toBe(0);
    await service.removeKept('owner/name');
    expect(await service.kept()).toEqual([]);
    expect(await rejection(service.plan(inputs))).toMatchObject({ code: 'nothing-chosen' });
  });

  it('that lies is discarded', async () => {
    server.lies.set('model-Q4_0.gguf', '0'.repeat(64));
    // Small enough to be fetched for a first look.
    const looked = rejection(service.inspect({ kind: 'hub', id: 'owner/name' }));
    expect(await looked).toMatchObject({ code: 'hash-mismatch' });
    expect(await service.kept()).toEqual([]);
  });
});

describe('experience models', () => {
  const good =
    '{"reasoning":"it is there","valid":true,"observation":"at countertop 1 see nothing","reward":0,"done":false}';

  async function ask(content: string) {
    const asked: { url: string; body: { messages: { content: string }[] }; key: string | null }[] = [];
    fetch = async (url, init) => {
      const key = new Headers(init?.headers).get('authorization');
      asked.push({ url: String(url), body: JSON.parse(String(init?.body)), key });
      return Response.json({ choices: [{ message: { content }, finish_reason: 'stop' }] });
    };
    const [task] = service.experienceTasks();
    const request = { taskId: task.id, action: task.suggestion, temperature: 0, maxTokens: 200, seed: 1 };
    const target = { kind: 'endpoint' as const, baseUrl: 'http://localhost:1', model: 'some-model', key: 'secret-key' };
    return { reply: await service.ask(target, request), asked, task, request };
  }

  it('an endpoint is asked as the dream asks it, and its answer is read', async () => {
    const { reply, asked, task } = await ask(good);
    expect(asked).toHaveLength(1);
    expect(asked[0].body.messages.at(-1)?.content).toContain(JSON.stringify(task.suggestion));
    expect(asked[0].key).toContain('secret-key');
    expect(reply).toMatchObject({
      raw: [good],
      observation: 'at countertop 1 see nothing',
      lost: false,
      tooLong: false,
      reward: 0,
    });
    expect(JSON.stringify(reply)).not.toContain('secret-key');
  });

  it('what cannot be read is asked once more, then lost; a loaded model without a template cannot be asked', async () => {
    const { reply, asked, request } = await ask('I am a teapot');
    expect(asked).toHaveLength(2);
    expect(reply).toMatchObject({ lost: true, raw: ['I am a teapot', 'I am a teapot'] });
    await loadTalking();
    // Its context is shorter than any question.
    expect(await service.ask({ kind: 'loaded' }, request)).toMatchObject({ lost: true, tooLong: true, raw: ['', ''] });
    await service.inspect({ kind: 'embedded' });
    await service.load(inputs);
    expect(await rejection(service.ask({ kind: 'loaded' }, request))).toMatchObject({ code: 'no-chat-template' });
  });
});

describe('a lost device', () => {
  it('takes the model with it, says so, and another loading opens a new one', async () => {
    await loadTalking();
    const before = devices.length;
    devices[before - 1].destroy();
    await expect.poll(() => events.some((event) => event.type === 'lost')).toBe(true);
    expect(service.loaded()).toBeNull();
    await service.load(inputs);
    expect(devices).toHaveLength(before + 1);
    expect(checks).toBe(2);
    expect((await service.score('hello world')).perplexity).toBeGreaterThan(1);
  });
});
