/** @file The panel "Worlds" of the built page: played by hand, seen as a page in a frame that can do nothing, files read. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright';
import { expect, test } from 'vitest';
import { newContext, offences, open, useBrowser, violations, withRecording } from './visitor';

useBrowser();

/** Pictures for people to look at: only where a folder is named. */
const pictures = process.env.DREAM_PICTURES;

async function picture(page: Page, name: string): Promise<void> {
  if (!pictures) return;
  mkdirSync(pictures, { recursive: true });
  await page.locator('section.worlds').screenshot({ path: join(pictures, `worlds-${name}.png`) });
}

async function openWorlds(width = 1280, colorScheme: 'light' | 'dark' = 'light') {
  await newContext({ viewport: { width, height: 900 }, colorScheme });
  await withRecording();
  const page = await open();
  await page.getByRole('button', { name: 'Open worlds' }).click();
  await page.getByRole('log', { name: 'What the world says' }).waitFor();
  return page;
}

const log = (page: Page) => page.getByRole('log', { name: 'What the world says' });

/** Takes the expert's advice until the episode is over. */
async function playThrough(page: Page): Promise<void> {
  for (let step = 0; step < 40; step++) {
    if (await page.locator('.world-ending').isVisible()) return;
    await page.getByRole('button', { name: 'Hint' }).click();
    const action = (await page.locator('.worlds .notice code').textContent()) ?? '';
    await page.getByLabel('What do you do?').fill(action);
    await page.keyboard.press('Enter');
  }
}

test('the household by keyboard and by button, taken back, and to its end', async () => {
  const page = await openWorlds();
  await page.getByLabel('What do you do?').fill('look');
  await page.keyboard.press('Enter');
  await log(page).getByText('1. look').waitFor();
  await page.getByRole('button', { name: 'Take back' }).click();
  await expect.poll(() => log(page).getByText('1. look').count()).toBe(0);
  await page.locator('.world-possible button').first().click();
  // The pressed button may be gone; the focus is on the answer.
  expect(await page.evaluate(() => document.activeElement?.getAttribute('role'))).toBe('log');
  await picture(page, 'household');
  await playThrough(page);
  await page.getByText(/Task done in \d+ steps?/).waitFor();
  expect(await violations(page)).toEqual([]);
  expect(offences).toEqual([]);
});

test('the shop: a search by its template, a score in its parts, on a phone in the dark', async () => {
  const page = await openWorlds(360, 'dark');
  await page.getByLabel('World', { exact: true }).selectOption('shop');
  await page.getByLabel('query in search[<query>]').fill('lamp');
  await page.keyboard.press('Enter');
  await log(page).getByText('1. search[lamp]').waitFor();
  await picture(page, 'shop-phone-dark');
  await playThrough(page);
  await page.getByText(/Score of the purchase/).waitFor();
  await picture(page, 'shop-score-phone-dark');
  const wide = await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);
  expect(wide).toBe(false);
  expect(await violations(page)).toEqual([]);
  expect(offences).toEqual([]);
});

const forbidden = 'https://example.com/';

test('the web: the page in its frame has its style, and can neither act nor reach anything', async () => {
  const page = await openWorlds();
  await page.getByLabel('World', { exact: true }).selectOption('web');
  const element = page.locator('iframe.world-page');
  await element.waitFor();
  expect(await element.getAttribute('sandbox')).toBe('');
  const frame = page.frameLocator('iframe.world-page');
  await frame.locator('main').waitFor();
  // The header's colour is the document's own: the hash of its style is in the page's policy.
  const colour = await frame.locator('header').evaluate((node) => getComputedStyle(node).backgroundColor);
  expect(colour).toBe('rgb(233, 238, 243)');
  expect(await frame.locator('a[href], form[action], script, link').count()).toBe(0);
  const reached = await frame.locator('body').evaluate(async (_, address) => {
    const asked = await fetch(address).then(
      () => 'reached',
      () => 'refused',
    );
    let parent = 'refused';
    let storage = 'refused';
    try {
      if (window.parent.document) parent = 'reached';
    } catch {}
    try {
      if (localStorage) storage = 'reached';
    } catch {}
    return { asked, parent, storage };
  }, forbidden);
  expect(reached).toEqual({ asked: 'refused', parent: 'refused', storage: 'refused' });
  await picture(page, 'web');
  if (pictures) {
    await element.scrollIntoViewIfNeeded();
    await page.screenshot({ path: join(pictures, 'worlds-web-frame.png') });
  }
  await page.getByLabel('What do you do?').fill('stop [nothing]');
  await page.keyboard.press('Enter');
  await page.getByText(/Score: \d of 1/).waitFor();
  await picture(page, 'web-judged');
  expect(await violations(page)).toEqual([]);
  // The attempt was refused in words, and nothing was asked.
  expect(offences.filter((offence) => !offence.includes(forbidden))).toEqual([]);
  expect(offences).not.toContain(`asked ${new URL(forbidden).origin}`);
});

test('a file of trajectories is read, reported on and kept as lines', async () => {
  const page = await openWorlds();
  const messages = [
    { role: 'user', content: 'You see a door. Your task is to: open it.' },
    { role: 'assistant', content: 'Thought: go\nAction: open door' },
    { role: 'user', content: 'The door is open.' },
    { role: 'assistant', content: 'Thought: done\nAction: stop' },
  ];
  const text = `${JSON.stringify({ messages })}\n<img src=x onerror=alert(1)>\n`;
  await page.getByLabel('File of trajectories').setInputFiles({
    name: 'mine.jsonl',
    mimeType: 'application/jsonl',
    buffer: Buffer.from(text),
  });
  await page.getByText(/1 episode kept/).waitFor();
  await page.getByText(/1 thing dropped/).waitFor();
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save as memories (JSONL)' }).click();
  expect((await download).suggestedFilename()).toBe('mine-memories.jsonl');
  await picture(page, 'import');
  expect(await violations(page)).toEqual([]);
  expect(offences).toEqual([]);
});
