/** @file Runs a contestant in a page of Chromium on SwiftShader, where its own device or a software driver of Dawn fails it. */
import { chromium } from 'playwright';
import { findBrowser } from '../../../scripts/find-browser.mjs';
import { root } from '../../../scripts/run.mjs';
import { serve } from '../../../scripts/static-server.mjs';

/** As the page's own test starts it. */
const browserArguments = [
  ...['--headless=new', '--no-sandbox', '--enable-unsafe-webgpu', '--use-webgpu-adapter=swiftshader'],
  ...['--enable-features=Vulkan', '--disable-background-networking', '--disable-component-update'],
  ...['--disable-sync', '--no-first-run', '--disable-gpu-watchdog'],
];

/** @returns {Promise<{name: string, run: (task: object) => Promise<any>, close: () => Promise<void>}>} */
export async function chromiumHost() {
  const executablePath = await findBrowser();
  if (!executablePath) throw new Error('No Chromium was found.');
  const site = await serve(root, { port: 0 });
  const browser = await chromium.launch({ executablePath, args: browserArguments });
  return {
    name: `Chromium ${browser.version()}`,
    async run(task) {
      // A context of its own: nothing of the contestant before it is left in the page.
      const context = await browser.newContext();
      try {
        const page = await context.newPage();
        page.on('console', (message) => process.stderr.write(`  ${message.text()}\n`));
        page.setDefaultTimeout(0);
        await page.goto(`${site.url}bench/peers/host/page.html`);
        return await page.evaluate(
          (/** @type {object} */ given) => /** @type {any} */ (globalThis).runContest(given),
          task,
        );
      } catch (error) {
        return { error: error instanceof Error ? error.message : String(error) };
      } finally {
        await context.close();
      }
    },
    async close() {
      await browser.close();
      await site.close();
    },
  };
}
