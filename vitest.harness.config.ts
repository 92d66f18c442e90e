import { defineConfig } from 'vitest/config'

// Drives the real agent programs against a model on loopback. They are installed by the set-up, once.
export default defineConfig({
  test: {
    include: ['test/harness/**/*.harness.test.ts'],
    setupFiles: ['test/support/leave-as-found.ts'],
    globalSetup: ['test/harness/install.ts', 'test/harness/install-acp.ts'],
    testTimeout: 120_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 110_000 } },
    maxWorkers: 2,
  },
})
