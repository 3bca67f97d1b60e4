/** @file The built page in a real browser, as a visitor uses it: look, start, lose the page in the middle, resume, export. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { readRunRecord } from '../../src/data/importers/run-record';
import { checkConfig } from '../../src/dream/presets';
import {
  card,
  context,
  finishedIterations,
  insecureHost,
  killGpuProcess,
  newContext,
  offences,
  open,
  site,
  status,
  useBrowser,
  violations,
  withRecording,
} from './visitor';

/** The smallest run that practises, learns, remembers and is checked. */
const tiny =
  'preset=household-quick&seed=7&iterations=3&tasksPerIteration=2&groupSize=2&maxSteps=3&evalTasks=10&bufferCapacity=500';

useBrowser();

describe('without pressing anything', () => {
  test('the first paint shows the recorded run, or says that there is none', async () => {
    await newContext();
    const page = await open();
    await page.locator('.kind-recorded, .card:has-text("no recorded run")').first().waitFor();
    await expect.poll(() => page.locator('#run-button').textContent()).toContain('Start');
    expect(await violations(page)).toEqual([]);
    expect(offences).toEqual([]);
  });

  test('a recorded run is replayed, iteration by iteration, and is called recorded', async () => {
    await newContext();
    await withRecording();
    const page = await open();
    await page.locator('.kind:has-text("Recorded run")').waitFor();
    const position = page.getByLabel('Iteration shown');
    await expect.poll(() => position.inputValue(), { timeout: 15_000 }).not.toBe('0');
    await expect.poll(() => position.inputValue(), { timeout: 15_000 }).toBe('8');
    await page.locator('.turn .tag-imagined').first().waitFor();
    expect(await page.locator('.story').textContent()).toContain('Real success');
    expect(await page.locator('.plot canvas').count()).toBeGreaterThanOrEqual(9);
  });

  test('nothing moves for those who asked for stillness: the whole run is there at once', async () => {
    await newContext({ reducedMotion: 'reduce' });
    await withRecording();
    const page = await open();
    await expect.poll(() => page.getByLabel('Iteration shown').inputValue()).toBe('8');
    await expect.poll(() => page.locator('.turn').count()).toBeGreaterThan(2);
  });

  test.each([
    ['light', { colorScheme: 'light', viewport: { width: 1440, height: 900 } }],
    ['dark', { colorScheme: 'dark', viewport: { width: 1440, height: 900 } }],
    ['phone', { viewport: { width: 360, height: 740 }, hasTouch: true }],
    ['forced colours', { forcedColors: 'active', viewport: { width: 1024, height: 768 } }],
  ] as const)('no accessibility violation and no sideways scrolling: %s', async (_name, options) => {
    await newContext({ reducedMotion: 'reduce', ...options });
    await withRecording();
    const page = await open('seed=7&temperature=0.5');
    await page.locator('.turn').first().waitFor();
    await page.locator('.settings-group, .settings-more, .all-options').evaluateAll((groups) => {
      for (const group of groups) (group as HTMLDetailsElement).open = true;
    });
    for (const tab of ['Settings', 'Task pool', 'Memory', 'Storage', 'Glossary']) {
      await page.getByRole('tab', { name: tab }).click();
      expect(await violations(page), tab).toEqual([]);
    }
    await page.getByText('More curves').click();
    await page.locator('.twin summary').first().click();
    await page.keyboard.press('?');
    await page.getByRole('dialog').waitFor();
    expect(await violations(page)).toEqual([]);
    expect(
      await page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth),
    ).toBe(true);
    expect(offences).toEqual([]);
  });
});

