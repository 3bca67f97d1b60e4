/** @file Runs contestants in pages of Chromium on SwiftShader. */
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

/** @returns {Promise<import('./dawn-host.mjs').Host>} */
export async function chromiumHost() {
  const executablePath = await findBrowser();
  if (!executablePath) throw new Error('No Chromium was found.');
  const site = await serve(root, { port: 0 });
  const browser = await chromium.launch({ executablePath, args: browserArguments });
  return {
    name: `Chromium ${browser.version()}`,
    async open(task) {
      const context = await browser.newContext();
      const page = await context.newPage();
      page.on('console', (message) => process.stderr.write(`  ${message.text()}\n`));
      page.setDefaultTimeout(0);
      await page.goto(`${site.url}bench/peers/host/page.html`);
      /** @param {object} message @returns {Promise<any>} */
      const ask = async (message) => {
        try {
          return await page.evaluate((given) => /** @type {any} */ (globalThis).answer(given), message);
        } catch (error) {
          return { error: error instanceof Error ? error.message : String(error) };
        }
      };
      return { first: await ask(task), round: () => ask({}), close: () => context.close() };
    },
    async close() {
      await browser.close();
      await site.close();
    },
  };
}
