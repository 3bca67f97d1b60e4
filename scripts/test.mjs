/**
 * @file `npm test`: packages, driver, browser, page; then the Node and Dawn tests, then the page in the real browser.
 *
 * Words after `npm test --` go to vitest as they are. The last line sums both runs: "N passed, N failed".
 */
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { buildPage, hasPage } from './build.mjs';
import { findBrowser } from './find-browser.mjs';
import { findGpuDriver } from './find-gpu-driver.mjs';
import { install } from './install.mjs';
import { root, runNode, say } from './run.mjs';

const sum = { passed: 0, failed: 0, skipped: 0 };
const words = process.argv.slice(2);

/** A step that cannot be taken counts as one failed test and does not hide the others. @param {string} name @param {() => Promise<void>} step */
async function attempt(name, step) {
  try {
    await step();
    return true;
  } catch (error) {
    say(`${name}: ${error instanceof Error ? error.message : error}`);
    sum.failed++;
    return false;
  }
}

/** One vitest run, counted from its own report. @param {string} config @param {NodeJS.ProcessEnv} env */
async function vitest(config, env) {
  const report = join(root, '.cache', `${config}.json`);
  mkdirSync(join(root, '.cache'), { recursive: true });
  rmSync(report, { force: true });
  const code = await runNode(
    'node_modules/vitest/vitest.mjs',
    [
      ...['run', '--config', config, '--reporter=default', '--reporter=json', `--outputFile.json=${report}`],
      // A word that names a test of one run names none of the other.
      ...(words.length > 0 ? ['--passWithNoTests', ...words] : []),
    ],
    { env, stdout: 'inherit' },
  );
  const failed = count(report);
  // A crash, or an error outside any test, is in no report.
  if (code !== 0 && failed === 0) sum.failed++;
}

/** Adds a report's tests to the sum; returns how many failed. A file that could not even be loaded counts as one. @param {string} report */
function count(report) {
  /** @type {{numPassedTests: number, numFailedTests: number, numPendingTests: number, numTodoTests: number, testResults: {status: string, assertionResults: {status: string}[]}[]}} */
  let result;
  try {
    result = JSON.parse(readFileSync(report, 'utf8'));
  } catch {
    return 0;
  }
  const unloaded = result.testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
  ).length;
  sum.passed += result.numPassedTests;
  sum.failed += result.numFailedTests + unloaded;
  sum.skipped += result.numPendingTests + result.numTodoTests;
  return result.numFailedTests + unloaded;
}

if (await attempt('packages', install)) {
  /** @type {NodeJS.ProcessEnv} */
  let env = process.env;
  // The browser first: its SwiftShader may be the only driver there is.
  const browser = await findBrowser();
  const hasDriver = await attempt('GPU driver', async () => {
    const driver = await findGpuDriver();
    if (driver.kind === 'none') throw new Error('the kernels cannot be tested without one.');
    env = { ...process.env, ...driver.env, DREAM_GPU_DRIVER: driver.kind };
  });
  if (hasDriver) await vitest('vitest.config.ts', env);

  const built = await attempt('page', async () => {
    if (!hasPage()) throw new Error('index.html is missing.');
    await buildPage();
  });
  if (built) {
    const found = await attempt('browser', async () => {
      if (!browser) throw new Error('the page cannot be tested without one.');
    });
    if (found) await vitest('vitest.e2e.config.ts', { ...env, DREAM_BROWSER: browser ?? '' });
  }
}

if (sum.passed + sum.failed === 0) {
  say('No test ran: nothing matches.');
  sum.failed = 1;
}
const skipped = sum.skipped > 0 ? `, ${sum.skipped} skipped` : '';
process.stdout.write(`\n${sum.passed} passed, ${sum.failed} failed${skipped}\n`, () =>
  process.exit(sum.failed > 0 ? 1 : 0),
);
