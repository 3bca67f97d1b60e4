/**
 * @file Takes the README's pictures of the built page with its recorded run: `node test/browser/screenshots.mjs`.
 *
 * They show the shipped run, so they are taken only when there is one.
 */
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright';
import { buildPage, pageFolder } from '../../scripts/build.mjs';
import { root, say } from '../../scripts/run.mjs';
import { serve } from '../../scripts/static-server.mjs';

/** @type {Record<string, import('playwright').BrowserContextOptions>} */
const pictures = {
  desktop: { viewport: { width: 1440, height: 1180 }, colorScheme: 'light' },
  dark: { viewport: { width: 1440, height: 1180 }, colorScheme: 'dark' },
  phone: {
    viewport: { width: 390, height: 844 },
    deviceScaleFactor: 2,
    colorScheme: 'light',
    hasTouch: true,
    isMobile: true,
  },
};

await buildPage();
if (!existsSync(join(pageFolder, 'runs', 'household-tiny.json'))) {
  say('There is no recorded run (public/runs/household-tiny.json), so there is nothing to show yet.');
  process.exit(1);
}
const site = await serve(pageFolder, { port: 0 });
const browser = await chromium.launch({
  executablePath: process.env.DREAM_BROWSER ?? (existsSync('/usr/bin/chromium') ? '/usr/bin/chromium' : undefined),
  args: [
    '--headless=new',
    '--no-sandbox',
    '--enable-unsafe-webgpu',
    '--use-webgpu-adapter=swiftshader',
    '--enable-features=Vulkan',
  ],
});
mkdirSync(join(root, 'docs'), { recursive: true });
for (const [name, options] of Object.entries(pictures)) {
  // Stillness: the whole run at once, so that the picture is the same each time.
  const context = await browser.newContext({ reducedMotion: 'reduce', ...options });
  const page = await context.newPage();
  await page.goto(site.url);
  await page.locator('.turn').first().waitFor();
  // What a reader's own machine can do is not part of the picture.
  for (const close of await page.locator('.card-warning .icon-button').all()) await close.click();
  // Closing them has scrolled: the picture is what a reader sees first.
  await page.evaluate(() => scrollTo(0, 0));
  await page.waitForTimeout(500);
  const path = join(root, 'docs', `${name}.png`);
  await page.screenshot({ path });
  say(`docs/${name}.png`);
  await context.close();
}
await browser.close();
await site.close();
