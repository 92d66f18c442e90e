import { describe, expect, test } from 'vitest'
import { type CliContext, Output } from '../../src/cli/context/context.ts'
import { describeRunPlan } from '../../src/cli/print/run/report.ts'
import { describeRunReport, describeRuns } from '../../src/cli/print/run/report.ts'
import { readFlags } from '../../src/cli/context/command.ts'
import { RUN_FLAGS, runOptions } from '../../src/cli/context/run-flags.ts'
import { exitCodeOfRun, showRun } from '../../src/cli/print/run/show-run.ts'
import type { EndOfRun, RunEvent, RunReport, RunRow } from '../../src/run/entries.ts'
import type { RunPlan } from '../../src/run/loop/plan-run.ts'
import { terminal } from '../support/cli.ts'
import { Screen } from '../support/screen.ts'
import { REPORT, REST, RUN, STORY, TASKS, at, spend } from './run-view/story.ts'

const optionsOf = (flags: object) => runOptions(readFlags(RUN_FLAGS, flags))

describe('run', () => {
  test.each([
    [['--max-tasks', '0'], '--max-tasks is a whole number above 0, not "0"'],
    [['--max-tasks', 'many'], 'not "many"'],
    [['--max-sessions', '1.5'], 'not "1.5"'],
    [['--max-sessions', '-1'], '--max-sessions'],
    [['--budget-tokens', 'lots'], 'write it like 500000, 500k or 2M'],
    [['--budget-tokens', '0k'], 'above 0'],
    [['--budget-usd', '0'], '--budget-usd is a number above 0'],
    [['--max-minutes', 'NaN'], '--max-minutes is a number above 0'],
    [
      ['--harness', 'cursor'],
      'one of claude, codex, api, rehearsal, api:NAME for a model of the configuration, or acp:COMMAND',
    ],
    [['--harness', 'acp:'], 'acp: needs the command'],
    [['--on-failure', 'cry'], 'one of retry, continue, stop'],
    [['--on-limit', 'cry'], 'one of wait, end'],
    [['--batch', 'big'], 'one of forecast, fixed, one'],
    [['--permissions', 'root'], 'one of ask, edits, all'],
    [['--permissions', 'ask'], 'needs a terminal to ask on'],
    [['--parallel', '9'], '--parallel 9 is more than 8'],
    [['--parallel', '0'], '--parallel is a whole number above 0'],
    [
      ['--parallel', '2', '--batch', 'fixed'],
      'each task a conversation of its own, and not --batch fixed',
    ],
    [['--parallel', '2', '--permissions', 'ask'], 'several agents at once cannot ask one person'],
    [['--in-place', '--branch', 'b'], '--in-place works on the branch that is checked out'],
    [['--once', '--max-tasks', '2'], '--once is --max-tasks 1'],
    [['--verify', ' '], '--verify is empty'],
    [['--script', 's.yaml', '--harness', 'claude'], 'only the rehearsal harness follows a script'],
    [['--task', 'a', '--label', 'b', '--resume'], '--task and --label cannot go with it'],
    [['--resume', '3f9c1a', '--in-place'], '--in-place cannot go with it'],
    [['--resume', '--dry-run'], '--dry-run cannot go with it'],
  ])('%j is refused with the right form', async (flags, message) => {
    const { stint } = terminal()
    const ran = await stint('run', ...flags)
    expect(ran).toMatchObject({ exitCode: 2, stdout: '' })
    expect(ran.stderr).toContain(message)
    const asJson = await stint('run', ...flags, '--json')
    expect(asJson).toMatchObject({ exitCode: 2, stderr: '' })
    expect(asJson.stdout.trimEnd()).not.toContain('\n')
    expect(asJson.json()).toMatchObject({ error: { code: 'MISUSE' } })
  })

  test.each(['run', 'runs', 'plan'])('%s has help with examples', async (command) => {
    const { stint } = terminal()
    const ran = await stint(command, '--help')
    expect(ran.exitCode).toBe(0)
    expect(ran.stdout).toContain('--json')
    expect(ran.stdout.match(new RegExp(`^ {2}stint ${command}`, 'gm'))!.length).toBeGreaterThan(2)
  })

  test('passes every flag to the run', () => {
    expect(
      optionsOf({
        backlog: 'TODO.md',
        harness: 'acp:gemini --experimental-acp',
        model: 'm',
        task: ['a', 'b'],
        label: ['bug'],
        maxTasks: '5',
        maxSessions: '2',
        budgetTokens: '1.5M',
        budgetUsd: '.5',
        maxMinutes: '90',
        verify: 'npm test',
        onFailure: 'stop',
        onLimit: 'end',
        batch: 'one',
        parallel: '3',
        permissions: 'all',
        branch: 'b',
      }),
    ).toEqual({
      backlog: 'TODO.md',
      harness: 'acp:gemini --experimental-acp',
      model: 'm',
      tasks: ['a', 'b'],
      labels: ['bug'],
      maxTasks: 5,
      maxSessions: 2,
      budgetTokens: 1_500_000,
      budgetUsd: 0.5,
      maxMinutes: 90,
      verify: 'npm test',
      onFailure: 'stop',
      onLimit: 'end',
      batch: 'one',
      parallel: 3,
      permissions: 'all',
      branch: 'b',
    })
    expect(
      optionsOf({ once: true, inPlace: true, harness: 'rehearsal', script: 's.yaml' }),
    ).toEqual({
      once: true,
      isInPlace: true,
      harness: 'rehearsal',
      script: 's.yaml',
    })
  })

  test('takes --resume with and without a run', () => {
    expect(optionsOf({ resume: '' })).toEqual({ resume: true })
    expect(optionsOf({ resume: '3f9c1a' })).toEqual({ resume: '3f9c1a' })
    expect(optionsOf({})).toEqual({})
  })
})

