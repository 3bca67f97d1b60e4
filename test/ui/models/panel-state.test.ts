/** @file The panel's behaviour without a page: choices, plans, loading, failures, and a worker that dies. */
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { DreamError } from '../../../src/data/errors';
import * as choosing from '../../../src/ui/models/choosing';
import * as connection from '../../../src/ui/models/connection';
import { defaultInputs } from '../../../src/ui/models/plan-inputs';
import * as using from '../../../src/ui/models/using';
import type { GenerateAnswer, LoadedFacts, ModelFacts, PlanAnswer } from '../../../src/worker/models/protocol';
import { type FakeModels, fakeModels, held, someFacts, someLoaded, somePlan } from './fake-models';

const file = [{ path: 'some.gguf', file: new Blob(['x']) }];

function use(fake: FakeModels): FakeModels {
  connection.connectBy(() => fake.remote);
  return fake;
}

const settled = () => new Promise((resolve) => setTimeout(resolve, 5));

beforeEach(() => {
  choosing.kind.value = 'embedded';
  choosing.facts.value = null;
  choosing.plan.value = null;
  choosing.inputs.value = defaultInputs;
  connection.loaded.value = null;
  connection.problem.value = null;
  connection.progress.value = null;
  connection.streamed.value = '';
  using.answer.value = null;
});

describe('choosing', () => {
  it('shows what the headers say, with a plan, before anything is loaded', async () => {
    const { calls } = use(fakeModels());
    await choosing.inspectFiles(file);
    expect(choosing.facts.value).toBe(someFacts);
    expect(choosing.plan.value).toBe(somePlan);
    expect(choosing.loadBlocked.value).toBeNull();
    expect(calls.map(({ method }) => method)).toEqual(['subscribe', 'inspect', 'plan']);
  });

  it('starts no worker before something is asked', () => {
    const connect = vi.fn();
    connection.connectBy(connect);
    choosing.chooseKind('hub');
    expect(connect).not.toHaveBeenCalled();
  });

  it('a context that the model does not have is lowered to what it has', async () => {
    const facts: ModelFacts = { ...someFacts, config: { ...someFacts.config, contextLength: 640 } };
    const { calls } = use(fakeModels({ inspect: () => facts }));
    await choosing.inspectFiles(file);
    expect(choosing.inputs.value.contextLength).toBe(640);
    expect(calls.find(({ method }) => method === 'plan')?.args[0]).toMatchObject({ contextLength: 640 });
  });

  it('only the newest choice counts', async () => {
    const first = held<ModelFacts>();
    let asked = 0;
    use(fakeModels({ inspect: () => (asked++ === 0 ? first.promise : { ...someFacts, label: 'second' }) }));
    const older = choosing.inspectFiles(file);
    await settled();
    await choosing.inspectFiles(file);
    first.fail(new DreamError('superseded', 'Another was chosen.', ''));
    await older;
    expect(choosing.facts.value?.label).toBe('second');
    expect(connection.problem.value).toBeNull();
    expect(choosing.inspecting.value).toBe(false);
  });

  it('a file that is no model is told where it was chosen', async () => {
    use(
      fakeModels({
        inspect: () => {
          throw new DreamError('unsafe-format', 'It is a pickle.', 'Take a GGUF.');
        },
      }),
    );
    await choosing.inspectFiles(file);
    expect(connection.problem.value).toMatchObject({
      place: 'choose',
      card: { title: 'These files are no model', text: 'It is a pickle.', advice: ['Take a GGUF.'], level: 'error' },
    });
  });
});

describe('the plan', () => {
  it('is asked again at every move, and older answers are dropped', async () => {
    const slow = held<PlanAnswer>();
    let asked = 0;
    use(fakeModels({ plan: () => (asked++ === 1 ? slow.promise : { ...somePlan, weights: asked }) }));
    await choosing.inspectFiles(file);
    choosing.setInput('rank', 16);
    await settled();
    choosing.setInput('rank', 32);
    await settled();
    slow.settle({ ...somePlan, weights: -1 });
    await settled();
    expect(choosing.plan.value?.weights).toBe(3);
    expect(choosing.inputs.value.rank).toBe(32);
  });

  it.each([
    ['does not fit', { verdict: 'no' as const }, /does not fit/],
    ['has no device', { device: null }, /No graphics processor/],
  ])('that %s blocks the loading, with the reason', async (_name, changes, reason) => {
    const { calls } = use(fakeModels({ plan: () => ({ ...somePlan, ...changes }) }));
    await choosing.inspectFiles(file);
    expect(choosing.loadBlocked.value).toMatch(reason);
    await choosing.load();
    expect(calls.some(({ method }) => method === 'load')).toBe(false);
  });
});

