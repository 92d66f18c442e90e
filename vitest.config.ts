import { defineConfig } from 'vitest/config'

// These put something of their own in the place of a module, which others may have loaded already.
const APART = ['test/capture/usage-tail.test.ts', 'test/conversation/copy-reads.test.ts']

export default defineConfig({
  test: {
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Tests start real processes; two workers on a two-core machine keep them honest and quick.
    maxWorkers: 2,
    setupFiles: ['test/support/leave-as-found.ts'],
    projects: [
      { extends: true, test: { name: 'apart', include: APART } },
      {
        extends: true,
        test: {
          name: 'together',
          include: ['test/**/*.test.ts'],
          exclude: [...APART, 'test/**/*.fault.test.ts', 'test/**/*.harness.test.ts', 'node_modules/**'],
          // A fresh worker for each file would load the sources again each time. What a file leaves to the next is put back.
          isolate: false,
        },
      },
    ],
  },
})
