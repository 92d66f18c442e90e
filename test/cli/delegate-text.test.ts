import { describe, expect, test } from 'vitest'
import { type CliContext, Output } from '../../src/cli/context/context.ts'
import { readFlags } from '../../src/cli/context/command.ts'
import { START_FLAGS, delegateRequest } from '../../src/cli/commands/work/delegate.ts'
import {
  delegateTable,
  describeDelegates,
  describeDelegate,
  describeDelegateBriefly,
  describeStarted,
  isRecent,
  delegateStatusLine,
} from '../../src/cli/print/delegate.ts'
import {
  countOutcomes,
  describeOutcome,
  describeProposal,
  isSuccessfulMerge,
  mergeEventText,
  interactiveReview,
} from '../../src/cli/print/merge.ts'
import type { MergeProposal } from '../../src/run/delegate/delegate-row.ts'
import { NOW, detail, row } from './delegate-rows.ts'
import type { MergeOutcome } from '../../src/run/entries.ts'

const output = new Output({ hasColour: false } as CliContext)
const TASKS = new Map([['t1', 'fix-the-login-loop']])
const NASTY = 'first\u001B[2J line\nsecond\u202E line'

describe('the status line of a delegate', () => {
  test.each([
    [row({ summary: 'The loop is gone' }), '✓ fix-login ready: The loop is gone'],
    [row({ status: 'running', summary: 'of what was sent back' }), '▶ fix-login running'],
    [
      row({ status: 'running', waitsUntil: '2026-03-02T14:30:00.000Z' }),
      '▶ fix-login running: waits for a usage limit until 2026-03-02T14:30',
    ],
    [
      row({ status: 'running', isOrphaned: true }),
      '⚠ fix-login running, and nobody works on it any more',
    ],
    [
      row({ status: 'failed', because: 'verify failed', summary: 'All well' }),
      '✗ fix-login failed: verify failed',
    ],
    [row({ status: 'merged', because: 'b', summary: 's' }), '✓ fix-login merged: s'],
    [row({ status: 'discarded' }), '○ fix-login discarded'],
    [row({ status: 'parked', because: NASTY }), '⊘ fix-login parked: first line second line'],
  ])('shows the outcome and the reason', (fields, message) => {
    expect(delegateStatusLine(fields)).toBe(message)
  })
})

describe('the table of delegates', () => {
  const rows = [
    row({ as: 'tests', task: 't1', group: 'release', next: 'stint merge fix-login' }),
    row({
      name: 'docs',
      status: 'running',
      isOrphaned: true,
      spend: { input: 1, cacheRead: 0, cacheWritten: 0, output: 0 },
    }),
  ]

  test('shows every column where there is room', () => {
    const [head, first, second] = delegateTable(rows, { now: NOW, tasks: TASKS })
    const heads = 'NAME STATUS AS TASK GROUP AGE TIME TOKENS COST COMMITS WHAT NEXT'
    expect(head!.split(/ {2,}/).join(' ')).toBe(heads)
    expect(first!.split(/ {2,}/).join('|')).toBe(
      'fix-login|ready|tests|fix-the-login-loop|release|1h 00m|4m 12s|87k|$0.42|2|Stop the login loop|stint merge fix-login',
    )
    expect(second).toContain('running, orphaned')
    expect(second).toContain('?')
  })

  test('leaves out empty columns', () => {
    const [head] = delegateTable([row()], { now: NOW, tasks: TASKS })
    for (const column of ['AS', 'TASK', 'GROUP', 'NEXT'])
      expect(head!.split(/ +/)).not.toContain(column)
  })

  test.each([200, 120, 100, 80, 60, 40, 20, 8])(
    'is never wider than %i columns and always starts with the name',
    (width) => {
      const lines = delegateTable(
        [...rows, row({ name: 'a-name-that-is-so-long-that-it-has-to-be-cut-somewhere' })],
        {
          now: NOW,
          tasks: TASKS,
          width,
        },
      )
      for (const line of lines) expect(line.length).toBeLessThan(width)
      expect(lines[1]).toMatch(/^fix-lo/)
    },
  )

  test('counts delegates finished over a day ago and shows the later ones', () => {
    const long = '2026-03-01T11:00:00.000Z'
    expect(isRecent(row({ status: 'merged', since: long }), NOW)).toBe(false)
    expect(isRecent(row({ status: 'discarded', since: long }), NOW)).toBe(false)
    expect(isRecent(row({ status: 'merged' }), NOW)).toBe(true)
    expect(isRecent(row({ status: 'ready', since: long }), NOW)).toBe(true)
    expect(isRecent(row({ status: 'merged', since: 'no time' }), NOW)).toBe(true)
    expect(describeDelegates([], 3, { now: NOW, tasks: TASKS }, output)).toContain(
      '3 merged or discarded',
    )
  })

  test('keeps any text from an agent on one line', () => {
    const lines = delegateTable([row({ what: NASTY, next: NASTY })], { now: NOW, tasks: TASKS })
    expect(lines).toHaveLength(2)
    expect(lines[1]).toContain('first line second line')
  })
})

