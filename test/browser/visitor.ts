/**
 * @file A visitor of the built page: one browser, fresh contexts, and an eye on what the page must never do.
 *
 * `DREAM_BROWSER` names the browser (scripts/test.mjs finds one), `DREAM_PAGE` another built folder than dist/.
 */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { pageFolder } from '../../scripts/build.mjs';
import { serve } from '../../scripts/static-server.mjs';
import { fixtureRun } from '../ui/fixture';

const executablePath = process.env.DREAM_BROWSER ?? (existsSync('/usr/bin/chromium') ? '/usr/bin/chromium' : undefined);
const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** A name that is neither localhost nor https, so the browser treats the page as insecure. */
export const insecureHost = 'classroom.test';

const browserArguments = [
  '--headless=new',
  '--no-sandbox',
  '--enable-unsafe-webgpu',
  '--use-webgpu-adapter=swiftshader',
  '--enable-features=Vulkan',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  `--host-resolver-rules=MAP ${insecureHost} 127.0.0.1`,
];

export let site: Awaited<ReturnType<typeof serve>>;
let browser: Browser;
export let context: BrowserContext;
/** What the page did that it must never do. */
export let offences: string[];

/** Call in the test file: serves the page and keeps one browser for its tests, one context for each. */
export function useBrowser(): void {
  beforeAll(async () => {
    site = await serve(process.env.DREAM_PAGE ?? pageFolder, { port: 0 });
    browser = await chromium.launch({ executablePath, args: browserArguments });
  });
  afterEach(async () => {
    await context?.close();
  });
  afterAll(async () => {
    await browser?.close();
    await site?.close();
  });
}

export async function newContext(options: BrowserContextOptions = {}): Promise<BrowserContext> {
  offences = [];
  context = await browser.newContext({ acceptDownloads: true, ...options });
  return context;
}

export async function open(hash = '', address = site.url): Promise<Page> {
  const page = await context.newPage();
  page.on('pageerror', (error) => offences.push(`uncaught: ${error.message}`));
  page.on('console', (message) => {
    if (/Content Security Policy|TrustedHTML|TrustedScript/.test(message.text())) offences.push(message.text());
  });
  page.on('request', (request) => {
    const { protocol, origin } = new URL(request.url());
    if (!['blob:', 'data:'].includes(protocol) && origin !== new URL(address).origin) offences.push(`asked ${origin}`);
  });
  await page.goto(hash ? `${address}#${hash}` : address);
  await page.getByRole('heading', { level: 1 }).waitFor();
  return page;
}

/** The fixture in place of the recorded run, for what is tested about replaying. */
export async function withRecording(body: string | Buffer = JSON.stringify(fixtureRun(8))): Promise<void> {
  await context.route('**/runs/household-tiny.json', (route) =>
    route.fulfill({ body, contentType: 'application/json' }),
  );
}

export async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axeSource);
  return page.evaluate(async () => {
    const { axe } = window as unknown as {
      axe: { run(root: Document): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
    };
    const { violations } = await axe.run(document);
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' | ')}`);
  });
}

/** A message card by its title. */
export const card = (page: Page, title: string) => page.locator('.card h2', { hasText: title });

export const status = (page: Page) => page.evaluate(() => window.dreamgym.status());

export async function finishedIterations(page: Page, count: number): Promise<void> {
  await expect
    .poll(async () => (await status(page)).metrics.length, { timeout: 500_000, interval: 500 })
    .toBeGreaterThanOrEqual(count);
}

/** What a driver reset or a hungry neighbour does to a page. */
export async function killGpuProcess(): Promise<void> {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  const gpu = processInfo.find(({ type }) => type === 'GPU');
  if (!gpu) throw new Error('This browser has no GPU process.');
  process.kill(gpu.id, 'SIGKILL');
  await session.detach();
}