describe('what stands in the way has its own words', () => {
  test('a corrupt recorded run', async () => {
    await newContext();
    await withRecording('{"format":"dreamgym-run","version":1,"runId":');
    const page = await open();
    await card(page, 'The recorded run could not be read').waitFor();
    await expect.poll(() => page.locator('#run-button').getAttribute('aria-disabled')).toBe('false');
  });

  test('no WebGPU: the recorded run still plays, Start explains itself', async () => {
    await newContext();
    await context.addInitScript(() => Reflect.deleteProperty(Navigator.prototype, 'gpu'));
    await withRecording();
    const page = await open();
    await card(page, 'This browser does not offer WebGPU').waitFor();
    await page.locator('.kind:has-text("Recorded run")').waitFor();
    expect(await page.locator('#run-button').getAttribute('aria-disabled')).toBe('true');
    expect(await violations(page)).toEqual([]);
  });

  test('no adapter', async () => {
    await newContext();
    await context.addInitScript(() => {
      GPU.prototype.requestAdapter = async () => null;
    });
    const page = await open();
    await card(page, 'WebGPU is here, but no graphics processor answered').waitFor();
  });

  test('an insecure address comes before everything else', async () => {
    await newContext();
    const page = await open('', site.url.replace('127.0.0.1', insecureHost));
    await card(page, 'This address is not secure').waitFor();
    expect(await page.getByText('does not offer WebGPU').count()).toBe(0);
  });

  test('a link with bad values opens, says what it did, and clamps', async () => {
    await newContext();
    const page = await open('v=1&iterations=99999&temperature=hot&sparkle=1');
    await page.getByText('There is no setting “sparkle”').waitFor();
    expect(await page.getByLabel('Iterations', { exact: true }).inputValue()).toBe('1000');
  });

  test('a missing model: Start says so, and the page stays usable', async () => {
    await newContext();
    await context.route('**/models/**', (route) => route.fulfill({ status: 404 }));
    await withRecording();
    const page = await open(tiny);
    await page.locator('.kind:has-text("Recorded run")').waitFor();
    await page.locator('#run-button').click();
    await card(page, 'The embedded model could not be loaded').waitFor();
    await expect.poll(() => page.locator('#run-button').textContent()).toContain('Start');
  });

  test('a foreign file is refused and nothing changes', async () => {
    await newContext();
    await withRecording();
    const page = await open();
    await page.locator('.kind:has-text("Recorded run")').waitFor();
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'cat.json', mimeType: 'application/json', buffer: Buffer.from('{"cat":1}') });
    await card(page, 'This run cannot be read').waitFor();
    await page.locator('.kind:has-text("Recorded run")').waitFor();
  });
});

describe('controls', () => {
  test('settings live in the link; a lesson link hides what it names', async () => {
    await newContext();
    const page = await open('seed=5&hide=export,glossary');
    await page.getByLabel('Seed', { exact: true }).fill('41');
    await page.keyboard.press('Tab');
    await expect.poll(() => page.url()).toContain('seed=41');
    expect(page.url()).toContain('hide=export,glossary');
    expect(await page.getByText('Export run').count()).toBe(0);
    expect(await page.getByRole('tab', { name: 'Glossary' }).count()).toBe(0);
    await page.getByText('Show everything').click();
    await page.getByRole('tab', { name: 'Glossary' }).waitFor();
  });

  test('keys: help opens and closes, arrows change the rollout, typing is left alone', async () => {
    await newContext({ reducedMotion: 'reduce' });
    await withRecording();
    const page = await open();
    await page.locator('.turn').first().waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => page.locator('dialog[open]').count()).toBe(0);
    await page.locator('body').click({ position: { x: 2, y: 2 } });
    const position = page.locator('.stepper-count');
    await expect.poll(() => position.textContent()).toBe('1 of 8');
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => position.textContent()).toBe('2 of 8');
    await page.getByPlaceholder('search: mug').click();
    await page.keyboard.type('r? .');
    expect(await page.locator('dialog[open]').count()).toBe(0);
  });
});

