import fc from 'fast-check';
import { gzipSync, strFromU8, strToU8, unzipSync, zipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import { DreamError } from '../../src/data/errors';
import { csvCell } from '../../src/data/exporters/csv';
import { metricsCsv, writeRunRecord } from '../../src/data/exporters/run-record';
import { readRunRecord } from '../../src/data/importers/run-record';
import { checkConfig, presets } from '../../src/dream/presets';
import { defaultTextSettings } from '../../src/dream/text-household/settings';
import type { RunRecord } from '../../src/worker/protocol';
import { evaluationAt, metricsAt, storedTask, trajectoryOf } from '../store/snapshots';

const { task: _, ...poolTask } = storedTask('cup', 2);

const record = (): RunRecord => ({
  format: 'dreamgym-run',
  version: 1,
  runId: 'run-a',
  created: '2026-01-01T00:00:00.000Z',
  adapter: 'test adapter',
  config: presets['household-quick'],
  metrics: [metricsAt(1), { ...metricsAt(2), evaluation: evaluationAt(2) }],
  evaluations: [evaluationAt(0), evaluationAt(2)],
  rollouts: [
    { iteration: 1, trajectories: [trajectoryOf(1), trajectoryOf(1, 'open "box", then =go\n2')] },
    { iteration: 2, trajectories: [{ ...trajectoryOf(2), replay: { success: false, firstMismatch: 3 } }] },
  ],
  tasks: [poolTask],
  weightsHash: 'ab12',
});

const model = {
  label: 'A model',
  sha256: 'f'.repeat(64),
  rank: 8,
  alpha: 16,
  contextLength: 2048,
  parallel: 4,
  world: 'shop',
  precision: 'f16' as const,
  text: { ...defaultTextSettings, warmStart: 7, constrain: 'none' as const },
};

const read = (bytes: Uint8Array) => readRunRecord(bytes, checkConfig);
const json = (value: unknown) => strToU8(JSON.stringify(value));
const refusal = async (bytes: Uint8Array): Promise<string> => {
  const error: unknown = await read(bytes).then(
    () => 'accepted',
    (reason: unknown) => reason,
  );
  if (!(error instanceof DreamError)) throw new Error(`not a DreamError: ${String(error)}`);
  expect(error.advice.length).toBeGreaterThan(10);
  return error.code;
};
const repacked = (change: (entries: Record<string, Uint8Array>) => void): Uint8Array => {
  const entries = unzipSync(writeRunRecord(record()));
  change(entries);
  return zipSync(entries);
};

describe('an exported run', () => {
  it('comes back equal, from zip, from JSON and from gzipped JSON', async () => {
    expect(await read(writeRunRecord(record()))).toEqual({ record: record(), notices: [] });
    expect((await read(json(record()))).record).toEqual(record());
    expect((await read(gzipSync(json(record())))).record).toEqual(record());
    // A real model's run goes on as it began: how it speaks, how it caches, in which world.
    expect((await read(writeRunRecord({ ...record(), model }))).record.model).toEqual(model);
  });

  it('keeps each task’s visits; older records have none, and none is invented', async () => {
    const history = [{ iteration: 2, success: 0.5, variance: 0.25 }];
    const visited = { ...record(), tasks: [{ ...poolTask, history }] };
    expect((await read(writeRunRecord(visited))).record.tasks).toEqual(visited.tasks);
    expect((await read(json(record()))).record.tasks[0]).not.toHaveProperty('history');
    for (const wrong of [[{ iteration: 2, success: 7, variance: 0 }], [{ iteration: 2 }], 'often']) {
      const made = { ...record(), tasks: [{ ...poolTask, history: wrong }] };
      expect(await refusal(json(made))).toBe('corrupt-run');
    }
  });

  it('holds four files and gives the same bytes every time', () => {
    const bytes = writeRunRecord(record());
    expect(Object.keys(unzipSync(bytes)).sort()).toEqual(['README.txt', 'metrics.csv', 'rollouts.jsonl', 'run.json']);
    expect(writeRunRecord(record())).toEqual(bytes);
    expect(strFromU8(unzipSync(bytes)['README.txt'])).toMatch(/2 of 10 iterations of household-quick, seed 1/);
  });

  it('has a table whose first column is step, one row an iteration', () => {
    const [header, ...rows] = metricsCsv(record()).trimEnd().split('\r\n');
    expect(header.split(',').slice(0, 3)).toEqual(['step', 'trainReward', 'replayPrecision']);
    expect(rows.map((row) => row.split(',')[0])).toEqual(['0', '1', '2']);
    const column = header.split(',').indexOf('realSuccess');
    expect(rows.map((row) => row.split(',')[column])).toEqual(['0.5', '', '0.5']);
    expect(rows[1].split(',')[header.split(',').indexOf('loss')]).toBe('-0.01');
  });

  it('has cells no spreadsheet takes for formulas', () => {
    for (const evil of ['=1+1', '+1', '-1+1', '@SUM(A1)', '\t=1', ' =1', '\r=1']) expect(csvCell(evil)).toMatch(/^"?'/);
    expect(csvCell('put a "cup", now')).toBe('"put a ""cup"", now"');
    expect([csvCell(-1.5), csvCell(null), csvCell(Number.NaN), csvCell(true), csvCell('a')]).toEqual([
      '-1.5',
      '',
      '',
      '1',
      'a',
    ]);
  });
});

describe('an import that is refused or forgiven', () => {
  it('foreign files are not-a-run', async () => {
    expect(await refusal(new Uint8Array())).toBe('not-a-run');
    expect(await refusal(strToU8('hello'))).toBe('not-a-run');
    expect(await refusal(Uint8Array.of(0xff, 0xfe, 0))).toBe('not-a-run');
    expect(await refusal(json({ format: 'other' }))).toBe('not-a-run');
    expect(await refusal(json(null))).toBe('not-a-run');
    expect(await refusal(zipSync({ 'model.bin': strToU8('x') }))).toBe('not-a-run');
    expect(await refusal(gzipSync(strToU8('no json')))).toBe('not-a-run');
  });

  it('newer ones are newer-run', async () => {
    expect(await refusal(json({ ...record(), version: 2 }))).toBe('newer-run');
  });

  it('wrong values, settings out of range and lies about prototypes are corrupt', async () => {
    expect(await refusal(json({ ...record(), metrics: [{ iteration: 'one' }] }))).toBe('corrupt-run');
    expect(await refusal(json({ ...record(), version: 'x' }))).toBe('corrupt-run');
    expect(await refusal(json({ ...record(), config: { ...record().config, groupSize: 1e9 } }))).toBe('corrupt-run');
    const withProto = JSON.stringify(record()).replace('"data":{', '"data":{"__proto__":{"polluted":1},');
    expect(withProto).toContain('__proto__');
    expect(await refusal(strToU8(withProto))).toBe('not-a-run');
    expect(
      await refusal(
        repacked((e) => {
          e['rollouts.jsonl'] = strToU8(`${withProto}\n`);
        }),
      ),
    ).toBe('corrupt-run');
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });

  it('a zip that is cut off anywhere is refused or still whole', async () => {
    const bytes = writeRunRecord(record());
    for (let end = 0; end < bytes.length; end += 37) {
      const outcome = await read(bytes.slice(0, end)).then(
        (r) => r,
        (e: unknown) => e,
      );
      if (outcome instanceof DreamError) expect(['not-a-run', 'corrupt-run']).toContain(outcome.code);
      else expect((outcome as { record: RunRecord }).record.runId).toBe('run-a');
    }
  });

  it('unknown entries are named and ignored, whatever they are called', async () => {
    const bytes = repacked((entries) => {
      entries['../../evil.sh'] = strToU8('rm');
      entries['notes.txt'] = strToU8('mine');
    });
    const { record: same, notices } = await read(bytes);
    expect(same).toEqual(record());
    expect(notices).toEqual([expect.stringMatching(/evil\.sh.*notes\.txt/)]);
  });

  it('missing rollouts are a notice', async () => {
    const { record: rest, notices } = await read(
      repacked((entries) => {
        delete entries['rollouts.jsonl'];
      }),
    );
    expect(rest.rollouts).toEqual([]);
    expect(notices).toHaveLength(1);
  });

  it('bombs are stopped by what comes out, not by what they declare', async () => {
    const zeros = new Uint8Array(12 * 2 ** 20);
    const bomb = repacked((entries) => {
      entries['rollouts.jsonl'] = zeros;
    });
    const before = process.memoryUsage().arrayBuffers;
    expect(await refusal(bomb)).toBe('corrupt-run');
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 * 2 ** 20);
    expect(await refusal(gzipSync(zeros))).toBe('not-a-run');
    expect(
      await refusal(zipSync(Object.fromEntries(Array.from({ length: 70 }, (_, i) => [`f${i}`, zeros.subarray(0, 1)])))),
    ).toBe('corrupt-run');
    expect(await refusal(strToU8('['.repeat(100_000) + ']'.repeat(100_000)))).toBe('not-a-run');
    const deep = JSON.stringify({ ...record(), tasks: 'HERE' }).replace('"HERE"', '['.repeat(60) + ']'.repeat(60));
    expect(await refusal(strToU8(deep))).toBe('not-a-run');
  });

  it('any bytes, and any damage to a good file: only DreamErrors, or a checked record', async () => {
    const zip = writeRunRecord(record());
    const plain = json(record());
    const damage = fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { minLength: 1, maxLength: 6 });
    const file = fc.oneof(
      fc.uint8Array({ maxLength: 400 }),
      fc.uint8Array({ maxLength: 200 }).map((tail) => Uint8Array.from([0x50, 0x4b, 3, 4, ...tail])),
      fc.uint8Array({ maxLength: 200 }).map((tail) => Uint8Array.from([0x1f, 0x8b, 8, ...tail])),
      fc.tuple(fc.constantFrom(zip, plain), damage).map(([good, changes]) => {
        const bad = good.slice();
        for (const [at, byte] of changes) bad[at % bad.length] = byte;
        return bad;
      }),
      fc.json().map(strToU8),
      fc.jsonValue().map((value) => json({ ...record(), [Object.keys(record())[2]]: value })),
      fc
        .record({ key: fc.constantFrom(...Object.keys(record())), value: fc.jsonValue() })
        .map(({ key, value }) => json({ ...record(), [key]: value })),
    );
    await fc.assert(
      fc.asyncProperty(file, async (bytes) => {
        const outcome = await read(bytes).then(
          (r) => r.record.format,
          (error: unknown) => error,
        );
        if (outcome !== 'dreamgym-run') {
          expect(outcome).toBeInstanceOf(DreamError);
          expect(['not-a-run', 'corrupt-run', 'newer-run']).toContain((outcome as DreamError).code);
        }
      }),
      { numRuns: 600 },
    );
  });
});
