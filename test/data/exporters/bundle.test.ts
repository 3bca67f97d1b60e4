import { strToU8, unzipSync, zipSync } from 'fflate';
import { beforeAll, describe, expect, it } from 'vitest';
import { DreamError } from '../../../src/data/errors';
import { sha256 } from '../../../src/data/exporters/bundle/layout';
import { looksLikeBundle, readBundle } from '../../../src/data/exporters/bundle/read';
import { recordOf, writeBundle } from '../../../src/data/exporters/bundle/write';
import { readRunRecord } from '../../../src/data/importers/run-record';
import { checkConfig } from '../../../src/dream/presets';
import type { StoredRun } from '../../../src/dream/run-store';
import { range, snapshotAt, steadyChanges, trajectoryOf, transition } from '../../store/snapshots';

const adapter = new Map([
  ['adapter_config.json', strToU8('{"peft_type":"LORA"}')],
  ['adapter_model.safetensors', Uint8Array.from(range(0, 100))],
]);

let stored: StoredRun;
let bytes: Uint8Array;

beforeAll(async () => {
  const { buffer: _b, rollouts: _r, ...header } = await snapshotAt(3, steadyChanges(3));
  stored = {
    ...header,
    buffer: { transitions: [2, 5, 6, 9].map(transition), nextId: 12 },
    rollouts: [1, 3].map((iteration) => ({ iteration, trajectories: [trajectoryOf(iteration, 'open "box"\n=x')] })),
  };
  bytes = await writeBundle(stored, adapter);
});

const read = (file: Uint8Array, limits = {}) => readBundle(file, checkConfig, limits);

async function refusal(file: Uint8Array, limits = {}): Promise<DreamError> {
  const error: unknown = await read(file, limits).catch((reason: unknown) => reason);
  if (!(error instanceof DreamError)) throw new Error('it was accepted, or failed without a type');
  return error;
}

/** Changed, and its manifest corrected, so that only the change itself can be what is refused. */
async function forged(change: (entries: Record<string, Uint8Array>) => void, honest = true): Promise<Uint8Array> {
  const { 'bundle.json': manifest, ...entries } = unzipSync(bytes);
  change(entries);
  const said = JSON.parse(new TextDecoder().decode(manifest));
  if (honest)
    for (const [name, content] of Object.entries(entries))
      said.files[name] = { bytes: content.byteLength, sha256: await sha256(content) };
  return zipSync({ 'bundle.json': strToU8(JSON.stringify(said)), ...entries });
}

const edited =
  (changes: object) =>
  (content: Uint8Array): Uint8Array =>
    strToU8(JSON.stringify({ ...JSON.parse(new TextDecoder().decode(content)), ...changes }));

