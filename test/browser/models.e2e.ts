/** @file The panel "Models" in a real browser: a file is dropped, looked at, planned, loaded and used; an endpoint is asked. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Locator, Page } from 'playwright';
import { afterEach, describe, expect, test } from 'vitest';
import { zipPeft } from '../../src/models/adapters';
import { normals } from '../numbers';
import { talkingGguf } from '../worker/models/talking-gguf';
import { newContext, offences, open, useBrowser, violations, withRecording } from './visitor';

useBrowser();

const gguf = Buffer.from(talkingGguf());
const patience = { timeout: 300_000 };

async function openPanel(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Open models' }).click();
  await page.getByRole('heading', { name: 'the embedded model' }).waitFor({ timeout: 60_000 });
}

/** As a hand would: a file of that name, let go over the zone. */
async function drop(page: Page, name: string, bytes: Buffer): Promise<void> {
  await page.getByRole('radio', { name: 'From this computer' }).check();
  const transfer = await page.evaluateHandle(
    async ({ name, base64 }) => {
      const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
      const list = new DataTransfer();
      list.items.add(new File([bytes], name));
      return list;
    },
    { name, base64: bytes.toString('base64') },
  );
  await page.locator('.drop-zone').dispatchEvent('drop', { dataTransfer: transfer });
}

async function load(page: Page): Promise<void> {
  await page.locator('.models-part').getByRole('button', { name: 'Load', exact: true }).click();
  await page.getByText('is loaded:').waitFor(patience);
}

/** Where `DREAM_PICTURES` names a folder, the part is drawn there for who wants to look at it. */
async function picture(part: Locator, name: string): Promise<void> {
  const folder = process.env.DREAM_PICTURES;
  if (folder) await part.screenshot({ path: `${folder}/${name}.png` });
}

const sideways = (page: Page) =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

describe('a model from this computer', () => {
  test('dropped, looked at, planned, loaded, continued, scored; adapter in and out', async () => {
    await newContext({ reducedMotion: 'reduce' });
    await withRecording();
    const asked: string[] = [];
    const page = await open();
    page.on('request', (request) => asked.push(request.url()));
    await page.locator('.turn').first().waitFor();
    expect(asked.filter((url) => /models-panel|models\.worker|transformers/.test(url))).toEqual([]);
    await openPanel(page);

    await drop(page, 'talking.gguf', gguf);
    await page.getByRole('heading', { name: 'talking.gguf' }).waitFor(patience);
    const facts = page.locator('.facts');
    expect(await facts.textContent()).toMatch(/llama.*Q4_0.*Chat template\s*yes/s);

    // The plan answers every move at once.
    const verdict = page.locator('.verdict');
    await verdict.getByText('fits', { exact: true }).waitFor();
    await page.getByLabel('Budget, GiB').fill('0.1');
    await page.getByLabel('Episodes at once').fill('6');
    await page.getByLabel('LoRA rank').fill('6');
    await page.locator('.plan-bars').getByText('Adapter').waitFor();
    await expect.poll(() => verdict.textContent()).toMatch(/tight|does not fit/);
    await page.getByLabel('Budget, GiB').fill('4');
    await page.getByLabel('LoRA rank').fill('0');
    await page.getByLabel('Episodes at once').fill('0');
    await verdict.getByText('fits', { exact: true }).waitFor();

    await load(page);
    await page.getByRole('textbox', { name: 'Prompt' }).fill('hello world');
    await page.getByLabel('At most, tokens').fill('8');
    await page.getByRole('button', { name: 'Generate' }).click();
    await page
      .locator('.model-answer')
      .getByText(/\d tokens?, /)
      .waitFor(patience);
    await page.getByText('How likely it found each token').click();
    const drawn = await page
      .getByRole('list', { name: /each token of its answer/ })
      .locator('li')
      .count();
    expect(drawn).toBeGreaterThan(0);
    expect(drawn).toBeLessThanOrEqual(8);

    await page.getByLabel('A text to score').fill('hello world');
    await page.getByRole('button', { name: 'Score' }).click();
    await page.getByText(/Perplexity/).waitFor(patience);
    expect(
      await page
        .getByRole('list', { name: /each token of this text/ })
        .locator('li')
        .count(),
    ).toBe(2);

    const exportPeft = page.getByRole('button', { name: 'Export as PEFT zip' });
    expect(await exportPeft.getAttribute('aria-disabled')).toBe('true');
    const rank = 4;
    const modules = new Map([
      ['model.layers.0.self_attn.q_proj', { a: normals(1, rank * 256), b: normals(2, 256 * rank) }],
    ]);
    await page.locator('input[aria-label="Adapter files"]').setInputFiles({
      name: 'mine.zip',
      mimeType: 'application/zip',
      buffer: Buffer.from(zipPeft({ rank, alpha: 8, modules, baseModel: 'someone/base' })),
    });
    await page.getByLabel('The adapter is on').waitFor(patience);
    const [file] = await Promise.all([page.waitForEvent('download'), exportPeft.click()]);
    expect(file.suggestedFilename()).toBe('lora-talking.zip');

    expect(await violations(page)).toEqual([]);
    expect(offences).toEqual([]);
  });

  test.each([
    ['phone, dark', { viewport: { width: 360, height: 740 }, colorScheme: 'dark', hasTouch: true }],
    ['forced colours', { forcedColors: 'active', viewport: { width: 1024, height: 768 } }],
  ] as const)('no accessibility violation and no sideways scrolling: %s', async (_name, options) => {
    await newContext({ reducedMotion: 'reduce', ...options });
    await withRecording();
    const page = await open();
    await openPanel(page);
    await page.getByText('Other experience models').click();
    await page.getByLabel('Task', { exact: true }).waitFor();
    for (const kind of ['An endpoint', 'The browser’s own', 'transformers.js'])
      await page.getByRole('radio', { name: kind }).check();
    await page.getByRole('radio', { name: 'From the hub' }).check();
    await page.getByLabel('Model', { exact: true }).first().waitFor();
    expect(await sideways(page)).toBeLessThanOrEqual(0);
    expect(await violations(page)).toEqual([]);
    expect(offences).toEqual([]);
  });

  test('what is no model is refused where it was dropped, and no run is opened by it', async () => {
    await newContext();
    await withRecording();
    const page = await open();
    await openPanel(page);
    await drop(page, 'pytorch_model.bin', Buffer.from([0x80, 2, 0x7d, 0x71, 0, 0x58]));
    await page.locator('.models .card h4', { hasText: 'These files are no model' }).waitFor();
    await drop(page, 'cut.gguf', gguf.subarray(0, 5000));
    await page.locator('.models .card h4', { hasText: /damaged/ }).waitFor();
    expect(await page.locator('.card h2', { hasText: 'This run cannot be read' }).count()).toBe(0);
  });
});