/** A run that emits the given events, and ends when it is stopped or has emitted them all. */
function scriptedRun(events: readonly RunEvent[], waits = false) {
  const stops: string[] = []
  const start = async (tell: (event: RunEvent) => void) => {
    for (const event of events) tell(event)
    let end: (report: RunReport) => void
    const ended = new Promise<RunReport>((resolve) => (end = resolve))
    if (!waits) end!(REPORT)
    return {
      ended,
      stop(how: 'after task' | 'now') {
        stops.push(how)
        tell({ kind: 'stopping', at: at(800), data: { how } })
        if (how === 'now') end!({ ...REPORT, how: 'interrupted' })
      },
    }
  }
  return { start, stops }
}

function contextWith(overrides: Partial<CliContext> = {}, env: NodeJS.ProcessEnv = {}) {
  const written = { stdout: '', stderr: '' }
  const stream = (name: 'stdout' | 'stderr') => ({
    write: (text: string) => void (written[name] += text),
  })
  const context = {
    process: { stdout: stream('stdout'), stderr: stream('stderr'), env: {} },
    cwd: '/',
    env,
    canAsk: false,
    hasColour: false,
    readStdin: async () => '',
    ...overrides,
  } as CliContext
  return { context, written }
}

describe('the view of a run', () => {
  const all = [...STORY, ...REST]

  test('is a log on stderr off a terminal', async () => {
    const { context, written } = contextWith()
    await showRun(context, {}, scriptedRun(all).start)
    expect(written.stdout).toBe('')
    expect(written.stderr).not.toContain('\u001B')
    expect(written.stderr.split('\n').length).toBeGreaterThan(20)
  })

  test('is JSON lines on stdout with --json', async () => {
    const { context, written } = contextWith()
    await showRun(context, { json: true }, scriptedRun(all).start)
    const lines = written.stdout.trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line) as RunEvent)).toEqual(all)
    expect(written.stderr).toBe('')
  })

  test.each([{ json: true }, {}])(
    "shows no secret from an agent's text or commands, with %j",
    async (flags) => {
      const token = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`
      const message: RunEvent = { kind: 'text', at: at(1), data: { text: `the token is ${token}` } }
      const used: RunEvent = {
        kind: 'tool',
        at: at(1),
        data: { name: 'Bash', status: 'started', command: 'curl -H "X: our-own-secret"' },
      }
      const { context, written } = contextWith()
      await showRun(context, flags, scriptedRun([message, used]).start, {
        secrets: { extra: [/our-own-\w+/g] },
      })
      const all = written.stdout + written.stderr
      expect(all).toContain('[redacted:')
      expect(all).not.toContain(token)
      expect(all).not.toContain('our-own-secret')
    },
  )

  test.each([
    [{ TERM: 'dumb' }, false],
    [{ CI: 'true' }, false],
    [{ TERM: 'xterm', NO_COLOR: '1' }, true],
    [{ TERM: 'xterm' }, true],
  ] as readonly [NodeJS.ProcessEnv, boolean][])(
    'is drawn live on a terminal with %j: %s',
    async (env, isDrawn) => {
      const screen = new Screen()
      const stderr = Object.assign(screen, { isTTY: true })
      const { context } = contextWith(
        { process: { stdout: { write: () => {} }, stderr, env: {} } as never },
        env,
      )
      await showRun(context, {}, scriptedRun(STORY).start)
      const message = screen.writes.join('')
      expect(message.includes('\u001B[?25h')).toBe(isDrawn)
      expect(/\u001B\[\d+m/.test(message)).toBe(isDrawn && env.NO_COLOR === undefined)
    },
  )

  test('finishes the task after one Ctrl-C, and stops now after two', async () => {
    const before = process.listenerCount('SIGINT')
    const { context, written } = contextWith()
    const { start, stops } = scriptedRun(STORY, true)
    const shown = showRun(context, {}, start)
    await new Promise(setImmediate)
    process.emit('SIGINT')
    expect(written.stderr).toContain('  finishing session-cookie; Ctrl-C again stops now\n')
    process.emit('SIGINT')
    process.emit('SIGINT')
    expect((await shown).how).toBe('interrupted')
    expect(stops).toEqual(['after task', 'now'])
    expect(process.listenerCount('SIGINT')).toBe(before)
  })

  test.each(['SIGTERM', 'SIGHUP'] as const)('stops now on %s', async (signal) => {
    const { context } = contextWith()
    const { start, stops } = scriptedRun(STORY, true)
    const shown = showRun(context, {}, start)
    await new Promise(setImmediate)
    process.emit(signal)
    await shown
    expect(stops).toEqual(['now'])
  })

  test('stops at once when interrupted before the run has started', async () => {
    const { context, written } = contextWith()
    const { start, stops } = scriptedRun([], true)
    const shown = showRun(context, {}, async (tell) => {
      await new Promise(setImmediate)
      process.emit('SIGINT')
      return start(tell)
    })
    await shown
    expect(stops).toEqual(['now'])
    expect(written.stderr).toContain('stint: stopping\n')
  })

  test('leaves the terminal clean when the run cannot start', async () => {
    const screen = new Screen()
    const stderr = Object.assign(screen, { isTTY: true })
    const { context } = contextWith(
      { process: { stdout: { write: () => {} }, stderr, env: {} } as never },
      { TERM: 'xterm' },
    )
    await expect(
      showRun(context, {}, async (tell) => {
        for (const event of STORY) tell(event)
        await expect.poll(() => screen.isCursorShown).toBe(false)
        throw new Error('no harness')
      }),
    ).rejects.toThrow('no harness')
    expect(screen.isCursorShown).toBe(true)
    expect(screen.text()).not.toContain('──')
  })
})

describe('the exit code of a run', () => {
  const ended = (
    how: EndOfRun,
    ...outcomes: RunReport['sessions'][number]['tasks'][number]['outcome'][]
  ): RunReport => {
    const [session] = REPORT.sessions
    const tasks = outcomes.map((outcome) => ({ ...session!.tasks[0]!, outcome }))
    return { ...REPORT, how, sessions: [{ ...session!, tasks }] }
  }
  test.each([
    ['finished', ['done', 'done'], 0],
    ['nothing to do', [], 0],
    ['max tasks', ['done', 'open'], 0],
    ['max sessions', ['done', 'open'], 0],
    ['max tasks', ['parked', 'open'], 1],
    ['budget usd', ['done', 'open'], 1],
    ['finished', ['done', 'parked'], 1],
    ['finished', ['done', 'blocked'], 1],
    ['waiting', ['done', 'open'], 1],
    ['usage limit', ['done', 'open'], 1],
    ['harness failed', ['done'], 1],
    ['interrupted', ['done', 'open'], 130],
  ] as const)('after ending by %s with %j is %i', (how, outcomes, code) => {
    expect(exitCodeOfRun(ended(how, ...outcomes))).toBe(code)
  })
})

const output = new Output(contextWith().context)

describe('the run report', () => {
  test('shows tasks, sessions, totals, the comparison, open tasks and how to merge', () => {
    expect(describeRunReport(REPORT, output)).toBe(
      `
🏁 Run 3f9c1a: 3 done, 1 parked, 1 blocked, 1 open of 6
   What is left waits for something that failed or is blocked
   claude, claude-sonnet-4-5, 2026-11-15T14:00, 29m 05s, 2 sessions with 3 conversations, 5 commits

                          TIME    IN  CACHED  WRITTEN   OUT   COST  COMMIT
   Session 1 login     13m 10s  1.7k    1.7M      42k   59k  $1.55
     ✓ login-form       4m 12s   480    480k      12k   17k  $0.41  a1b2c3d
     ✓ session-cookie   8m 58s  1.2k    1.2M      30k   42k  $1.14  9f8e7d6  2 tries
   Session 2 sweep     15m 30s  1.9k    1.9M      48k   67k  $1.82
     ✓ rate-limit       6m 40s   960    960k      24k   34k  $0.91  77aa77b
     ✗ sweep-race       8m 50s   960    960k      24k   34k  $0.91           3 tries, compacted
     ○ login-docs
     ⊘ totp                20s     0       0        0     0  $0.00
   Whole run           29m 05s  3.6k    3.6M      90k  126k  $3.37

   Cost: $3.37 for 3,819,600 tokens, by the price list of 2026-11-15

   Against one conversation per task (estimated from measured sizes)
   − 48,200       tokens of set-up not said again
   + 310,400      tokens of earlier tasks read again, most of them from the cache
   = $0.34 saved  in all

   Not done
   ✗ sweep-race, parked after 3 attempts: npm test still fails: 2 of 48 tests, sweep.test.ts "two at once"
     take it up: stint run --task sweep-race
   ⊘ totp, blocked after 1 attempt: needs to know which provider sends the codes
     take it up: stint run --task totp

   Still open
   ○ login-docs: waits for sweep-race

   Merge it: git merge stint/run-3f9c1a`.slice(1),
    )
  })

  test('names the tasks that never started, and counts those beyond the limit', () => {
    const tasks = Array.from({ length: 30 }, (_, index) => ({
      id: `t${index}`,
      name: `later-${index}`,
      title: 'Later',
    }))
    const few = describeRunReport(
      { ...REPORT, neverBegun: { count: 2, tasks: tasks.slice(0, 2) } },
      output,
    )
    expect(few).toContain('3 done, 1 parked, 1 blocked, 3 open of 8')
    expect(few).toContain(
      '   ○ login-docs: waits for sweep-race\n   ○ later-0, never begun\n   ○ later-1, never begun\n\n',
    )
    const many = describeRunReport(
      { ...REPORT, sessions: [], neverBegun: { count: 400, tasks } },
      output,
    )
    expect(many).toContain('   Still open\n   ○ later-0, never begun')
    expect(many).toContain('   ○ later-19, never begun\n   … and 380 more, never begun')
    expect(many).not.toContain('later-20')
  })

  test('shows the parallel share against its target, and the time saved or lost', () => {
    const parallel = { most: 3, share: 0.75, target: 0.6, savedSeconds: 754, delegates: 5 }
    const text = describeRunReport({ ...REPORT, parallel }, output)
    expect(text).toContain(
      `
   At once  up to 3; 75 % of the tasks beside another (aim 60 %, reached)
            12m 34s less than all of them one after the other, without merging`.slice(1),
    )
    expect(text).not.toContain('Against one conversation per task')
    const slow = describeRunReport(
      { ...REPORT, parallel: { ...parallel, share: 0.5, savedSeconds: -20 } },
      output,
    )
    expect(slow).toContain('50 % of the tasks beside another (aim 60 %, missed)')
    expect(slow).toContain('20s longer than all of them one after the other')
  })

  test('shows losses as plainly as savings, and unknown without a price', () => {
    const lost = describeRunReport(
      { ...REPORT, compared: { ...REPORT.compared, savedUsd: -0.2 } },
      output,
    )
    expect(lost).toContain('= $0.20 lost')
    const { savedUsd: _, ...compared } = REPORT.compared
    const unknown = describeRunReport(
      {
        ...REPORT,
        spend: spend(1),
        compared,
        prices: 'unknown for glm-9; prices in .sessions/config.yaml tell them',
      },
      output,
    )
    expect(unknown).toContain(
      'Cost: unknown for glm-9; prices in .sessions/config.yaml tell them (1,273,200 tokens)',
    )
    expect(unknown).toMatch(/= unknown +because a price is unknown/)
    expect(unknown).toMatch(/Whole run .* \?$/m)
  })

  test('counts profiles as a saving or a cost by their sign', () => {
    const withProfiles = (profilesNotLoaded: number) =>
      describeRunReport({ ...REPORT, compared: { ...REPORT.compared, profilesNotLoaded } }, output)
    expect(withProfiles(1200)).toMatch(/− 1,200 +tokens of profiles not loaded/)
    expect(withProfiles(-82)).toMatch(/\+ 82 +tokens of the index of profiles/)
    expect(withProfiles(0)).not.toContain('profiles')
  })

  test('prints how to resume a resumable run', () => {
    expect(describeRunReport({ ...REPORT, how: 'interrupted' }, output)).toContain(
      'Go on:    stint run --resume 3f9c1a',
    )
    expect(describeRunReport(REPORT, output)).not.toContain('--resume')
  })

  test('is short for a run that did nothing', () => {
    const nothing: RunReport = {
      ...REPORT,
      run: '',
      how: 'nothing to do',
      sessions: [],
      commits: 0,
    }
    expect(describeRunReport(nothing, output)).toBe(
      '✅ There was nothing to do: stint task list shows what there is',
    )
  })

  test('prints how to merge only proved work on a separate branch', () => {
    const [first] = REPORT.sessions
    const begun = { ...first!.tasks[0]!, outcome: 'open' as const, attempts: 1 }
    const open = describeRunReport(
      { ...REPORT, how: 'interrupted', sessions: [{ ...first!, tasks: [begun] }] },
      output,
    )
    expect(open).not.toContain('git merge')
    const { branch: _, ...inPlace } = REPORT
    expect(describeRunReport(inPlace, output)).not.toContain('git merge')
  })

  test('prints where the work of a parked task is, and names a harness once', () => {
    const kept =
      'refs/stint/runs/01a1e0a4-4a3e-70a6-879f-115f1899549a/01a1e0a4-531f-72c6-9cc4-9448072e5da1'
    const [first] = REPORT.sessions
    const parked = { ...first!.tasks[0]!, outcome: 'parked' as const, kept }
    const text = describeRunReport(
      {
        ...REPORT,
        harness: 'rehearsal',
        models: ['rehearsal'],
        sessions: [{ ...first!, tasks: [parked] }],
      },
      output,
    )
    expect(text).toContain(`     what it left: git show ${kept}\n`)
    expect(text).toContain('   rehearsal, 2026-11-15T14:00')
  })

  test('prints how to continue a task of another backlog', () => {
    expect(describeRunReport({ ...REPORT, backlog: 'my TODO.md' }, output)).toContain(
      "take it up: stint run --backlog 'my TODO.md' --task sweep-race",
    )
  })

  test('quotes names so that the commands can be pasted into a shell', () => {
    const [first] = REPORT.sessions
    const task = {
      ...first!.tasks[0]!,
      outcome: 'parked' as const,
      task: { ...TASKS.login, name: "it's; rm -rf" },
    }
    const text = describeRunReport(
      { ...REPORT, branch: 'a b', sessions: [{ ...first!, tasks: [task] }] },
      output,
    )
    expect(text).toContain(String.raw`stint run --task 'it'\''s; rm -rf'`)
    expect(text).toContain("git merge 'a b'")
  })
})

