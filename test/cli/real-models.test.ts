/** @file The terminal's commands for real models, on a small GGUF written here. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testGpu } from '../gpu';
import '../nn/patience';
import { talkingGguf } from '../worker/models/talking-gguf';
import { inTerminal } from './terminal';

let folder: string;
let model: string;
beforeAll(async () => {
  await testGpu(); // chooses the driver
  folder = await mkdtemp(join(tmpdir(), 'dream-models-'));
  model = join(folder, 'talking.gguf');
  await writeFile(model, talkingGguf());
  await writeFile(join(folder, 'prompts.json'), JSON.stringify(['a cat', 'the', 'two cups on a shelf']));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function dream(...argv: string[]) {
  const { code, out, err } = await inTerminal([...argv, '--json'], { folder, root: process.cwd() });
  return { code, json: JSON.parse(out), err };
}

describe('dream model', () => {
  test('inspect reads the headers', async () => {
    const { code, json } = await dream('model', 'inspect', '--model', model);
    expect(code).toBe(0);
    expect(json).toMatchObject({ label: 'talking.gguf', architecture: 'llama', tokenizer: true });
    expect(json.config).toMatchObject({ layers: 2, width: 256 });
    expect(json.parameters).toBeGreaterThan(1e5);
    expect(json.chatTemplate).toContain('im_start');
  });

  test('plan counts and judges', async () => {
    const fits = await dream('model', 'plan', '--model', model, '--context', '128', '--tokens', '256', '--rank', '8');
    expect(fits.json).toMatchObject({ verdict: 'fits' });
    const { weights, adapter, tables, generation, training, plannedGpuBytes } = fits.json;
    expect(weights + adapter + tables + Math.max(generation, training)).toBe(plannedGpuBytes);
    const no = await dream('model', 'plan', '--model', model, '--budget', '0.1', '--tokens', '65536');
    expect(no.json).toMatchObject({ verdict: 'no' });
    expect(no.json.advice).toMatch(/smaller/);
  });

  test.each([
    [['model'], 'unknown-command', 2],
    [['model', 'weigh'], 'unknown-command', 2],
    [['model', 'inspect'], 'no-model', 1],
    [['model', 'inspect', '--model', 'nowhere.gguf'], 'file-read', 1],
    [['score', '--model', 'talking.gguf'], 'no-text', 1],
    [['generate', '--model', 'talking.gguf'], 'no-text', 1],
    [['generate', '--model', 'talking.gguf', '--prompts', 'talking.gguf'], 'bad-file', 1],
    [['bench', '--shape', 'gpt-5'], 'unknown-shape', 1],
  ])('%j fails in words', async (argv, error, code) => {
    const result = await dream(...argv);
    expect(result.code).toBe(code);
    expect(result.json.error).toMatchObject({ code: error, advice: expect.any(String) });
  });
});

describe('generate and score', () => {
  test('what is generated greedily is what scores highest, alone and in a batch', async () => {
    const settings = ['--greedy', '--max-tokens', '9', '--ignore-end'];
    const alone = await dream('generate', '--model', model, '--prompt', 'a cat', ...settings);
    expect(alone.json.tokens).toHaveLength(9);
    expect(alone.json).toMatchObject({ stopped: false, text: expect.any(String) });
    const batch = await dream('generate', '--model', model, '--prompts', 'prompts.json', '--batch', '2', ...settings);
    expect(batch.json.results).toHaveLength(3);
    expect(batch.json.results[0].tokens).toEqual(alone.json.tokens);
  });

  test('sampling is the same for the same seed, and a stop text ends it', async () => {
    const ask = (...more: string[]) =>
      dream('generate', '--model', model, '--prompt', 'the', '--max-tokens', '24', '--ignore-end', ...more);
    const [a, b, other] = [await ask('--seed', '3'), await ask('--seed', '3'), await ask('--seed', '4')];
    expect(b.json.tokens).toEqual(a.json.tokens);
    expect(other.json.tokens).not.toEqual(a.json.tokens);
    const stop = a.json.text.slice(4, 6);
    const cut = await ask('--seed', '3', '--stop', stop);
    expect(cut.json.text).toBe(a.json.text.slice(0, a.json.text.indexOf(stop)));
    expect((await ask('--chat', '--top-k', '5', '--top-p', '0.9', '--min-p', '0.05')).code).toBe(0);
  });

  test('a text is scored token by token', async () => {
    const { json } = await dream('score', '--model', model, '--text', 'two cups on a shelf');
    expect(json.tokens.length).toBeGreaterThan(3);
    expect(json.logprobs).toHaveLength(json.tokens.length);
    expect(json.logprobs[0]).toBe(0);
    expect(json.logprobs.slice(1).every((value: number) => value < 0)).toBe(true);
    expect(json.perplexity).toBeGreaterThan(1);
  });
});
