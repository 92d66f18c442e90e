import { defineConfig } from 'vitest/config'

// A fresh worker for each file loads the sources again each time, which for these takes longer than their tests; what one of them leaves
// to the next is put back. The others start many programs, which takes longer
// the more memory a worker holds.
const TOGETHER = [
  'backlog',
  'budget',
  'capture',
  'command',
  'context',
  'conversation',
  'document',
  'handoff',
  'history',
  'import',
  'index',
  'journal',
  'ledger',
  'plan',
  'savings',
  'serve',
  'session',
  'simulate',
  'survey',
  'text',
  'workflow',
].map((name) => `test/${name}/**/*.test.ts`)

// These put something in the place of a module.
const MOCKING = [
  'test/capture/usage-tail.test.ts',
  'test/conversation/copy-reads.test.ts',
  'test/index/removed-while-opened.test.ts',
]

export default defineConfig({
  test: {
    // These end a test that hangs. No test relies on how long something takes, so a busy machine may take its time.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 170_000 } },
    // Tests start real processes; two workers on a two-core machine keep them honest and quick.
    maxWorkers: 2,
    globalSetup: ['test/support/templates.ts'],
    setupFiles: ['test/support/leave-as-found.ts'],
    projects: [
      {
        extends: true,
        test: {
          name: 'together',
          include: TOGETHER,
          exclude: [...MOCKING, 'test/**/*.process.test.ts', 'node_modules/**'],
          isolate: false,
        },
      },
      { extends: true, test: { name: 'mocking', include: MOCKING } },
      {
        extends: true,
        test: {
          name: 'apart',
          include: ['test/**/*.test.ts'],
          exclude: [
            ...TOGETHER,
            'test/**/*.attack.test.ts',
            'test/**/*.fault.test.ts',
            'test/**/*.harness.test.ts',
            'test/**/*.process.test.ts',
            'node_modules/**',
          ],
        },
      },
    ],
  },
})
