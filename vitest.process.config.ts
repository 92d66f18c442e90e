import { defineConfig } from 'vitest/config'

// Starts many processes: whole commands, background agents, kills. They are part of CI; `npm test` leaves them out to stay quick.
export default defineConfig({
  test: {
    include: ['test/**/*.process.test.ts'],
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 170_000 } },
    // Two workers on a two-core machine keep them honest and quick.
    maxWorkers: 2,
    globalSetup: ['test/support/templates.ts'],
    setupFiles: ['test/support/leave-as-found.ts'],
  },
})
