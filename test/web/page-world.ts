// A project with a session that has some history and a conversation.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { conversationStore } from '../../src/history/store.ts'
import type { HistoryItem, Message, MessagePart } from '../../src/history/items.ts'
import { Workspace } from '../../src/project/store/workspace.ts'
import { type EntryDraft, draftEntry } from '../../src/session/entries.ts'
import { type DemoProject, emptyProject } from './demo-project.ts'

export interface PageWorld extends DemoProject {
  readonly session: string
  readonly conversation: string
}

export const CONVERSATION = '0a1b2c3d-0000-4000-8000-000000000001'

const usage = (read: number, output: number) => ({
  input: 12,
  cacheWritten: 900,
  cacheRead: read,
  output,
})
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

/** The items of a conversation in order, each a second after the one before. */
export function conversationOf(
  ...items: readonly ((at: string, id: string) => HistoryItem)[]
): readonly HistoryItem[] {
  return items.map((make, index) =>
    make(new Date(Date.UTC(2026, 9, 2, 9, 0, index * 20)).toISOString(), `m${index}`),
  )
}

export const message =
  (role: Message['role'], parts: readonly MessagePart[] | string, more: Partial<Message> = {}) =>
  (at: string, id: string): Message => ({
    type: 'message',
    id,
    at,
    role,
    parts: typeof parts === 'string' ? [{ type: 'text', text: parts }] : parts,
    ...more,
  })

/** Entries that hooks would write. */
export function journal(
  { root, env }: DemoProject,
  session: string,
  drafts: readonly EntryDraft[],
): void {
  const workspace = new Workspace(root, { env })
  const live = workspace.session(session)
  live.append(drafts)
  live.close()
  workspace.close()
}