describe('a run', () => {
  test('start by the button, lose the page in the middle, resume, export, import', async () => {
    await newContext();
    const page = await open(tiny);
    await expect.poll(() => page.locator('#deck-note').textContent(), { timeout: 30_000 }).toContain('seed 7');
    await page.locator('#run-button').click();
    await page.locator('.kind:has-text("Live")').waitFor();
    await finishedIterations(page, 1);
    expect(await page.locator('.readout').first().textContent()).toMatch(/%/);

    // A second tab may not touch the same run.
    const second = await open();
    await second.getByText('Resume last session').click();
    await card(second, 'This run is open in another tab').waitFor({ timeout: 30_000 });
    await second.close();

    await page.reload();
    await page.getByText('Your last run is not finished').waitFor({ timeout: 60_000 });
    await page.getByText('Resume last session').click();
    await finishedIterations(page, 3);
    await expect
      .poll(async () => (await status(page)).progress.phase, { timeout: 300_000, interval: 500 })
      .toBe('finished');
    const { metrics, evaluations } = await status(page);
    expect(metrics.map(({ iteration }) => iteration)).toEqual([1, 2, 3]);
    expect(metrics.at(-1)?.realTransitions).toBe(0);
    // Three turns solve nothing, so nothing is learned here; but everything was dreamed and remembered.
    expect(metrics.at(-1)?.meanTurns).toBeGreaterThan(0);
    expect(metrics.at(-1)?.bufferSize).toBeGreaterThan(0);
    expect(evaluations.length).toBeGreaterThanOrEqual(2);
    expect(await violations(page)).toEqual([]);

    const [file] = await Promise.all([page.waitForEvent('download'), page.getByText('Export run').click()]);
    const bytes = readFileSync(await file.path());
    const { record } = await readRunRecord(bytes, checkConfig);
    expect(record.config.seed).toBe(7);
    expect(record.metrics).toHaveLength(3);
    expect(record.rollouts.map(({ iteration }) => iteration)).toEqual([1, 2, 3]);
    expect(record.weightsHash).toMatch(/^[0-9a-f]{64}$/);

    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'run.zip', mimeType: 'application/zip', buffer: bytes });
    await page.locator('.kind:has-text("Imported run")').waitFor();
    await page.locator('.turn').first().waitFor();
    expect(offences).toEqual([]);
  });

  test('the GPU process is killed: the run goes on from its last finished iteration', async () => {
    await newContext();
    const page = await open(tiny);
    await page.evaluate(() => window.dreamgym.start());
    await finishedIterations(page, 1);
    await killGpuProcess();
    // It either recovers by itself or waits, paused, with its reason on the page: one press goes on.
    await expect
      .poll(
        async () => {
          const { phase } = (await status(page)).progress;
          if (phase === 'paused') await page.evaluate(() => window.dreamgym.resume()).catch(() => {});
          return phase;
        },
        { timeout: 300_000, interval: 1000 },
      )
      .toBe('finished');
    expect((await status(page)).metrics.map(({ iteration }) => iteration)).toEqual([1, 2, 3]);
  });

  test('a link starts it, a script pauses, resumes and stops it', async () => {
    await newContext();
    const page = await open(`autostart&${tiny}`);
    await finishedIterations(page, 1);
    await page.evaluate(() => window.dreamgym.pause());
    await expect
      .poll(async () => (await status(page)).progress.phase, { timeout: 300_000, interval: 500 })
      .toBe('paused');
    await page.evaluate(() => window.dreamgym.resume());
    await expect
      .poll(async () => (await status(page)).progress.phase, { timeout: 60_000, interval: 200 })
      .not.toBe('paused');
    await page.evaluate(() => window.dreamgym.stop());
    expect((await status(page)).progress.phase).toBe('stopped');
    const bytes = await page.evaluate(async () => [...(await window.dreamgym.export())]);
    const { record } = await readRunRecord(Uint8Array.from(bytes), checkConfig);
    expect(record.metrics.length).toBeGreaterThanOrEqual(1);
    expect(offences).toEqual([]);
  });
});
