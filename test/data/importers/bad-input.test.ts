import { gzipSync, strToU8, zipSync } from 'fflate';
import { describe, expect, test } from 'vitest';
import { importTrajectories } from '../../../src/data/importers';
import { maxListedDrops } from '../../../src/data/importers/limits';
import { chunksOf, importBytes, lines } from './support';

const episode = (id: number) => ({
  id,
  messages: [
    { role: 'user', content: 'A door.' },
    { role: 'assistant', content: 'open it' },
    { role: 'user', content: 'It opens.' },
  ],
});
const jsonl = lines(episode(1), episode(2), episode(3));

/** A stream that is never in memory as a whole. */
async function* stream(...parts: (string | { repeat: string; bytes: number })[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) {
    if (typeof part === 'string') yield strToU8(part);
    else {
      const block = strToU8(part.repeat.repeat(Math.ceil(65_536 / part.repeat.length)));
      for (let sent = 0; sent < part.bytes; sent += block.length) yield block;
    }
  }
}

async function importStream(source: AsyncIterable<Uint8Array>) {
  let mostBytes = 0;
  const before = process.memoryUsage();
  const report = await importTrajectories(source, {
    name: 'file',
    onProgress: () => {
      const now = process.memoryUsage();
      mostBytes = Math.max(mostBytes, now.arrayBuffers - before.arrayBuffers + now.heapUsed - before.heapUsed);
    },
  });
  return { report, mostBytes };
}

describe('bounded memory', () => {
  test('a line of 100 MB is skipped, what follows it is kept', async () => {
    const { report, mostBytes } = await importStream(
      stream(`${jsonl}\n`, '{"messages":"', { repeat: 'x', bytes: 100 * 2 ** 20 }, `"}\n`, jsonl),
    );
    expect(report.episodes).toBe(6);
    expect(report.dropped).toEqual([{ where: 'line 4', why: 'the line is longer than 16 MB' }]);
    expect(mostBytes).toBeLessThan(150 * 2 ** 20);
  });

  test('an entry of 30 MB in a JSON array likewise', async () => {
    const { report, mostBytes } = await importStream(
      stream(
        `[${JSON.stringify(episode(1))},{"messages":["`,
        { repeat: 'x', bytes: 30 * 2 ** 20 },
        `"]},${JSON.stringify(episode(2))}]`,
      ),
    );
    expect(report.episodes).toBe(2);
    expect(report.dropped).toEqual([{ where: 'entry 2', why: 'the entry is larger than 16 MB' }]);
    expect(mostBytes).toBeLessThan(150 * 2 ** 20);
  });

  test.each([
    ['in JSONL', (deep: string) => `${jsonl}\n{"messages":${deep}}\n${jsonl}`, 'line 4'],
    [
      'in an array',
      (deep: string) => `[${JSON.stringify(episode(1))},{"messages":${deep}},${JSON.stringify(episode(2))}]`,
      'entry 2',
    ],
  ])('nesting without end %s', async (_, around, where) => {
    const deep = '['.repeat(200_000) + ']'.repeat(200_000);
    const { report } = await importBytes(around(deep));
    expect(report.episodes).toBeGreaterThan(1);
    expect(report.dropped).toEqual([{ where, why: 'it is nested more than 40 levels deep' }]);
  });

  test('a million empty objects in one entry', async () => {
    const { report } = await importBytes(`${jsonl}\n{"messages":[${'{},'.repeat(1_000_001)}{}]}`);
    expect(report.dropped).toEqual([{ where: 'line 4', why: 'it has more than 1000000 values' }]);
  });

  test('a file of rubbish lines fills no list', async () => {
    const count = maxListedDrops + 500;
    const { report, dropped } = await importBytes(`${jsonl}\n${'{"x":1}\n'.repeat(count)}`);
    expect(report).toMatchObject({ episodes: 3, droppedTotal: count });
    expect(report.dropped).toHaveLength(maxListedDrops + 1);
    expect(report.dropped.at(-1)).toEqual({ where: '500 more', why: 'it has neither messages nor conversations' });
    expect(dropped).toHaveLength(count);
  });
});

describe('hostile and broken JSON', () => {
  test('prototype keys are refused where they stand, and reach nothing', async () => {
    const { report } = await importBytes(
      [
        jsonl,
        '{"messages":[{"role":"user","content":"x","__proto__":{"polluted":true}}]}',
        '{"constructor":{"prototype":{"polluted":true}},"messages":[]}',
        '{"messages":[{"role":"toString","content":"x"},{"role":"assistant","content":"y"}]}',
      ].join('\n'),
    );
    expect(report.episodes).toBe(4);
    expect(report.dropped.map(({ why }) => why)).toEqual([
      'it has a key named __proto__',
      'it has a key named constructor',
      'a role that is neither system, user, assistant nor tool',
    ]);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    const dict = await importBytes(
      `{"__proto__": ${JSON.stringify(episode(1))}, "toString": ${JSON.stringify(episode(2))}}`,
    );
    expect(dict.report.episodes).toBe(2);
  });

  test('one broken entry costs itself only', async () => {
    const { report } = await importBytes(
      `[${JSON.stringify(episode(1))}, {"messages": [,]}, 17, ${JSON.stringify(episode(2))}] x y`,
    );
    expect(report.episodes).toBe(2);
    expect(report.dropped).toEqual([
      { where: 'entry 2', why: 'it is not JSON' },
      { where: 'entry 3', why: 'not a conversation' },
      { where: 'after the end of the document', why: 'the document was already closed' },
    ]);
  });

  test('a file that ends in the middle keeps what was whole', async () => {
    const { report } = await importBytes(`[${JSON.stringify(episode(1))}, {"messages": [{"role": "us`);
    expect(report.episodes).toBe(1);
    expect(report.dropped).toEqual([{ where: 'entry 2', why: 'the file ends in the middle of it' }]);
  });

  test('text that is not UTF-8', async () => {
    const bytes = new Uint8Array([...strToU8(`${jsonl}\n{"messages":"`), 0xff, 0xfe, ...strToU8('"}')]);
    const { report } = await importBytes(bytes);
    expect(report.dropped).toEqual([{ where: 'line 4', why: 'its text is not UTF-8' }]);
  });

  test('strings with brackets, quotes and escapes do not confuse the entries', async () => {
    const tricky = { ...episode(1), note: '}]{["\\', 'a "key" {': '\\"' };
    for (const size of [1, 2, 3]) {
      const { report } = await importBytes(JSON.stringify({ 'x"]': tricky, y: tricky }), { size });
      expect(report).toMatchObject({ episodes: 2, dropped: [] });
    }
  });
});