describe('the list of runs', () => {
  const row: RunRow = {
    id: RUN,
    startedAt: at(0),
    state: 'running',
    how: 'running',
    harness: 'claude',
    done: 3,
    failed: 0,
    open: 9,
    spend: spend(1, 1.2),
  }

  test('has a line for each run and prints how to resume', () => {
    const stopped: RunRow = {
      ...row,
      id: `${RUN.slice(0, -6)}77aa00`,
      state: 'resumable',
      how: 'usage limit',
      spend: spend(1),
      failed: 1,
    }
    const over: RunRow = {
      ...row,
      id: `${RUN.slice(0, -6)}12ab00`,
      state: 'ended',
      how: 'finished',
      harness: 'codex',
      done: 13,
      open: 0,
    }
    expect(describeRuns([row, stopped, over], output)).toBe(
      `
RUN     STARTED           HARNESS  DONE  FAILED  OPEN  TOKENS     COST  STATE
3f9c1a  2026-11-15T14:00  claude      3       0     9    1.3M    $1.20  running
77aa00  2026-11-15T14:00  claude      3       1     9    1.3M  unknown  resumable, usage limit
12ab00  2026-11-15T14:00  codex      13       0     0    1.3M    $1.20  ended

Go on with the last that can be: stint run --resume 77aa00`.slice(1),
    )
  })

  test('explains how to start when empty', () => {
    expect(describeRuns([], output)).toContain('stint run starts one')
  })
})