describe('a run bundle', () => {
  it('comes back equal, number for number', async () => {
    expect(looksLikeBundle(bytes)).toBe(true);
    const back = await read(bytes);
    expect(back.stored).toEqual(stored);
    expect([...back.stored.buffer.transitions]).toEqual(stored.buffer.transitions);
    expect(back.adapter).toEqual(adapter);
    expect(back.notices).toEqual([]);
    expect((await read(await writeBundle(back.stored, back.adapter))).stored).toEqual(stored);
  });

  it('holds what people look for, and no weights twice', () => {
    expect(Object.keys(unzipSync(bytes)).sort()).toEqual([
      'README.txt',
      'adapter/adapter_config.json',
      'adapter/adapter_model.safetensors',
      'bundle.json',
      'checkpoint/buffer.jsonl',
      'checkpoint/state.json',
      'checkpoint/weights.bin',
      'config.json',
      'metrics.csv',
      'rollouts.jsonl',
      'run.json',
    ]);
    const metrics = new TextDecoder().decode(unzipSync(bytes)['metrics.csv']);
    expect(metrics.split(',')[0]).toBe('step');
  });

  it('is opened as an exported run by whoever knows only those', async () => {
    const { record, notices } = await readRunRecord(bytes, checkConfig);
    expect(record).toEqual(recordOf(stored));
    expect(notices[0]).toContain('Ignored');
  });

  it('keeps what later versions add to a state or a task', async () => {
    const later = await forged((entries) => {
      entries['checkpoint/state.json'] = edited({ further: { a: [1] } })(entries['checkpoint/state.json']);
    });
    expect((await read(later)).stored).toMatchObject({ further: { a: [1] } });
  });

  it('takes along what the experience model was taught, and refuses lessons that are none', async () => {
    const lesson = { iteration: 2, transitions: 30, sequences: [{ tokens: [1, 2, 3], weights: [0, 1, 3] }] };
    const taught = { ...stored, refreshes: [lesson] };
    expect((await read(await writeBundle(taught, adapter))).stored).toEqual(taught);
    const sequences = [
      { tokens: [1, 2], weights: [1] },
      { tokens: [-1], weights: [1] },
      { tokens: ['a'], weights: [1] },
    ];
    for (const sequence of sequences) {
      const bad = await forged((entries) => {
        const change = edited({ refreshes: [{ ...lesson, sequences: [sequence] }] });
        entries['checkpoint/state.json'] = change(entries['checkpoint/state.json']);
      });
      expect((await refusal(bad)).code).toBe('corrupt-run');
    }
  });

  it('is refused when a byte of it is not as it was', async () => {
    const flipped = await forged((entries) => {
      entries['checkpoint/weights.bin'][5] ^= 1;
    }, false);
    expect((await refusal(flipped)).message).toContain('checkpoint/weights.bin does not match its checksum');
    const unnamed = await forged((entries) => {
      entries['adapter/README.md'] = strToU8('hello');
    }, false);
    expect((await refusal(unnamed)).code).toBe('corrupt-run');
    expect((await refusal(bytes.subarray(0, bytes.length / 2))).code).toBe('corrupt-run');
  });

  it('never unpacks a name that is not its own: nothing climbs out', async () => {
    const climbing = await forged((entries) => {
      entries['../../evil.sh'] = strToU8('#!');
      entries['adapter/../../evil'] = strToU8('#!');
      entries['/etc/passwd'] = strToU8('#!');
    });
    const back = await read(climbing);
    expect(back.adapter).toEqual(adapter);
    expect(back.notices[0]).toContain('evil');
  });

  it('refuses names that stand twice', async () => {
    // Two zips in a row, read as a stream of entries, name everything twice.
    const twice = new Uint8Array(2 * bytes.length);
    const local = bytes.subarray(0, bytes.length - 22);
    twice.set(local);
    twice.set(local, local.length);
    expect((await refusal(twice.subarray(0, 2 * local.length))).code).toBe('corrupt-run');
  });

  it('refuses bombs by what comes out, whatever sizes are claimed', async () => {
    const zeros = await forged((entries) => {
      entries['checkpoint/buffer.jsonl'] = new Uint8Array(16 * 2 ** 20);
    });
    expect(zeros.length).toBeLessThan(2 ** 20);
    expect((await refusal(zeros)).message).toContain('unpacks to more than');
    // The uncompressed size in a local header is a claim like any other.
    const lying = zeros.slice();
    const name = strToU8('checkpoint/buffer.jsonl');
    const at = lying.findIndex((_, i) => name.every((letter, j) => lying[i + j] === letter)) - 30;
    new DataView(lying.buffer).setUint32(at + 22, 10, true);
    expect((await refusal(lying)).code).toBe('corrupt-run');
    expect((await refusal(bytes, { maxBytes: 1000 })).code).toBe('not-a-bundle');
  });

  it.each<[string, string, (content: Uint8Array) => Uint8Array | null]>([
    ['too few weights', 'checkpoint/weights.bin', (content) => content.subarray(4)],
    ['no state', 'checkpoint/state.json', () => null],
    ['a buffer out of order', 'checkpoint/buffer.jsonl', () => strToU8(lines([5, 2]))],
    ['ids from the future', 'checkpoint/buffer.jsonl', () => strToU8(lines([99]))],
    ['a transition of nonsense', 'checkpoint/buffer.jsonl', () => strToU8('{"id":1}\n')],
    ['a line without end', 'checkpoint/buffer.jsonl', () => strToU8('"'.padEnd(2 ** 20 + 2, 'x'))],
    ['another run’s record', 'run.json', edited({ runId: 'other' })],
    ['metrics that do not fit', 'run.json', edited({ metrics: [] })],
    ['settings that are none', 'run.json', edited({ config: { evil: true } })],
    [
      'one tensor twice',
      'checkpoint/state.json',
      edited({ policy: { step: 1, tensors: ['a', 'a'].map((name) => ({ kind: 'weights', name, length: 1 })) } }),
    ],
    ['prototype keys', 'checkpoint/state.json', () => strToU8('{"__proto__":{"x":1},"format":1}')],
    ['a tower of brackets', 'checkpoint/state.json', () => strToU8('['.repeat(1e5) + ']'.repeat(1e5))],
  ])('refuses %s', async (_, name, change) => {
    const file = await forged((entries) => {
      const changed = change(entries[name]);
      if (changed) entries[name] = changed;
      else delete entries[name];
    });
    expect((await refusal(file)).code).toBe('corrupt-run');
  });

  it('tells other files from damaged ones, and newer ones from both', async () => {
    expect((await refusal(strToU8('hello'))).code).toBe('not-a-bundle');
    expect((await refusal(zipSync({ 'a.txt': strToU8('a') }))).code).toBe('not-a-bundle');
    const newer = zipSync({ 'bundle.json': strToU8('{"format":"dreamgym-bundle","version":2,"files":{}}') });
    expect((await refusal(newer)).code).toBe('newer-run');
  });
});

const lines = (ids: number[]) => ids.map((id) => `${JSON.stringify(transition(id))}\n`).join('');
