import { defineConfig } from 'vitest/config';

/** The built page in a real browser, driven by Playwright from Node. Started by `npm test`, which builds and finds the browser. */
export default defineConfig({
  test: {
    include: ['test/browser/**/*.e2e.ts'],
    pool: 'forks',
    // One browser, one software GPU, two cores.
    fileParallelism: false,
    testTimeout: 600_000,
    hookTimeout: 120_000,
  },
});
