import 'fake-indexeddb/auto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { DreamError } from '../../src/data/errors';
import { readRunRecord } from '../../src/data/importers/run-record';
import { checkConfig } from '../../src/dream/presets';
import { Database } from '../../src/store/database';
import { IndexedDbRunStore } from '../../src/store/indexeddb-run-store';
import type { RunConfig, RunEvent } from '../../src/worker/protocol';
import { StorageKeeper } from '../../src/worker/storage-keeper';
import { TrainerService } from '../../src/worker/trainer';
import { type FakeMachine, fakeMachine } from './fake-engine';

const settings: Partial<RunConfig> = {
  seed: 7,
  iterations: 4,
  tasksPerIteration: 6,
  groupSize: 6,
  maxSteps: 4,
  learningRate: 1e-3,
  lambda: 0.4,
  evalEvery: 2,
  evalTasks: 20,
  bufferCapacity: 200,
};

let names = 0;
let database: string;
let trainers: TrainerService[] = [];

interface Page {
  trainer: TrainerService;
  machine: FakeMachine;
  events: RunEvent[];
  store: IndexedDbRunStore;
  until(what: (event: RunEvent) => boolean): Promise<RunEvent>;
  phase(name: string): Promise<RunEvent>;
}

/** A tab: closing it is forgetting it, as a crash does. */
function openPage(machine = fakeMachine()): Page {
  const store = new IndexedDbRunStore({ database: new Database(database) });
  const events: RunEvent[] = [];
  const notices: string[] = [];
  const trainer: TrainerService = new TrainerService({
    openEngine: machine.openEngine,
    storage: new StorageKeeper((message) => {
      notices.push(message);
      events.push({ type: 'notice', level: 'warning', message });
    }, store),
    reopenDelayMs: 1,
  });
  trainers.push(trainer);
  const waiting: { what: (event: RunEvent) => boolean; resolve: (event: RunEvent) => void }[] = [];
  trainer.subscribe((event) => {
    events.push(structuredClone(event));
    for (const { what, resolve } of waiting) if (what(event)) resolve(event);
  });
  const until = (what: (event: RunEvent) => boolean) =>
    new Promise<RunEvent>((resolve) => {
      waiting.push({ what, resolve });
    });
  return {
    trainer,
    machine,
    events,
    store,
    until,
    phase: (name) => until((event) => event.type === 'progress' && event.progress.phase === name),
  };
}

const iterationsIn = (events: RunEvent[]) =>
  events.flatMap((e) => (e.type === 'iteration' ? [e.metrics.iteration] : []));
const errorsIn = (events: RunEvent[]) => events.flatMap((e) => (e.type === 'error' ? [e.error.code] : []));
const isIteration = (n: number) => (event: RunEvent) => event.type === 'iteration' && event.metrics.iteration === n;

async function recordOf(page: Page) {
  return (await readRunRecord(await page.trainer.exportRun(), checkConfig)).record;
}

/** What an undisturbed run ends with. */
async function undisturbed(): Promise<string | null> {
  const here = database;
  database = `trainer-${names++}`;
  const page = openPage();
  const finished = page.phase('finished');
  await page.trainer.start(settings);
  await finished;
  const { weightsHash } = await recordOf(page);
  database = here;
  return weightsHash;
}

/** Slow enough that a command can arrive in the middle of an iteration. */
const slowMachine = () =>
  fakeMachine((policy) => {
    policy.stepMs = 80;
  });

beforeEach(() => {
  database = `trainer-${names++}`;
  trainers = [];
});

afterEach(async () => {
  vi.restoreAllMocks();
  await Promise.all(trainers.map((trainer) => trainer.stop()));
});

