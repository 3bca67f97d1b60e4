/** @file Memories from files: whose world they are of, which room they belong to, and how many fit. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CommandIo } from '../../src/cli/command';
import { readMemories, withMemories } from '../../src/cli/spoken-world';
import { householdDomain } from '../../src/dream/household';
import { spokenWorlds } from '../../src/dream/text-worlds';
import { offlineTrajectories } from '../../src/envs/shop';
import { householdTokenizer } from '../../src/models/household-vocabulary';

let folder: string;
const lines: string[] = [];
const io = {
  resolve: (path: string) => join(folder, path),
  print: (line: string) => void lines.push(line),
  progress: () => ({ update() {}, clear() {} }),
  signal: new AbortController().signal,
} as unknown as CommandIo;
const domain = householdDomain(householdTokenizer('small'));

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dream-memories-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const write = (name: string, records: readonly unknown[]) =>
  writeFile(join(folder, name), records.map((record) => JSON.stringify(record)).join('\n'));

test('a household’s memories lie in the room that looks like theirs', async () => {
  const [task] = domain.trainingTasks();
  const turn = {
    thought: '',
    actionTokens: [],
    actionLogProbs: [],
    reasoning: '',
    reward: 0,
    done: false,
    valid: true,
  };
  const record = {
    task: { ...task, room: 'somewhere' },
    source: 'offline',
    firstObservation: task.firstObservation,
    turns: [
      { ...turn, action: 'go to shelf 1', observation: 'at shelf 1 see nothing' },
      { ...turn, action: 'inventory', observation: 'carry nothing', done: true },
    ],
    ...{ return: 0, success: false, truncated: false, lost: false, group: 0 },
  };
  await write('household.jsonl', [record]);
  const { memories, episodes } = await readMemories(io, 'household.jsonl', domain, null, 100);
  expect(episodes).toBe(1);
  expect(memories.map(({ room }) => room)).toEqual([task.room, task.room]);
  const before = domain.offlineTransitions(10);
  const after = withMemories(domain, memories).offlineTransitions(10);
  expect(after.slice(0, 2)).toEqual(memories);
  expect(after.slice(2)).toEqual(before.slice(0, 8));
});

test('a shop’s memories are counted, cut to what fits, and no other world’s', async () => {
  const shop = await spokenWorlds.shop();
  await write('shop.jsonl', offlineTrajectories(6, 3));
  const { memories, left, elsewhere } = await readMemories(io, 'shop.jsonl', domain, shop, 10);
  expect(memories).toHaveLength(10);
  expect(left).toBeGreaterThan(0);
  expect(elsewhere).toBe(0);
  expect(new Set(memories.map(({ room }) => room))).toEqual(new Set(['catalogue']));
  expect(lines.at(-1)).toMatch(/^memories: 10 of 6 episodes, \d+ more than fit$/);
  const web = await spokenWorlds.web();
  await expect(readMemories(io, 'shop.jsonl', domain, web, 10)).rejects.toMatchObject({
    code: 'no-memories',
    advice: expect.stringContaining('--env'),
  });
  await expect(readMemories(io, 'nowhere.jsonl', domain, web, 10)).rejects.toMatchObject({ code: 'file-read' });
});
