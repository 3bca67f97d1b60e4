import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { main } from '../../src/cli/main';

const results = fileURLToPath(new URL('../../bench/results/', import.meta.url));
const run = join(results, 'household-tiny-dream-seed1-unchecked.json');
let folder: string;
let server: Server;
let asked: { model: string; messages: { content: string }[] }[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dream-judge-'));
  server = createServer((request, response) => {
    let body = '';
    request.on('data', (part) => {
      body += part;
    });
    request.on('end', () => {
      asked.push(JSON.parse(body));
      // Every fourth answer is no verdict.
      const scores = { causal_consistency: 2, diversity: 1, informativeness: 2, hallucination: 1 };
      const content = asked.length % 4 === 0 ? 'It is fine.' : JSON.stringify(scores);
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ choices: [{ message: { role: 'assistant', content }, finish_reason: 'stop' }] }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  server.close();
  await rm(folder, { recursive: true, force: true });
});

async function dream(...argv: string[]) {
  const out: string[] = [];
  const code = await main(argv, {
    stdout: { write: (text) => out.push(text) },
    stderr: { write: () => true },
    root: folder,
    folder,
    onInterrupt: () => {},
  });
  const last = out.join('').trim().split('\n').at(-1) ?? '';
  return { code, result: JSON.parse(last) };
}

test('an endpoint judges, the rules beside it, malformed answers counted', async () => {
  asked = [];
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const judge = ['--judge-endpoint', url, '--judge-model', 'wise'];
  const { code, result } = await dream('judge', '--run', run, ...judge, '--count', '20', '--out', 'j.jsonl', '--json');
  expect(code).toBe(0);
  expect(asked).toHaveLength(20);
  expect(asked[0].model).toBe('wise');
  expect(asked[0].messages.at(-1)!.content).toContain('next state:');
  expect(result).toMatchObject({ transitions: 20, judge: { judged: 15, malformed: 5, reasons: { 'no-json': 5 } } });
  expect(result.judge.judge).toContain('wise at ');
  expect(result.judge.scores.diversity).toMatchObject({ mean: 1, counts: [0, 15, 0] });
  expect(result.rules.judged + result.rules.malformed).toBe(20);
  expect(result.agreement.causal_consistency).toBeGreaterThan(0);
  const lines = (await readFile(join(folder, 'j.jsonl'), 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines).toHaveLength(20);
  expect(lines[0]).toMatchObject({ iteration: expect.any(Number), nextState: expect.any(String) });
});

test('without a model the rules judge alone, the same each time', async () => {
  const once = await dream('judge', '--run', run, '--json');
  expect(once.result).toMatchObject({ transitions: 100, judge: null, agreement: null });
  expect(await dream('judge', '--run', run, '--json')).toEqual(once);
});

test('what cannot be judged is said before anything is asked', async () => {
  expect(await dream('judge', '--json')).toMatchObject({ code: 2, result: { error: { code: 'bad-option' } } });
  const half = await dream('judge', '--run', run, '--judge-model', 'wise', '--json');
  expect(half).toMatchObject({ code: 2, result: { error: { code: 'bad-option' } } });
  const real = await dream('judge', '--run', join(results, 'household-tiny-real-seed1.json'), '--json');
  expect(real).toMatchObject({ code: 1, result: { error: { code: 'no-dreams' } } });
  const none = await dream('judge', '--run', 'nowhere', '--json');
  expect(none).toMatchObject({ code: 1, result: { error: { code: 'no-run' } } });
});