export async function pageWorld(): Promise<PageWorld> {
  const demo = emptyProject()
  const { root, stint, git } = demo
  for (const [name, goal, branch] of [
    ['rotate-keys', 'Rotate the signing keys without logging anybody out', 'keys/rotate'],
    ['import-speed', 'Import a gigabyte of history in under a minute', 'import-speed'],
    ['flaky-ci', 'Find out why one build in twenty fails on the ARM runner', 'main'],
  ] as const) {
    if (branch !== 'main') git('switch', '-q', '-c', branch)
    await stint('init', '--name', name, '--goal', goal, '--force')
    await stint(
      'log',
      '--step',
      'Reproduce it',
      '--step',
      'Write a failing test',
      '--step',
      'Fix it',
    )
    if (name === 'import-speed')
      await stint('log', '--blocker', 'The test machine has no disk left')
    if (name === 'rotate-keys') await stint('close', '--complete')
    git('switch', '-q', 'main')
  }
  git('switch', '-q', '-c', 'fix/sweep-race')
  await stint(
    'init',
    '--name',
    'fix-sweep-bug',
    '--title',
    'Sweeper drops records under load',
    '--goal',
    'Fix the race condition that makes the sweeper drop records, and prove with a test that it cannot come back.',
    '--force',
  )
  await stint(
    'log',
    '--step',
    'Reproduce the failure',
    '--step',
    'Find the race',
    '--step',
    'Write the regression test',
    '--step',
    'Fix the lock order',
    '--step',
    'Measure it under load',
  )
  await stint('log', '--done', 'Reproduce the failure')
  await stint('log', '--done', 'Find the race')
  await stint(
    'log',
    '--discovery',
    'check() runs before lock(): two sweepers can both see a record as free (sweeper.go:245)',
  )
  await stint('log', '--gotcha', 'The race only shows with GOMAXPROCS >= 4')
  await stint(
    'log',
    '--decision',
    'Take the lock before the check',
    '--rationale',
    'A compare-and-swap per record is slower and harder to read',
  )
  await stint(
    'log',
    '--decision',
    'Keep the old metric names',
    '--rationale',
    'Dashboards depend on them',
  )
  await stint('log', '--progress', 'Race reproduced in 3 of 50 runs with the stress test')
  await stint('log', '--blocker', 'The staging database refuses connections')
  await stint(
    'log',
    '--next',
    'Write the regression test',
    '--next',
    'Ask for a review of the lock order',
  )
  await stint('log', '--note', 'The table is swept every 30 s; see docs/sweeper.md')
  await stint('checkpoint', '--note', 'Root cause is known')
  await stint('handoff', 'create', '--reason', 'The context is nearly full')
  const session = JSON.parse(await stint('view', '--json')) as { id: string }
  const items = conversationOf(
    (at) => ({
      type: 'began',
      conversation: CONVERSATION,
      harness: 'claude',
      at,
      cwd: root,
      model: 'claude-opus-4-5',
    }),
    message('user', 'The sweeper drops records under load. Find out why, and fix it.'),
    message(
      'assistant',
      [
        {
          type: 'thinking',
          text: 'The user reports dropped records. I should look at the sweeper first, then at how it takes its lock.',
        },
        { type: 'text', text: 'I will look at the sweeper and how it takes its lock.' },
        { type: 'tool use', id: 't1', name: 'Read', input: { file_path: 'sweeper.go' } },
        {
          type: 'tool use',
          id: 't2',
          name: 'Bash',
          input: {
            command: 'go test -race -count=50 ./...',
            description: 'Run the tests with the race detector',
          },
        },
      ],
      { model: 'claude-opus-4-5', usage: usage(18_400, 312), request: 'r1' },
    ),
    message('user', [
      {
        type: 'tool result',
        use: 't1',
        isError: false,
        parts: [
          { type: 'text', text: 'package sweep\n\nfunc sweep() {\n\tcheck()\n\tlock()\n}\n' },
        ],
      },
      {
        type: 'tool result',
        use: 't2',
        isError: true,
        parts: [
          {
            type: 'text',
            text: `${Array.from({ length: 120 }, (_, line) => `ok   sweep/part${line}   0.${line}s`).join('\n')}\nWARNING: DATA RACE\nFAIL sweep 3.1s`,
          },
        ],
      },
    ]),
    message(
      'assistant',
      'Found it. `check()` runs **before** `lock()`, so two sweepers can both see a record as free.\n\n1. Both call `check()` and see the record\n2. Both take the lock in turn\n3. The second one sweeps what the first has written since\n\n```go\nfunc sweep() {\n\tlock()\n\tdefer unlock()\n\tcheck()\n}\n```\n\n| runs | failures before | after |\n|---|---|---|\n| 50 | 3 | 0 |\n| 500 | 31 | 0 |\n\nShall I keep the metric names?',
      { model: 'claude-opus-4-5', usage: usage(21_900, 540), request: 'r2' },
    ),
    message('user', 'Yes, keep them. Here is the dashboard.'),
    message('user', [
      { type: 'image', mediaType: 'image/png', data: PIXEL },
      { type: 'text', text: 'The race shows as the gap at noon.' },
    ]),
    message(
      'assistant',
      [
        {
          type: 'tool use',
          id: 't3',
          name: 'Edit',
          input: {
            file_path: 'sweeper.go',
            old_string: '\tcheck()\n\tlock()',
            new_string: '\tlock()\n\tcheck()',
          },
        },
      ],
      { model: 'claude-opus-4-5', usage: usage(96_000, 210), request: 'r3' },
    ),
    message('user', [
      {
        type: 'tool result',
        use: 't3',
        isError: false,
        parts: [{ type: 'text', text: 'The file was changed.' }],
      },
    ]),
    (at, id) => ({
      type: 'compaction',
      id,
      at,
      trigger: 'auto',
      tokensBefore: 151_000,
      tokensAfter: 12_400,
    }),
    message('user', 'This session continues another. The race was found in sweeper.go.', {
      isSummary: true,
    }),
    message('assistant', 'The lock is taken first now. Next I write the regression test.', {
      model: 'claude-opus-4-5',
      usage: usage(14_200, 96),
      request: 'r4',
    }),
    message('user', 'Go on.'),
    message(
      'assistant',
      [
        {
          type: 'tool use',
          id: 't4',
          name: 'Bash',
          input: { command: 'go test -race -count=500 ./sweep' },
        },
      ],
      {
        model: 'claude-opus-4-5',
        usage: usage(15_100, 64),
        request: 'r5',
      },
    ),
    message('user', [
      {
        type: 'tool result',
        use: 't4',
        isError: false,
        parts: [{ type: 'text', text: 'ok  sweep  41.2s' }],
      },
    ]),
    message(
      'assistant',
      'Five hundred runs, no race. It is committed as `sweep: take the lock before looking`.',
      {
        model: 'claude-opus-4-5',
        usage: usage(15_900, 120),
        request: 'r6',
      },
    ),
  )
  journal(demo, session.id, [
    draftEntry('conversation.joined', {
      conversation: CONVERSATION,
      harness: 'claude',
      source: 'startup',
    }),
    draftEntry('request.made', {
      text: 'The sweeper drops records under load. Find out why, and fix it.',
      conversation: CONVERSATION,
    }),
  ])
  conversationStore(join(root, '.sessions'), {}).append(CONVERSATION, items)
  writeFileSync(join(root, 'notes.txt'), 'x')
  return { ...demo, session: session.id, conversation: CONVERSATION }
}