describe('the plan', () => {
  const forecast = (middle: number, margin: number) => {
    return {
      added: { middle, margin },
      requests: 10,
      output: 4000,
      seconds: 240,
      from: { source: 'prior', count: 0 },
    } as const
  }
  const plan: RunPlan = {
    source: '.tasks',
    harness: 'claude',
    model: 'claude-sonnet-4-5',
    complexity: 'medium',
    domain: 'fullstack',
    tracking: 'light',
    sessions: [
      {
        tasks: [
          {
            task: TASKS.login,
            sizeClass: 'small',
            forecast: forecast(18_000, 40_000),
            complexity: 'simple',
            domain: 'frontend',
            profile: { name: 'code', because: 'the title says "show"' },
          },
          {
            task: TASKS.cookie,
            sizeClass: 'medium',
            forecast: forecast(38_000, 70_000),
            complexity: 'medium',
            domain: 'backend',
            profile: { name: 'debugger', because: 'label bug' },
          },
        ],
        because: 'the first of the run',
        context: { middle: 78_000, margin: 130_000 },
        usd: 0.9,
        seconds: 700,
      },
      {
        tasks: [
          {
            task: TASKS.rate,
            sizeClass: 'large',
            forecast: forecast(58_000, 110_000),
            complexity: 'complex',
            domain: 'backend',
          },
        ],
        because: 'rate-limit may add 110k and would pass the compaction point at 167k',
        context: { middle: 80_000, margin: 130_000 },
        usd: 0.7,
        seconds: 900,
      },
    ],
    waiting: [{ task: TASKS.docs, reason: 'waits for totp, which is blocked' }],
    notes: ['Forecasts are from the table that comes with Stint.'],
  }

  test('shows each session with its reason and forecast, and the waiting tasks', () => {
    expect(describeRunPlan(plan, output)).toBe(
      `
📐 3 tasks in 2 sessions
   From .tasks, with claude, claude-sonnet-4-5
   medium work (fullstack): little is recorded besides

   Session 1  about 12m, about $0.90, ends at 78k tokens, at most 130k
   the first of the run
   ○ login-form      small   +18k  at most 40k  as code      Show the login form without JavaScript
   ○ session-cookie  medium  +38k  at most 70k  as debugger  Renew the session cookie before it expires

   Session 2  about 15m, about $0.70, ends at 80k tokens, at most 130k
   rate-limit may add 110k and would pass the compaction point at 167k
   ○ rate-limit  large  +58k  at most 110k    Limit the attempts at logging in, by account and by address

   In all  about 27m, about $1.60

   Waits
   ⊘ login-docs: waits for totp, which is blocked

   Forecasts are from the table that comes with Stint.`.slice(1),
    )
  })

  test('shows when each parallel task starts and what it waits for', () => {
    const waves = [
      { at: 0, tasks: [{ task: TASKS.login }, { task: TASKS.cookie }] },
      { at: 700, tasks: [{ task: TASKS.rate, because: 'waits for login-form' }] },
    ]
    const parallel = { most: 2, waves, seconds: 1600, share: 2 / 3, target: 0.6, savedSeconds: 700 }
    expect(describeRunPlan({ ...plan, waiting: [], notes: [], parallel }, output)).toBe(
      `
📐 3 tasks, up to 2 at once
   From .tasks, with claude, claude-sonnet-4-5
   medium work (fullstack): little is recorded besides

   Begun
   at once    ○ login-form      small   about 12m
              ○ session-cookie  medium  about 12m
   after 12m  ○ rate-limit      large   about 15m  waits for login-form

   In all  about 27m, about $1.60
           67 % of the tasks beside another (aim 60 %); about 12m less than one after the other`.slice(
        1,
      ),
    )
  })

  test('prints no total cost when one is unknown', () => {
    const { usd: _, ...unpriced } = plan.sessions[1]!
    expect(describeRunPlan({ ...plan, sessions: [plan.sessions[0]!, unpriced] }, output)).toContain(
      'In all  about 27m, cost unknown',
    )
  })
})
