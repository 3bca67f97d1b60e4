import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inTerminal } from './terminal';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dream-import-'));
  const episode = {
    reward: 1,
    messages: [
      { role: 'user', content: 'A door.' },
      { role: 'assistant', content: 'open it' },
      { role: 'user', content: 'It opens.' },
    ],
  };
  await writeFile(join(folder, 'data.jsonl'), `${JSON.stringify(episode)}\n{"x":\n${JSON.stringify(episode)}\n`);
  await writeFile(join(folder, 'letter.txt'), 'Dear reader.\n');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const dream = (argv: string[], interrupt = false) =>
  inTerminal(argv, {
    folder,
    onInterrupt: (handler) => {
      if (interrupt) handler();
    },
  });

test('--json gives the report; --out and --examples write whole files', async () => {
  const { code, out } = await dream([
    'import',
    'data.jsonl',
    '--json',
    '--out',
    'out.jsonl',
    '--examples',
    'steps.jsonl',
  ]);
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({
    format: 'openai-messages',
    episodes: 2,
    transitions: 2,
    dropped: [{ where: 'line 2', why: 'it is not JSON' }],
  });
  const written = (await readFile(join(folder, 'out.jsonl'), 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(written.map(({ where, source, success }) => [where, source, success])).toEqual([
    ['line 1', 'offline', true],
    ['line 3', 'offline', true],
  ]);
  expect(written[0].raw.turns).toEqual([{ action: 'open it', observation: 'It opens.' }]);
  const [step] = (await readFile(join(folder, 'steps.jsonl'), 'utf8')).split('\n');
  expect(JSON.parse(step)).toMatchObject({
    state: 'A door.',
    action: 'open it',
    nextState: 'It opens.',
    reward: 1,
    history: [],
  });
  const again = await dream(['import', 'out.jsonl', '--json']);
  expect(JSON.parse(again.out)).toMatchObject({ format: 'trajectory', episodes: 2, transitions: 2, dropped: [] });
  await rm(join(folder, 'out.jsonl'));
  await rm(join(folder, 'steps.jsonl'));
});

test('without --json it is told in words', async () => {
  const { out } = await dream(['import', 'data.jsonl']);
  expect(out).toContain(
    'openai-messages: 2 episodes (2 successes, 0 failures, 0 of unknown outcome), 2 turns, 2 transitions.',
  );
  expect(out).toContain('it is not JSON: line 2');
});

test.each<[string[], number, string]>([
  [['import'], 2, 'no-file'],
  [['import', 'gone.jsonl'], 1, 'file-read'],
  [['import', '.'], 1, 'file-read'],
  [['import', 'letter.txt', '--out', 'out.jsonl'], 1, 'no-trajectories'],
  [['import', 'data.jsonl', '--format', 'csv'], 2, 'bad-value'],
  [['import', 'data.jsonl', '--out', 'no/such/folder.jsonl'], 1, 'file-write'],
])('%j fails with %i, %s, and leaves no file behind', async (argv, exit, error) => {
  const { code, out } = await dream([...argv, '--json']);
  expect([code, JSON.parse(out).error.code]).toEqual([exit, error]);
  expect((await readdir(folder)).sort()).toEqual(['data.jsonl', 'letter.txt']);
});

test('cancelled: nothing half-written', async () => {
  const { code, out } = await dream(['import', 'data.jsonl', '--out', 'out.jsonl', '--json'], true);
  expect([code, JSON.parse(out).error.code]).toEqual([1, 'cancelled']);
  expect((await readdir(folder)).sort()).toEqual(['data.jsonl', 'letter.txt']);
});