describe('the details of a delegate', () => {
  const details = (fields: Parameters<typeof detail>[0]) =>
    describeDelegate(detail(fields), { now: NOW, tasks: TASKS }, output)

  test('show its status, results, attempts and the next step', () => {
    const text = details({
      task: 't1',
      as: 'tests',
      model: 'opus',
      summary: 'The loop is gone',
      next: 'stint merge fix-login',
      commitList: [{ commit: '2222222222', subject: 'Stop the loop' }],
      stat: ' src/login.ts | 3 ++-\n 1 file changed',
      attempts: [
        {
          number: 1,
          place: 'live conversation',
          at: NOW,
          outcome: 'failed',
          reason: 'verify failed',
          seconds: 61,
        },
        { number: 2, place: 'fresh conversation', at: NOW, seconds: 0 },
      ],
      sessions: [{ id: '0199f0aa-7c3e-7b11-8a51-5e2d4c3f9c1a', name: 'fix-login' }],
      keptRefs: ['refs/stint/runs/x'],
      notes: ['Leave the cookie alone'],
      rejected: 2,
    })
    for (const message of [
      '✓ fix-login ready: The loop is gone',
      'Since: 2026-03-02T11:50 (10m 00s ago)',
      'Order: Stop the login loop',
      'Task: fix-the-login-loop',
      'Agent: claude, opus',
      'Branch: stint/auth/fix-login (2 commits since 1111111)',
      'Target: main',
      'Spent: 87k tokens, $0.42, 4m 12s',
      'Sent back: its work did not go into the target 2 times',
      'Log: /p/.sessions/runs/x/log.jsonl',
      'Kept: git show refs/stint/runs/x',
      'Its sessions: fix-login (3f9c1a)',
      '   Noted\n   Leave the cookie alone',
      '   1. live conversation, failed after 1m 01s: verify failed\n   2. fresh conversation, goes on',
      '   Commits\n   2222222 Stop the loop',
      '   Changes\n    src/login.ts | 3 ++-\n    1 file changed',
      '   Next: stint merge fix-login',
    ]) {
      expect(text).toContain(message)
    }
  })

  test('show the report of a read-only delegate, and no target', () => {
    const text = details({
      isReadOnly: true,
      as: 'research',
      report: 'runs/x/report.md',
      reportText: `# Slow queries\n\n${NASTY}\n`,
    })
    expect(text).toContain('As: research, it only reads')
    expect(text).toContain('Report: .sessions/runs/x/report.md')
    expect(text).toContain('   # Slow queries\n\n   first line\n   second line')
    expect(text).not.toContain('Target:')
  })

  test('show the conflicts and the end of the failed verify output', () => {
    const move = { target: 'main', onto: '3333333333' }
    expect(
      details({
        status: 'conflicted',
        move: { to: 'conflicted', ...move, files: ['a.ts', 'b.ts'] },
      }),
    ).toContain('Conflicts with main at 3333333 in a.ts, b.ts')
    const lines = Array.from({ length: 50 }, (_, index) => `line ${index}`).join('\n')
    const red = details({
      status: 'failed',
      move: { to: 'failed', ...move, verify: { command: 'npm test', exit: 1, output: lines } },
    })
    expect(red).toContain('npm test on main at 3333333 ended with 1')
    expect(red).toContain('     line 49')
    expect(red).not.toContain('line 29\n')
  })

  test('are brief for several delegates', () => {
    const text = describeDelegateBriefly(
      row({ next: 'stint merge fix-login' }),
      { now: NOW },
      output,
    )
    expect(text).toContain('Branch: stint/auth/fix-login, 4m 12s, 87k tokens, $0.42, 2 commits')
    expect(text).toContain('Next: stint merge fix-login')
  })
})

