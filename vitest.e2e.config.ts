import { defineConfig } from 'vitest/config';

/** Whole programs: the page in a real browser driven by Playwright, and the scripts. `npm test` builds and finds what they need. */
export default defineConfig({
  test: {
    include: ['test/**/*.e2e.ts'],
    pool: 'forks',
    // One browser, one software GPU, two cores.
    fileParallelism: false,
    testTimeout: 600_000,
    hookTimeout: 120_000,
  },
});