describe('a run in the background', () => {
  it('goes from loading to finished; every iteration arrives once, in order', async () => {
    const page = openPage();
    const finished = page.phase('finished');
    await page.trainer.start(settings);
    expect(['loading', 'self-test']).toContain(page.trainer.status().progress.phase);
    await finished;
    expect(iterationsIn(page.events)).toEqual([1, 2, 3, 4]);
    expect(page.events.filter((e) => e.type === 'evaluation').map((e) => e.evaluation.iteration)).toEqual([0, 2, 4]);
    expect(page.events.find((e) => e.type === 'adapter')).toEqual({
      type: 'adapter',
      adapter: 'plain code',
      software: true,
      gpuBytes: 99,
    });
    const status = page.trainer.status();
    expect(status).toMatchObject({
      adapter: 'plain code',
      error: null,
      progress: { phase: 'finished', iteration: 4, iterations: 4 },
    });
    expect(status.metrics.map((m) => m.iteration)).toEqual([1, 2, 3, 4]);
    expect(await page.trainer.lastRun()).toBeNull();
  });

  it('refuses settings that are wrong, a second start, and resuming nothing', async () => {
    const { trainer } = openPage();
    await expect(trainer.start({ groupSize: -1 })).rejects.toMatchObject({ code: 'config-invalid' });
    await expect(trainer.resume()).rejects.toMatchObject({ code: 'nothing-to-resume' });
    await expect(trainer.exportRun()).rejects.toMatchObject({ code: 'nothing-to-export' });
    await trainer.start(settings);
    await expect(trainer.start(settings)).rejects.toMatchObject({ code: 'already-running' });
  });

  it('pauses, steps one iteration at a time, and goes on', async () => {
    const page = openPage();
    let paused = page.phase('paused');
    await page.trainer.step(settings);
    await paused;
    expect(iterationsIn(page.events)).toEqual([1]);
    paused = page.until((e) => e.type === 'progress' && e.progress.phase === 'paused' && e.progress.iteration === 2);
    await page.trainer.step();
    await paused;
    expect(iterationsIn(page.events)).toEqual([1, 2]);
    const finished = page.phase('finished');
    await page.trainer.resume();
    await finished;
    expect(iterationsIn(page.events)).toEqual([1, 2, 3, 4]);
    expect((await recordOf(page)).weightsHash).toBe(await undisturbed());
  });

  it('stops at once, keeps the last finished iteration, and can go on from it', async () => {
    const page = openPage(slowMachine());
    const second = page.until(isIteration(2));
    await page.trainer.start(settings);
    await second;
    await page.trainer.stop();
    expect(page.trainer.status().progress.phase).toBe('stopped');
    expect((await page.trainer.lastRun())?.iteration).toBeGreaterThanOrEqual(2);
    const finished = page.phase('finished');
    await page.trainer.resume();
    await finished;
    expect((await recordOf(page)).weightsHash).toBe(await undisturbed());
  });

  it('can be stopped while it loads', async () => {
    const page = openPage();
    await page.trainer.start(settings);
    await page.trainer.stop();
    expect(page.trainer.status().progress.phase).toBe('stopped');
    expect(iterationsIn(page.events)).toEqual([]);
  });

  it('reset forgets the run', async () => {
    const page = openPage();
    const first = page.until(isIteration(1));
    await page.trainer.start(settings);
    await first;
    await page.trainer.reset();
    expect(page.trainer.status()).toMatchObject({ runId: null, metrics: [], progress: { phase: 'idle' } });
    expect(await page.trainer.lastRun()).toBeNull();
    expect(await page.store.list()).toEqual([]);
  });

  it('a second run starts from the warm start again, on the same engine', async () => {
    const page = openPage();
    for (let i = 0; i < 2; i++) {
      const finished = page.phase('finished');
      await page.trainer.start(settings);
      await finished;
    }
    expect(page.machine.engines).toHaveLength(1);
    expect((await recordOf(page)).weightsHash).toBe(await undisturbed());
    expect((await page.trainer.storage()).runs).toHaveLength(2);
    await page.trainer.deleteRun((await page.trainer.storage()).runs[1].runId);
    expect((await page.trainer.storage()).runs).toHaveLength(1);
    await page.trainer.deleteEverything();
    expect(await page.trainer.storage()).toMatchObject({ kept: 'browser', runs: [] });
  });

  it('shows tasks and the buffer while running and after', async () => {
    const page = openPage();
    const paused = page.phase('paused');
    await page.trainer.step(settings);
    await paused;
    const live = [await page.trainer.tasks(), await page.trainer.buffer('', 1000)] as const;
    expect(live[0].length).toBeGreaterThan(5);
    expect(live[0][0]).not.toHaveProperty('task');
    expect(live[1].length).toBeGreaterThan(5);
    const found = await page.trainer.buffer('OPEN shut', 3);
    expect(found).toHaveLength(3);
    expect(found.every((entry) => entry.action === 'open' || /open/.test(entry.nextState))).toBe(true);
    expect(await page.trainer.buffer('no such words', 10)).toEqual([]);
    await page.trainer.stop();
    expect([await page.trainer.tasks(), await page.trainer.buffer('', 1000)]).toEqual(live);
  });
});