describe('starting a delegate', () => {
  test('prints where it works and what to do next', () => {
    const text = describeStarted(row({ as: 'tests', status: 'running' }), output)
    expect(text).toContain('Delegate Started: fix-login')
    expect(text).toContain('Branch: stint/auth/fix-login')
    expect(text).toContain('Worktree: /state/worktrees/p/delegate-fix-login')
    expect(text).toMatch(/stint delegate show fix-login +how it stands/)
    expect(text).toMatch(/stint merge fix-login +when it is ready, into main/)
  })

  test('suggests no merge for a read-only delegate', () => {
    const text = describeStarted(row({ as: 'review', isReadOnly: true }), output)
    expect(text).toContain('As: review, it only reads')
    expect(text).not.toContain('stint merge')
  })
})

describe('the request for a delegate', () => {
  const context = { cwd: '/p', readStdin: async () => ' from the input\n' }
  const asked = async (flags: object, ...words: string[]) =>
    delegateRequest(context, readFlags(START_FLAGS, flags), words, ['show', 'stop'])

  test('passes every flag on', async () => {
    const flags = {
      as: 'tests',
      task: 't',
      group: 'g',
      base: 'b',
      harness: 'acp:gemini',
      model: 'm',
      files: ['src/**', 'a.{ts,js}'],
    }
    const more = {
      output: 'o.md',
      session: 's',
      verify: 'npm test',
      budgetTokens: '1.5M',
      budgetUsd: '.5',
      maxMinutes: '30',
    }
    expect(await asked({ ...flags, ...more, permissions: 'all' }, 'Write', 'the tests')).toEqual({
      ...flags,
      ...more,
      what: 'Write the tests',
      budgetTokens: 1_500_000,
      budgetUsd: 0.5,
      maxMinutes: 30,
      permissions: 'all',
    })
  })

  test('takes the prompt from stdin or from a task alone', async () => {
    expect(await asked({}, '-')).toEqual({ what: 'from the input' })
    expect(await asked({ task: 't' })).toEqual({ what: '', task: 't' })
  })

  test('resolves a script against the current folder', async () => {
    expect(await asked({ script: 's.yml' }, 'Do the thing')).toMatchObject({ script: '/p/s.yml' })
  })

  test.each(['stop the login loop', '修复登录循环'])(
    'may start like a subcommand, or be one word in a language without spaces: %s',
    async (what) => {
      expect(await asked({}, what)).toEqual({ what })
    },
  )
})