describe('training', () => {
  test('the loaded model is trained for one iteration, in its own dream; the run and the adapter are taken along', async () => {
    await newContext({ reducedMotion: 'reduce', viewport: { width: 1280, height: 900 } });
    await withRecording();
    const page = await open();
    await openPanel(page);
    await drop(page, 'talking.gguf', Buffer.from(talkingGguf(4096)));
    await page.getByRole('heading', { name: 'talking.gguf' }).waitFor(patience);
    // The sixth step of the slider: 2,048 tokens.
    await page.getByLabel('Context', { exact: true }).fill('5');
    await load(page);
    const part = page.locator('.models-part.train');
    const set = async (label: string, value: number) => {
      await part.getByLabel(label, { exact: true }).fill(String(value));
      await part.getByLabel(label, { exact: true }).blur();
    };
    await set('Iterations', 1);
    await set('Tasks an iteration', 1);
    await set('Attempts a task', 2);
    await set('Actions an attempt', 1);
    await set('Tasks of a check', 10);
    await set('Steps of imitation first', 1);
    await set('Longest thought, tokens', 0);
    await picture(part, 'training-form');
    await part.getByRole('button', { name: 'Start training' }).click();
    await part.getByRole('button', { name: 'Stop training' }).and(page.locator(':enabled')).waitFor(patience);
    await part.getByText('imitating').waitFor(patience);
    await picture(part, 'training-imitates');
    // The model is taken meanwhile.
    expect(await page.getByRole('button', { name: 'Unload' }).isDisabled()).toBe(true);
    await part.locator('.run-table tbody tr').first().waitFor({ timeout: 480_000 });
    await part.getByText('Finished').waitFor(patience);
    expect(await part.textContent()).toMatch(/Real success on tasks never trained on: .*10 tasks.*after iteration 1/);
    await picture(part, 'training-finished');

    const [run] = await Promise.all([
      page.waitForEvent('download'),
      part.getByRole('button', { name: 'Export the run' }).click(),
    ]);
    expect(run.suggestedFilename()).toBe('dreamgym-model-run.zip');
    await page.getByText('trained here').waitFor();
    const [adapter] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export as GGUF' }).click(),
    ]);
    expect(adapter.suggestedFilename()).toBe('lora-talking.gguf');
    expect(await violations(page)).toEqual([]);
    expect(await sideways(page)).toBeLessThanOrEqual(0);
    expect(offences).toEqual([]);
  });
});

describe('other experience models', () => {
  let server: Server | null = null;
  afterEach(() => {
    server?.close();
    server = null;
  });

  test('an endpoint on this machine is asked one question, its answer is read, its key is kept nowhere', async () => {
    const seen: { authorization?: string; body: string }[] = [];
    const answer =
      '{"reasoning":"<b>it opens</b>","valid":true,"observation":"at countertop 1 see nothing","reward":0,"done":false}';
    server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk) => {
        body += chunk;
      });
      request.on('end', () => {
        const headers = { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*' };
        response.writeHead(200, { ...headers, 'content-type': 'application/json' });
        if (request.method === 'OPTIONS') return response.end();
        seen.push({ authorization: request.headers.authorization, body });
        return response.end(JSON.stringify({ choices: [{ message: { content: answer }, finish_reason: 'stop' }] }));
      });
    });
    const listening = server;
    await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
    const { port } = listening.address() as AddressInfo;

    await newContext();
    await withRecording();
    const page = await open();
    await openPanel(page);
    await page.getByText('Other experience models').click();
    await page.getByRole('radio', { name: 'An endpoint' }).check();
    await page.getByLabel('Address').fill(`http://127.0.0.1:${port}`);
    await page.getByLabel('Its model').fill('some-model');
    await page.getByLabel('Key, if it asks for one').fill('secret-key');
    await page.getByRole('button', { name: /Try it/ }).click();
    await page.locator('.reply .observation', { hasText: 'at countertop 1 see nothing' }).waitFor({ timeout: 60_000 });
    // Text, not markup.
    expect(await page.locator('.reply .thought').textContent()).toContain('<b>it opens</b>');
    expect(seen[0].authorization).toBe('Bearer secret-key');
    const kept = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, location.href]));
    expect(kept).not.toContain('secret-key');
    expect(await violations(page)).toEqual([]);
  });
});
