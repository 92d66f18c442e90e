import { defineConfig } from 'vitest/config'

// Each test replays an attack with the built program: by a cloned repository, another user, or a page or agent that oversteps.
export default defineConfig({
  test: {
    include: ['test/attacks/**/*.attack.test.ts'],
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 170_000 } },
    maxWorkers: 2,
    globalSetup: ['test/support/templates.ts'],
    setupFiles: ['test/support/leave-as-found.ts'],
  },
})
