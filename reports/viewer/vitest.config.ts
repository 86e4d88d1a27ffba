import { defineConfig } from 'vitest/config';

// npm test -- --project unit | e2e | bench
export default defineConfig({
  test: {
    projects: [
      { test: { name: 'unit', include: ['tests/unit/**/*_test.ts'] } },
      {
        test: {
          name: 'e2e',
          isolate: false, // files share what they import, and the browser's tabs
          maxWorkers: 2, // one works while the other waits for the browser
          include: ['tests/e2e/**/*_test.ts'],
          expect: { poll: { timeout: 20_000 } }, // the page answers a key in its own time
          globalSetup: 'tests/made/browser_server.ts',
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: 'bench',
          retry: 4, // other work on the machine slows even the time that is counted
          include: ['tests/bench/**/*_test.ts'],
          globalSetup: 'tests/made/browser_server.ts',
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
