import { defineConfig } from 'vitest/config'

// The fault sweeps need a C compiler (they interpose on libc), so they are not part of `npm test`.
export default defineConfig({
  test: {
    include: ['test/**/*.fault.test.ts'],
    testTimeout: 900_000,
    hookTimeout: 120_000,
    maxWorkers: 1,
  },
})