describe('loading', () => {
  it('shows progress while it lasts, and what is loaded afterwards', async () => {
    const loading = held<LoadedFacts>();
    const { emit } = use(fakeModels({ load: () => loading.promise }));
    await choosing.inspectFiles(file);
    const done = choosing.load();
    await settled();
    const progress = { detail: 'embed', done: 5, total: 10, bytesPerSecond: 1, secondsLeft: 5, paused: false };
    emit({ type: 'progress', progress: { phase: 'loading', ...progress } });
    expect(connection.progress.value?.done).toBe(5);
    expect(connection.activity.value).toBe('load');
    loading.settle(someLoaded);
    await done;
    expect(connection.loaded.value).toBe(someLoaded);
    expect(connection.progress.value).toBeNull();
    // A report that comes after the end stays out.
    emit({ type: 'progress', progress: { phase: 'loading', ...progress } });
    expect(connection.progress.value).toBeNull();
  });

  it('a failure is told, and what made room before is no longer called loaded', async () => {
    use(
      fakeModels({
        load: () => {
          throw new DreamError('gpu-out-of-memory', 'No room.', 'The plan says: a shorter context.');
        },
      }),
    );
    connection.loaded.value = someLoaded;
    await choosing.inspectFiles(file);
    await choosing.load();
    expect(connection.loaded.value).toBeNull();
    expect(connection.problem.value).toMatchObject({
      place: 'load',
      card: { title: /no memory left/, advice: ['The plan says: a shorter context.'] },
    });
  });

  it('a stop on purpose is no error', async () => {
    use(
      fakeModels({
        load: () => {
          throw new DreamError('stopped', 'It was stopped.', 'Nothing was left.');
        },
      }),
    );
    await choosing.inspectFiles(file);
    await choosing.load();
    expect(connection.problem.value?.card).toMatchObject({ level: 'info', title: 'Stopped' });
  });

  it('a lost device takes the model from the page', async () => {
    const { emit } = use(fakeModels());
    await choosing.inspectFiles(file);
    await choosing.load();
    emit({ type: 'lost', error: { code: 'gpu-lost', message: 'It was reset (driver).', advice: 'Load it again.' } });
    expect(connection.loaded.value).toBeNull();
    expect(connection.problem.value).toMatchObject({
      place: 'load',
      card: { title: 'The graphics processor was reset', text: 'It was reset (driver).', advice: ['Load it again.'] },
    });
  });

  it('a worker that died is replaced by the next thing asked', async () => {
    const dead = fakeModels();
    const next = fakeModels();
    let started = 0;
    connection.connectBy(() => (started++ === 0 ? dead : next).remote);
    await choosing.inspectFiles(file);
    await choosing.load();
    dead.crash();
    await settled();
    expect(connection.loaded.value).toBeNull();
    expect(connection.problem.value?.card.title).toMatch(/stopped unexpectedly/);
    await choosing.inspectFiles(file);
    expect(next.calls.some(({ method }) => method === 'inspect')).toBe(true);
  });
});

describe('using', () => {
  const words: GenerateAnswer = {
    tokens: [1, 2],
    names: ['hel', 'lo'],
    logProbs: [-1, -2],
    text: 'hello',
    promptTokens: 3,
    ended: 'model',
    tokensPerSecond: 10,
    firstSeconds: 0.1,
  };

  it('text comes piece by piece, and one thing is done at a time', async () => {
    const writing = held<GenerateAnswer>();
    const { emit, calls } = use(fakeModels({ generate: () => writing.promise }));
    connection.loaded.value = { ...someLoaded, hasChatTemplate: false };
    using.prompt.value = 'say hello';
    const done = using.generate();
    await settled();
    emit({ type: 'text', text: 'hel', tokens: 1 });
    emit({ type: 'text', text: 'lo', tokens: 2 });
    expect(connection.streamed.value).toBe('hello');
    using.scoreText.value = 'x y';
    await using.weigh();
    expect(calls.some(({ method }) => method === 'score')).toBe(false);
    writing.settle(words);
    await done;
    expect(using.answer.value).toBe(words);
    // Without a template the wish for one is not passed on.
    expect(calls.find(({ method }) => method === 'generate')?.args[0]).toMatchObject({ chat: false });
  });

  it('a wrong adapter is told at the adapter, and the model stays', async () => {
    use(
      fakeModels({
        importAdapter: () => {
          throw new DreamError('adapter-mismatch', 'It is for another base.', 'Load that.');
        },
        loaded: () => someLoaded,
      }),
    );
    connection.loaded.value = someLoaded;
    await using.importAdapter(file);
    expect(connection.loaded.value).toBe(someLoaded);
    expect(connection.problem.value).toMatchObject({
      place: 'adapter',
      card: { title: 'This adapter cannot be used' },
    });
  });
});