describe('files that are something else', () => {
  test.each<[string, string | Uint8Array, RegExp]>([
    ['nothing', '', /empty/],
    ['white space', ' \n ', /empty/],
    ['prose', 'Dear reader,\nthis is a letter.', /no actions/],
    ['a picture', new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0, 0, 0, 1]), /binary/],
    ['UTF-16', new Uint8Array([0xff, 0xfe, 0x7b, 0]), /UTF-16/],
    ['settings', '{"learning_rate": 0.1}', /no episode/],
    ['tasks', '[{"intent": "Find it", "eval": {}}]', /WebArena tasks/],
    ['sentences', '["a", "b"]', /list of sentences/],
    ['a world', '(define (domain x))', /PDDL/],
    ['a zip of prose', zipSync({ 'readme.txt': strToU8('Hello.') }), /readme.txt is not/],
  ])('%s', async (_, content, message) => {
    await expect(importBytes(content)).rejects.toMatchObject({
      code: 'no-trajectories',
      message: expect.stringMatching(message),
      advice: expect.stringContaining('Nothing was imported'),
    });
  });
});

describe('compressed files', () => {
  test('gzip and zip are opened whatever their names are', async () => {
    const zip = zipSync({
      'a/one.jsonl': strToU8(jsonl),
      'readme.md': strToU8('Hello.'),
      'two.json': [strToU8(JSON.stringify([episode(4)])), { level: 0 }],
    });
    for (const size of [1, 1000]) {
      expect((await importBytes(gzipSync(strToU8(jsonl)), { size })).report).toMatchObject({
        episodes: 3,
        dropped: [],
      });
      const { report, episodes } = await importBytes(zip, { size });
      expect(report.episodes).toBe(4);
      expect(episodes[0].where).toBe('a/one.jsonl / line 1');
      expect(report.dropped).toEqual([
        { where: 'readme.md', why: expect.stringContaining('not a file of trajectories') },
      ]);
    }
  });

  test('a bomb unpacks piece by piece', async () => {
    const bomb = gzipSync(strToU8(`${jsonl}\n{"messages":"${'x'.repeat(40 * 2 ** 20)}"}`));
    expect(bomb.length).toBeLessThan(100_000);
    const { report, mostBytes } = await importStream(chunksOf(bomb, 65_536));
    expect(report).toMatchObject({ episodes: 3, dropped: [{ where: 'line 4', why: 'the line is longer than 16 MB' }] });
    expect(mostBytes).toBeLessThan(150 * 2 ** 20);
  });

  test('a cut-off gzip keeps its whole episodes and says where it ends', async () => {
    const packed = gzipSync(strToU8(`${jsonl}\n${lines(...Array.from({ length: 500 }, (_, i) => episode(i * 7919)))}`));
    const { report } = await importBytes(packed.subarray(0, packed.length - 300));
    expect(report.episodes).toBeGreaterThan(3);
    expect(report.dropped.at(-1)).toEqual({ where: 'the end', why: 'the compressed file is cut off here' });
  });

  test('forged sizes change nothing; damage is a typed error', async () => {
    const zip = zipSync({ 'one.jsonl': strToU8(jsonl) });
    const forged = zip.slice();
    // Uncompressed size in the local header.
    new DataView(forged.buffer).setUint32(22, 7, true);
    expect((await importBytes(forged)).report.episodes).toBe(3);
    const damaged = gzipSync(strToU8(jsonl));
    damaged.fill(0x07, 10, 40);
    await expect(importBytes(damaged)).rejects.toMatchObject({ code: 'damaged-archive' });
  });
});

describe('cancel', () => {
  test('at once, between two episodes of one chunk', async () => {
    const controller = new AbortController();
    const seen: string[] = [];
    const work = importTrajectories(chunksOf(strToU8(jsonl), 1 << 20), {
      name: 'file',
      signal: controller.signal,
      onEpisode: ({ where }) => {
        seen.push(where);
        controller.abort();
      },
    });
    await expect(work).rejects.toMatchObject({ name: 'AbortError' });
    expect(seen).toEqual(['line 1']);
  });

  test('while the source hangs', async () => {
    const controller = new AbortController();
    let closed = false;
    const hanging: AsyncIterable<Uint8Array> = {
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise(() => {}),
        return: async () => {
          closed = true;
          return { done: true, value: undefined };
        },
      }),
    };
    const work = importTrajectories(hanging, { name: 'file', signal: controller.signal });
    setTimeout(() => controller.abort(), 5);
    await expect(work).rejects.toMatchObject({ name: 'AbortError' });
    expect(closed).toBe(true);
  });

  test('a sink that fails ends the import with its own error', async () => {
    const full = new Error('full');
    await expect(
      importBytes(jsonl, {
        onEpisode: () => {
          throw full;
        },
      }),
    ).rejects.toBe(full);
  });
});
