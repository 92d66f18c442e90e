import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/**/*.fault.test.ts', 'test/**/*.harness.test.ts', 'node_modules/**'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Tests start real processes; two workers on a two-core machine keep them honest and quick.
    maxWorkers: 2,
  },
})