describe('crash, reload, lost device', () => {
  it('a reload in the middle goes on and ends bit-identical', async () => {
    const before = openPage(slowMachine());
    const second = before.until(isIteration(2));
    await before.trainer.start(settings);
    await second;
    // The tab dies: nothing of it is asked any more.
    before.machine.engines[0].policy.silent = true;

    const after = openPage();
    const last = await after.trainer.lastRun();
    expect(last).toMatchObject({ config: { seed: 7 } });
    expect(last?.iteration).toBeGreaterThanOrEqual(2);
    const finished = after.phase('finished');
    await after.trainer.resume();
    // At once there is something to show.
    expect(after.trainer.status().metrics.length).toBe(last?.iteration);
    await finished;
    expect(iterationsIn(after.events)).toEqual([1, 2, 3, 4].slice(last?.iteration));
    expect((await recordOf(after)).weightsHash).toBe(await undisturbed());
    trainers = [];
  });

  it.each(['kill', 'hang'] as const)(
    'a device that is lost (%s) is opened again; the result is the same',
    async (how) => {
      let steps = 0;
      const machine = fakeMachine((policy, count) => {
        if (count === 1)
          policy.beforeStep = () => {
            if (++steps === 4) machine.engines[0][how]();
          };
      });
      const page = openPage(machine);
      const finished = page.phase('finished');
      await page.trainer.start(settings);
      await finished;
      expect(machine.engines).toHaveLength(2);
      expect(machine.engines[0].closed).toBe(true);
      expect(errorsIn(page.events)).toEqual(['device-lost']);
      expect(iterationsIn(page.events)).toEqual([1, 2, 3, 4]);
      const phases = page.events.flatMap((e) => (e.type === 'progress' ? [e.progress.phase] : []));
      expect(phases).not.toContain('failed');
      expect((await recordOf(page)).weightsHash).toBe(await undisturbed());
    },
  );

  it('a device lost while paused is opened again, still paused', async () => {
    const page = openPage();
    const paused = page.phase('paused');
    await page.trainer.step(settings);
    await paused;
    page.machine.engines[0].kill();
    await vi.waitFor(() => expect(page.machine.engines).toHaveLength(2));
    await vi.waitFor(() =>
      expect(page.trainer.status().progress).toMatchObject({ phase: 'paused', iteration: 1, detail: '' }),
    );
    const finished = page.phase('finished');
    await page.trainer.resume();
    await finished;
    expect((await recordOf(page)).weightsHash).toBe(await undisturbed());
  });

  it('gives up after three reopenings in a row, paused, and resumes when asked', async () => {
    let dying = true;
    const machine = fakeMachine((policy) => {
      policy.beforeStep = () => {
        if (dying) machine.engines.at(-1)?.kill();
      };
    });
    const page = openPage(machine);
    const gaveUp = page.until((e) => e.type === 'error' && e.error.code === 'device-lost-again');
    await page.trainer.start(settings);
    await gaveUp;
    await vi.waitFor(() => expect(page.trainer.status().progress.phase).toBe('paused'));
    expect(machine.engines).toHaveLength(4);
    expect(errorsIn(page.events)).toEqual(['device-lost', 'device-lost', 'device-lost', 'device-lost-again']);
    dying = false;
    const finished = page.phase('finished');
    await page.trainer.resume();
    expect(page.trainer.status().error).toBeNull();
    await finished;
    expect((await recordOf(page)).weightsHash).toBe(await undisturbed());
  });

  it('waits for a browser that offers no adapter right after its GPU process died', async () => {
    let steps = 0;
    const noAdapter = () => new DreamError('no-adapter', 'none offered', 'update');
    const machine = fakeMachine((policy, count) => {
      policy.beforeStep = () => {
        if (count > 1 || ++steps < 3) return;
        machine.failures.push(noAdapter(), noAdapter());
        machine.engines[0].kill();
      };
    });
    const patient = openPage(machine);
    const finished = patient.phase('finished');
    await patient.trainer.start(settings);
    await finished;
    expect(errorsIn(patient.events)).toEqual(['device-lost']);
    expect((await recordOf(patient)).weightsHash).toBe(await undisturbed());
  });

  it('a commit that succeeded just before the device died is still announced', async () => {
    const page = openPage();
    const save = page.store.save.bind(page.store);
    vi.spyOn(page.store, 'save').mockImplementation(async (iteration, snapshot) => {
      await save(iteration, snapshot);
      if (iteration !== 2 || page.machine.engines.length > 1) return;
      page.machine.engines[0].hang();
      await new Promise((resolve) => setTimeout(resolve, 30));
    });
    const finished = page.phase('finished');
    await page.trainer.start(settings);
    await finished;
    expect(iterationsIn(page.events)).toEqual([1, 2, 3, 4]);
    expect((await recordOf(page)).weightsHash).toBe(await undisturbed());
  });

  it('a device that cannot be opened, or fails its self-test, fails the run with its own words', async () => {
    const page = openPage();
    page.machine.failures.push(new DreamError('self-test-failed', 'matmul is wrong', 'Update the driver.'));
    const failed = page.phase('failed');
    await page.trainer.start(settings);
    await failed;
    expect(page.trainer.status()).toMatchObject({ error: { code: 'self-test-failed' }, progress: { phase: 'failed' } });
    expect(errorsIn(page.events)).toEqual(['self-test-failed']);
    const finished = page.phase('finished');
    await page.trainer.start(settings);
    expect(page.trainer.status().error).toBeNull();
    await finished;
  });
});

