import { defineConfig } from 'vitest/config';

/** Node tests: plain logic, and every kernel on Dawn. The real browser is driven from test/browser with Playwright. */
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    // One Dawn device per process, and only two cores on the smallest machine we test on.
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
