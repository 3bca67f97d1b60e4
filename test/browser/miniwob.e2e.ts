/**
 * @file MiniWoB pages in a real browser, under the policy of the built page: episodes are played by clicks and typing, and
 * a page of bad intent reaches neither network nor parent nor storage.
 */

import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright';
import { build } from 'vite';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { serve } from '../../scripts/static-server.mjs';
import type { StepResult, Task } from '../../src/envs/environment';
import type { MiniWobEnvironment } from '../../src/ui/miniwob';
import { miniwobFolder } from '../ui/miniwob/fixture';

declare global {
  interface Window {
    miniwob: typeof import('../../src/ui/miniwob');
    environment: MiniWobEnvironment;
  }
}

const root = fileURLToPath(new URL('../..', import.meta.url));
/** The rules of the built page that matter to a frame (vite.config.ts). */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; frame-src 'self'; require-trusted-types-for 'script'";
const html = `<!doctype html><meta http-equiv="Content-Security-Policy" content="${policy}"><title>Host</title><body><h1>Host</h1><div id="room"></div><script type="module" src="host.js"></script>`;

let folder: string;
let site: Awaited<ReturnType<typeof serve>>;
let browser: Browser;
let page: Page;
/** A server that a page might leak to, and how often anything connected to it. */
let leak: Server;
let connections = 0;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'miniwob-'));
  const entry = join(root, 'src/ui/miniwob/index.ts');
  await build({
    configFile: false,
    root,
    publicDir: false,
    logLevel: 'error',
    build: {
      lib: { entry, formats: ['es'], fileName: () => 'miniwob.js' },
      outDir: folder,
      emptyOutDir: false,
      minify: true,
    },
  });
  cpSync(join(root, 'public/sandbox-frame.html'), join(folder, 'sandbox-frame.html'));
  writeFileSync(
    join(folder, 'host.js'),
    "import * as miniwob from './miniwob.js'; window.miniwob = miniwob; document.title = 'Ready';",
  );
  writeFileSync(join(folder, 'index.html'), html);
  site = await serve(folder, { port: 0 });
  leak = createServer(() => undefined).on('connection', () => connections++);
  await new Promise<void>((resolve) => leak.listen(0, '127.0.0.1', resolve));
  browser = await chromium.launch({
    executablePath: process.env.DREAM_BROWSER || (existsSync('/usr/bin/chromium') ? '/usr/bin/chromium' : undefined),
    args: ['--headless=new', '--no-sandbox', '--host-resolver-rules=MAP leak.example 127.0.0.1'],
  });
});

afterAll(async () => {
  await browser?.close();
  await site?.close();
  leak?.close();
  rmSync(folder, { recursive: true, force: true });
});

beforeEach(async () => {
  page = await browser.newPage();
  await page.goto(site.url);
  await page.waitForFunction(() => document.title === 'Ready');
  await page.evaluate(
    (entries) => {
      const container = document.getElementById('room') as HTMLElement;
      window.environment = new window.miniwob.MiniWobEnvironment(new Map(entries), {
        container,
        timeoutMs: 3000,
        settleMs: 20,
      });
    },
    [...miniwobFolder],
  );
});

afterEach(async () => {
  await page?.close();
});

const prepare = (name: string, seed: number): Promise<Task> =>
  page.evaluate(([path, number]) => window.environment.prepare(path, number), [
    `html/miniwob/${name}.html`,
    seed,
  ] as const);
const step = (action: string): Promise<StepResult> => page.evaluate((text) => window.environment.step(text), action);

test('an episode: the same seed gives the same task; right and wrong clicks are rewarded as the page says', async () => {
  const tasks = [];
  for (const seed of [0, 1, 14, 15]) tasks.push(await prepare('click-one', seed));
  expect(new Set(tasks.map((task) => task.instruction))).toEqual(new Set(['Click button ONE', 'Click button TWO']));
  for (const task of tasks) {
    expect(task.firstObservation).toBe('page: MiniWoB at miniwob/click-one\n[1] button: ONE\n[2] button: TWO');
    expect(await page.evaluate((each) => window.environment.reset(each), task)).toBe(task.firstObservation);
    const right = task.instruction.endsWith('ONE') ? 1 : 2;
    expect(await step('click [7]')).toMatchObject({ observation: 'nothing happens', valid: false, done: false });
    expect(await step(`click [${right}]`)).toMatchObject({ reward: 1, done: true, valid: true, imagined: false });
    await page.evaluate((each) => window.environment.reset(each), task);
    expect(await step(`click('${3 - right}')`)).toMatchObject({ reward: 0, done: true, raw: 'raw reward -1' });
  }
});

test('typing, choosing, ticking, Enter; what is hidden is not listed', async () => {
  const task = await prepare('small-form', 1);
  expect(task.firstObservation.split('\n').slice(1)).toEqual([
    '[1] p: Form',
    '[2] menu: Red (of Red, Blue)',
    '[3] checkbox: Agreed = off',
    '[4] label: Agreed',
    '[5] text box: name = empty',
  ]);
  await step('type [2] [Blue] [0]');
  await step('click [4]');
  const filled = await step('type [5] [kite] [0]');
  expect(filled.observation).toContain('[3] checkbox: Agreed = on\n[4] label: Agreed\n[5] text box: name = kite');
  expect(await step('press [Enter]')).toMatchObject({ reward: 1, done: true });
});

test('a page of bad intent reaches nothing', async () => {
  const task = await prepare('hostile', 1);
  expect(task.instruction).toBe('storage closed, cookie closed, parent closed, top closed, popup closed, peer closed');
  // The page answers the click and then leaves: which of the two arrives first is the browser's affair, but the frame that
  // has left answers no further action.
  let lost = await step('click [1]');
  expect(lost.reward).toBe(0);
  if (!lost.lost) lost = await step('click [1]');
  expect(lost).toMatchObject({ done: true, reward: 0, lost: true });
  expect(await page.evaluate(() => document.querySelector('h1')?.textContent)).toBe('Host');
  expect(page.url()).toBe(site.url);
  expect(connections).toBe(0);
  // The server is there, and the name leads to it: what was asked for could have arrived.
  const { port } = leak.address() as AddressInfo;
  await page.goto(`http://leak.example:${port}/`, { timeout: 1000 }).catch(() => undefined);
  expect(connections).toBeGreaterThan(0);
});

test('the sandbox does nothing when it is not sandboxed', async () => {
  await page.evaluate(() => {
    const frame = document.createElement('iframe');
    frame.src = 'sandbox-frame.html';
    document.body.append(frame);
    return new Promise<void>((resolve) => {
      frame.onload = () => {
        frame.contentWindow?.postMessage({ kind: 'sandbox-write', html: '<p id="written">x</p>' }, '*');
        setTimeout(resolve, 300);
      };
    });
  });
  expect(
    await page.evaluate(() => document.querySelector('iframe')?.contentDocument?.getElementById('written')),
  ).toBeNull();
});