describe('the outcome of a merge', () => {
  const outcome = (fields: Partial<MergeOutcome>): MergeOutcome => ({
    delegate: 'd',
    name: 'fix-login',
    how: 'merged',
    target: 'main',
    ...fields,
  })

  test.each<[Partial<MergeOutcome>, string]>([
    [{ commit: '4444444444' }, '✓ fix-login merged into main at 4444444'],
    [
      { how: 'would merge', next: 'stint merge fix-login' },
      '✓ fix-login would be merged into main\n   stint merge fix-login',
    ],
    [{ how: 'pull request', pr: 'https://x/1' }, '✓ fix-login has a pull request: https://x/1'],
    [
      { how: 'conflicted', files: ['a.ts', 'b.ts'] },
      '✗ fix-login conflicted with main in a.ts, b.ts',
    ],
    [
      { how: 'conflicted', files: ['a.ts'], because: 'it conflicts in a.ts', isSentBack: true },
      '✗ fix-login conflicted: it conflicts in a.ts; it was sent back to be mended',
    ],
    [{ how: 'red', because: 'npm test failed' }, '✗ fix-login is red on main: npm test failed'],
    [{ how: 'parked', because: 'b', next: 'git merge' }, '⊘ fix-login parked: b\n   git merge'],
    [
      { how: 'waiting', because: 'a.ts is changed' },
      '○ fix-login is ready, and main was not moved: a.ts is changed',
    ],
    [{ how: 'refused', because: 'refused in review' }, '○ fix-login refused in the review'],
    [{ how: 'not ready', because: 'it runs' }, '○ fix-login is not ready: it runs'],
    [{ contradictions: [NASTY] }, '✓ fix-login merged into main\n   ⚠ first line second line'],
  ])('is printed with its reason and the next step: %j', (fields, message) => {
    expect(describeOutcome(outcome(fields))).toBe(message)
  })

  test('is a success when merged, mergeable or in a pull request', () => {
    const hows: MergeOutcome['how'][] = [
      'merged',
      'would merge',
      'pull request',
      'conflicted',
      'red',
      'parked',
      'waiting',
      'refused',
      'not ready',
    ]
    expect(hows.filter((how) => isSuccessfulMerge(outcome({ how })))).toEqual([
      'merged',
      'would merge',
      'pull request',
    ])
    expect(countOutcomes(hows.slice(0, 4).map((how) => outcome({ how })))).toBe(
      '1 merged, 1 would merge, 1 pull request, 1 conflicted',
    )
  })

  test('follows lines about the progress', () => {
    const of = { delegate: 'fix-login', at: '' }
    expect(
      mergeEventText({ kind: 'merge.started', ...of, data: { id: 'd', target: 'main' } }),
    ).toBe('fix-login: merging into main')
    expect(mergeEventText({ kind: 'verify.started', ...of, data: { command: 'npm test' } })).toBe(
      'fix-login: verifying with npm test',
    )
    expect(
      mergeEventText({ kind: 'verify.ended', ...of, data: { passed: false, seconds: 61 } }),
    ).toBe('fix-login: verify FAILED after 1m 01s')
    expect(mergeEventText({ kind: 'merge.ended', ...of, data: outcome({}) })).toBeUndefined()
  })
})

describe('a merge review', () => {
  const proposal: MergeProposal = {
    delegate: 'd',
    name: 'fix-login',
    target: 'main',
    from: '1111111111',
    to: '2222222222',
    stat: ' a.ts | 2 +-',
    summary: 'The loop is gone',
    contradictions: ['It keeps cookies, which the parent gave up'],
  }
  const reviewed = async (
    answers: readonly ('yes' | 'no' | 'diff' | undefined)[],
    diff = 'the diff',
  ) => {
    const message: string[] = []
    let hasLeft = false
    const left = [...answers]
    const review = interactiveReview({
      ask: async () => left.shift(),
      say: (text) => message.push(text),
      diff: () => diff,
      cancel: () => (hasLeft = true),
    })
    return { isTaken: await review(proposal), printed: message, hasLeft }
  }

  test('shows the changes and takes yes or no', async () => {
    const { isTaken, printed: message, hasLeft } = await reviewed(['yes'])
    expect({ isTaken, hasLeft }).toEqual({ isTaken: true, hasLeft: false })
    expect(message).toEqual([describeProposal(proposal)])
    expect(message[0]).toContain('The loop is gone')
    expect(message[0]).toContain('a.ts | 2 +-')
    expect(message[0]).toContain('⚠ It keeps cookies')
    expect(await reviewed(['no'])).toMatchObject({ isTaken: false, hasLeft: false })
  })

  test('shows the diff without control characters, size-limited, and asks again', async () => {
    const { isTaken, printed: message } = await reviewed(['diff', 'no'], NASTY)
    expect(isTaken).toBe(false)
    expect(message[1]).toBe('first line\nsecond line')
    const long = await reviewed(['diff', 'yes'], 'line\n'.repeat(5000))
    expect(long.printed[1]).toContain('3000 more lines: git diff 1111111111 2222222222')
  })

  test('counts as a no when the user cancels, and asks nothing more', async () => {
    expect(await reviewed([undefined])).toMatchObject({ isTaken: false, hasLeft: true })
  })
})
