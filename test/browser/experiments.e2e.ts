/** @file The section "Experiments" in a real browser: results kept from before, a file of one's own, run, kept and forgotten. */
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright';
import { describe, expect, test } from 'vitest';
import paperTable from '../../bench/experiments/paper-table.json';
import { parseExperiment, plannedRuns, quickened } from '../../src/dream/experiment/definition';
import { someResult } from '../ui/experiments/fake-experiments';
import { context, newContext, offences, open, useBrowser, violations, withRecording } from './visitor';

useBrowser();

const section = (page: Page) => page.locator('.experiments');

async function openSection(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Open experiments' }).click();
  await page.locator('.result-table').waitFor({ timeout: 60_000 });
}

/** As if all but the last method of the quick paper's table had been run before. */
async function withResults(page: Page): Promise<number> {
  const experiment = quickened(parseExperiment(paperTable));
  const rows = plannedRuns(experiment)
    .slice(0, -1)
    .map(({ id, row, seed, fingerprint }, i) => {
      const realSuccess = (i % 10) / 10;
      const curve = [0, 2, 4].map((iteration) => ({
        iteration,
        realSuccess: (realSuccess * iteration) / 4,
        atRolloutTemperature: 0,
      }));
      const result = {
        ...someResult(row, seed, realSuccess),
        curve,
        realTransitions: 100 * i,
        dreamedTransitions: 900,
      };
      return { key: [experiment.name, id], value: { fingerprint, result } };
    });
  await page.evaluate(
    (rows) =>
      new Promise<void>((done, fail) => {
        const request = indexedDB.open('dreamgym-experiments', 1);
        request.onupgradeneeded = () => {
          request.result.createObjectStore('plans');
          request.result.createObjectStore('stages');
        };
        request.onerror = () => fail(request.error);
        request.onsuccess = () => {
          const writing = request.result.transaction('plans', 'readwrite');
          for (const { key, value } of rows) writing.objectStore('plans').put(value, key);
          writing.oncomplete = () => {
            request.result.close();
            done();
          };
        };
      }),
    rows,
  );
  return rows.length;
}

const openFile = (page: Page, name: string, content: unknown) =>
  section(page)
    .locator('input[type=file]')
    .setInputFiles({ name, mimeType: 'application/json', buffer: Buffer.from(JSON.stringify(content)) });

/** The agent as it is, on ten tasks: the smallest experiment there is. */
const tiny = {
  format: 'dreamgym-experiment',
  version: 1,
  name: 'tiny',
  settings: { maxSteps: 3 },
  seeds: [1],
  evaluation: { tasks: 10 },
  rows: [{ name: 'Warm start', stages: [] }],
};

describe('what was found before', () => {
  test.each([
    ['light', { colorScheme: 'light', viewport: { width: 1280, height: 900 } }],
    ['dark', { colorScheme: 'dark', viewport: { width: 1280, height: 900 } }],
    ['phone', { viewport: { width: 390, height: 844 }, hasTouch: true }],
    ['forced colours', { forcedColors: 'active', viewport: { width: 1024, height: 768 } }],
  ] as const)('is a table with pictures and curves, accessible and no wider than the page: %s', async (_, options) => {
    await newContext({ reducedMotion: 'reduce', ...options });
    await withRecording();
    const page = await open();
    const finished = await withResults(page);
    await openSection(page);
    expect(await section(page).textContent()).toContain(`${finished + 1} runs, ${finished} finished`);
    expect(await page.locator('.result-table tbody tr').count()).toBe(finished + 1);
    expect(await page.locator('.experiment-curves .chart').count()).toBe(finished);
    await section(page).locator('.twin summary').first().click();
    await openFile(page, 'cat.json', { cat: 1 });
    await section(page).getByRole('alert').waitFor();
    expect(await violations(page)).toEqual([]);
    await section(page).getByRole('radio', { name: 'Recorded by the authors' }).check();
    await section(page).getByRole('heading', { name: 'How true the dreams were' }).waitFor();
    expect(await section(page).getByText('nothing of them was computed on your machine').count()).toBe(1);
    expect(await violations(page)).toEqual([]);
    expect(
      await page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth),
    ).toBe(true);
    expect(offences).toEqual([]);
  });
});

test('by keyboard: a file that is none is refused, and everything stays as it was', async () => {
  await newContext();
  const page = await open();
  await page.getByRole('button', { name: 'Open experiments' }).focus();
  await page.keyboard.press('Enter');
  await page.locator('.result-table').waitFor({ timeout: 60_000 });
  const order: (string | null | undefined)[] = [];
  for (let i = 0; i < 5; i++) {
    await page.keyboard.press('Tab');
    order.push(
      await page.evaluate(() => {
        const { activeElement } = document;
        return (activeElement as HTMLInputElement).labels?.[0]?.textContent ?? activeElement?.textContent;
      }),
    );
  }
  for (const [i, name] of ['Experiment', 'Quick version', 'Open an', 'Save this', 'Run the'].entries())
    expect(order[i]).toMatch(new RegExp(`^${name}`));
  const before = await page.locator('.result-table').textContent();
  await openFile(page, 'cat.json', { cat: 1 });
  const alert = section(page).getByRole('alert');
  await alert.waitFor();
  expect(await alert.textContent()).toContain('cat.json is not an experiment file');
  expect(await page.locator('.result-table').textContent()).toBe(before);
  await alert.getByRole('button').click();
  await expect.poll(() => alert.count()).toBe(0);
});

test('an experiment of one’s own: run, saved, kept over a reload, forgotten; another tab must wait', async () => {
  await newContext();
  const page = await open();
  await openSection(page);
  await openFile(page, 'tiny.json', tiny);
  await section(page).getByText('1 method × 1 seed = 1 run, 0 finished.').waitFor();
  const second = await open();
  await openSection(second);
  await openFile(second, 'tiny.json', tiny);
  await section(second).getByText('1 run, 0 finished.').waitFor();
  await section(page).getByRole('button', { name: 'Run the experiment' }).click();
  await section(page).getByRole('progressbar').waitFor();
  await section(second).getByRole('button', { name: 'Run the experiment' }).click();
  await section(second).getByText('running in another tab').waitFor();
  await second.close();

  await section(page).getByText('1 run, 1 finished.').waitFor({ timeout: 300_000 });
  await section(page).getByRole('button', { name: 'Finished' }).waitFor();
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    section(page).getByRole('button', { name: 'Save results (CSV)' }).click(),
  ]);
  const lines = readFileSync(await file.path(), 'utf8')
    .trim()
    .split('\n');
  expect(lines).toHaveLength(2);
  expect(lines[1]).toMatch(/^"Warm start",1,[\d.]+,/);
  const [table] = await Promise.all([
    page.waitForEvent('download'),
    section(page).getByRole('button', { name: 'Save results (Markdown)' }).click(),
  ]);
  expect(readFileSync(await table.path(), 'utf8')).toMatch(/^\| method \|.*\n\|.*\n\| Warm start \| [\d.]+ \|/);

  await page.reload();
  await openSection(page);
  await openFile(page, 'tiny.json', tiny);
  await section(page).getByText('1 run, 1 finished.').waitFor();
  await section(page).getByRole('button', { name: 'Forget results' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Keep them' }).click();
  await section(page).getByRole('button', { name: 'Forget results' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Forget them' }).click();
  await section(page).getByText('1 run, 0 finished.').waitFor();
  expect(offences).toEqual([]);
  expect(context.pages()).toHaveLength(1);
});