describe('storage that refuses', () => {
  it('full in the middle: paused with advice; resume goes on from the last finished iteration', async () => {
    const page = openPage();
    const save = page.store.save.bind(page.store);
    let full = true;
    vi.spyOn(page.store, 'save').mockImplementation(async (iteration, snapshot) => {
      if (iteration === 3 && full) throw new DreamError('storage-full', 'No room.', 'Delete something.');
      await save(iteration, snapshot);
    });
    const paused = page.phase('paused');
    await page.trainer.start(settings);
    await paused;
    expect(page.trainer.status()).toMatchObject({ error: { code: 'storage-full' }, progress: { iteration: 2 } });
    expect((await recordOf(page)).metrics).toHaveLength(2);
    full = false;
    const finished = page.phase('finished');
    await page.trainer.resume();
    await finished;
    expect(iterationsIn(page.events)).toEqual([1, 2, 3, 4]);
    expect((await recordOf(page)).weightsHash).toBe(await undisturbed());
  });

  it('denied: says so once; who starts again trains in memory, with a notice', async () => {
    const page = openPage();
    vi.spyOn(indexedDB, 'open').mockImplementation(() => {
      throw new DOMException('denied', 'SecurityError');
    });
    expect(await page.trainer.lastRun()).toBeNull();
    await expect(page.trainer.start(settings)).rejects.toMatchObject({ code: 'storage-denied', advice: /Start again/ });
    const finished = page.phase('finished');
    await page.trainer.start(settings);
    await finished;
    expect(page.events.find((e) => e.type === 'notice')).toMatchObject({ message: /lives only in this tab/ });
    expect(await page.trainer.storage()).toMatchObject({ kept: 'memory', usageBytes: null });
    const { weightsHash, rollouts } = await recordOf(page);
    expect(rollouts.map((r) => r.iteration)).toEqual([1, 2, 3, 4]);
    vi.restoreAllMocks();
    expect(weightsHash).toBe(await undisturbed());
  });

  it('another tab at the same run: run-locked, and a new run may begin', async () => {
    const held = new Set<string>();
    const request = async (name: string, { signal }: LockOptions, work: (lock: Lock) => Promise<void>) => {
      if (held.has(name))
        return new Promise((_, reject) =>
          signal?.addEventListener('abort', () => reject(new DOMException('', 'AbortError'))),
        );
      held.add(name);
      await work({ name, mode: 'exclusive' });
      held.delete(name);
    };
    vi.stubGlobal('navigator', { locks: { request } });
    const [one, two] = [openPage(), openPage()];
    const paused = one.phase('paused');
    await one.trainer.step(settings);
    await paused;
    await expect(two.trainer.resume()).rejects.toMatchObject({ code: 'run-locked' });
    await expect(two.trainer.deleteRun(one.trainer.status().runId!)).rejects.toMatchObject({ code: 'run-locked' });
    await two.trainer.start({ ...settings, seed: 8 });
    await two.trainer.stop();
    await one.trainer.stop();
    expect(held.size).toBe(0);
    vi.unstubAllGlobals();
  });
});

describe('import', () => {
  it('returns a record to look at, with notices, and leaves the run alone', async () => {
    const page = openPage();
    const finished = page.phase('finished');
    await page.trainer.start(settings);
    await finished;
    const record = await page.trainer.importRun(await page.trainer.exportRun());
    expect(record.metrics).toEqual(page.trainer.status().metrics);
    await expect(page.trainer.importRun(new Uint8Array(3))).rejects.toMatchObject({ code: 'not-a-run' });
    expect(page.trainer.status().progress.phase).toBe('finished');
  });
});
