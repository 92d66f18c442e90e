import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { HistoryItem } from '../../src/history/items.ts'
import { conversationStore } from '../../src/history/store.ts'
import {
  recordHookCost,
  onceKeyForCosts,
  claimHookCosts,
} from '../../src/project/conversation/hook-costs.ts'
import { openProject } from '../../src/core.ts'
import { mintId } from '../../src/journal/ids.ts'
import { encodeRecord } from '../../src/journal/record.ts'
import type { LedgerRow } from '../../src/ledger/ledger-types.ts'
import { DEFAULT_CONFIG } from '../../src/project/config/config.ts'
import { Workspace } from '../../src/project/store/workspace.ts'
import type { RunEntryData } from '../../src/run/entries.ts'
import { RunLog } from '../../src/run/run-log.ts'
import { project } from '../hook/agent.ts'

/** A project in which an agent worked for one turn. */
async function projectWithTurn() {
  const world = project()
  await world.stint('task', 'add', 'Fix the sweep')
  await world.stint('init', '--name', 'fix-auth', '--goal', 'Be there', '--task', 'fix-the-sweep')
  const agent = world.agent()
  agent.received((await agent.start()).model)
  agent.answers()
  await agent.prompt('Change the known file')
  await agent.edit('known.ts')
  agent.answers('Changed.')
  await agent.stop('Changed.')
  const asked = async <T>(work: (project: ReturnType<typeof openProject>) => Promise<T>) => {
    const opened = openProject(world.cwd, { env: world.env })
    try {
      return await work(opened)
    } finally {
      opened.dispose()
    }
  }
  const ledger = (query = {}) => asked((opened) => opened.ledger(query))
  const remembered = world.path('.git', 'stint', 'ledger.json')
  return { ...world, worker: agent, asked, ledger, remembered }
}

/** The index notes the time of the journal folder a second after it last changed, and grows by that: the second is over. */
function restJournal(path: (...parts: string[]) => string): void {
  const hourAgo = Date.now() / 1000 - 3600
  utimesSync(path('.sessions', 'journal'), hourAgo, hourAgo)
}

const saved = (row: LedgerRow, name: string) => row.savings.find((saving) => saving.name === name)

describe('the ledger', () => {
  test('sums a project from its sessions, and a session equals its task', async () => {
    const { ledger, stint, worker } = await projectWithTurn()
    await stint('digest', '--', 'sh', '-c', 'seq 1 3000')
    await stint('init', '--name', 'other', '--goal', 'Else', '--force')
    const { whole, rows, days } = await ledger()
    expect(rows.map(({ kind, name }) => [kind, name])).toEqual([
      ['session', 'fix-auth'],
      ['session', 'other'],
    ])
    const { costs } = whole
    expect(costs).toMatchObject({ injections: 1, modelCalls: 0, hooks: 4 })
    const sum = (name: 'injectedTokens' | 'hooks' | 'hookMs' | 'writes') =>
      rows.reduce((total, row) => total + row.costs[name], 0)
    expect([sum('injectedTokens'), sum('hooks'), sum('hookMs'), sum('writes')]).toEqual([
      costs.injectedTokens,
      costs.hooks,
      costs.hookMs,
      costs.writes,
    ])
    expect(costs.bytes).toBeGreaterThan(rows.reduce((total, row) => total + row.costs.bytes, 0))
    expect(days).toMatchObject([{ injectedTokens: costs.injectedTokens, hooks: 4 }])
    const session = await ledger({ of: 'fix-auth' })
    expect(session.whole).toEqual(rows[0])
    expect(session.rows).toMatchObject([
      { kind: 'task', name: 'fix-the-sweep', costs: { hooks: 4 } },
    ])
    const task = await ledger({ of: 'fix-the-sweep' })
    expect(task.whole).toMatchObject({ kind: 'task', costs: { hooks: 4 } })
    expect(task.rows).toMatchObject([{ kind: 'session', name: 'fix-auth' }])
    expect(saved(whole, 'digest')).toMatchObject({ times: 1, known: 'estimated' })
    expect(saved(whole, 'pointers')?.times).toBe(1)
    // Hook costs count before they are journalled.
    worker.isFollowed = false
    await worker.edit('known.ts')
    expect((await ledger()).whole.costs.hooks).toBe(5)
  })

  test('returns the same result with a valid, missing or corrupt cache, and counts new entries', async () => {
    const { entries, ledger, path, remembered, sessions } = await projectWithTurn()
    restJournal(path)
    await ledger()
    const first = await ledger()
    expect(existsSync(remembered)).toBe(true)
    const text = readFileSync(remembered, 'utf8')
    expect(text).not.toContain('fix-auth')
    expect(await ledger()).toEqual(first)
    rmSync(remembered)
    expect(await ledger()).toEqual(first)
    writeFileSync(remembered, text.slice(0, 100))
    expect(await ledger()).toEqual(first)
    // Nor does a cache of another version.
    writeFileSync(
      remembered,
      text.replaceAll('"hooks":4', '"hooks":40').replace(/"version":\d+/, '"version":1'),
    )
    expect(await ledger()).toEqual(first)
    // A cached figure is not counted again.
    writeFileSync(remembered, text.replaceAll('"hooks":4', '"hooks":40'))
    expect((await ledger()).whole.costs.hooks).toBe(40)
    const data = {
      conversation: 'c-9',
      events: { Stop: { times: 6, ms: 10, chars: 0, gave: 0 } },
      writes: 0,
    }
    const entry = {
      id: mintId(entries().at(-1)!.id),
      at: '2020-01-02T03:04:05.000Z',
      kind: 'hooks.ran',
      by: 'hook',
      data,
    }
    appendFileSync(path('.sessions', 'journal', sessions()[0]!, 'log.jsonl'), encodeRecord(entry))
    const grown = await ledger()
    expect(grown.whole.costs.hooks).toBe(10)
    expect(grown.days[0]).toMatchObject({ day: '2020-01-02', hooks: 6 })
    const since = await ledger({ since: '2020-01-03T00:00:00.000Z' })
    expect([since.whole.costs.hooks, since.days.length]).toEqual([4, 1])
    expect((await ledger({ since: '2020-01-02T23:00:00.000Z' })).whole.costs.hooks).toBe(10)
  })

  test('counts what a resumed conversation read less than the first, minus what was injected', async () => {
    const { another, asked, entries, ledger, path, worker } = await projectWithTurn()
    const later = another()
    await later.start()
    await later.prompt('Go on with the cookie')
    await later.stop('Gone on.')
    const given = entries().findLast(
      ({ kind, data }) => kind === 'context.given' && data.conversation === later.conversation,
    )!
    const store = conversationStore(path('.sessions'), {})
    // The harness reported 5,210 tokens for its first request.
    store.append(worker.conversation, messages('a', [26_210]))
    // Only when both conversations are stored.
    expect(saved((await ledger()).whole, 'resuming')).toBeUndefined()
    store.append(later.conversation, messages('b', [11_000, 14_000]))
    const { chars, whole } = given.data as { chars: number; whole: number }
    // What was injected instead of the full document is counted separately.
    const tokens = 21_000 - 3000 - chars / 3 - (whole / 4 - chars / 3)
    const resuming = saved((await ledger()).whole, 'resuming')!
    expect(resuming).toMatchObject({ known: 'estimated', times: 1 })
    expect(Math.abs(resuming.tokens - tokens)).toBeLessThan(2)
    // It may have cost more than it saved, and after a compaction it cannot be measured.
    const third = another()
    await third.start()
    store.append(third.conversation, messages('c', [10_000, 90_000]))
    expect(saved((await ledger()).whole, 'resuming')).toMatchObject({ times: 2 })
    expect(saved((await ledger()).whole, 'resuming')!.tokens).toBeLessThan(0)
    const fourth = another()
    await fourth.start()
    store.append(fourth.conversation, [
      ...messages('d', [10_000], 'Read'),
      { type: 'compaction', id: 'x' },
      ...messages('e', [9000]),
    ])
    expect(
      (await asked((opened) => opened.ledger())).whole.savings.find(
        ({ name }) => name === 'resuming',
      )!.times,
    ).toBe(2)
  })

  test('sums a run from its log, delegates and sessions, and assigns each task its share', async () => {
    const { asked, cwd, env, ledger, sessions, stint } = await projectWithTurn()
    await stint('init', '--name', 'run-1', '--goal', 'x', '--force')
    const session = sessions().at(-1)!
    const { paths } = new Workspace(cwd, { env })
    const [run, delegate] = [mintId(undefined), mintId(undefined)]
    const log = RunLog.create(paths, run, DEFAULT_CONFIG, runStarted({ parallel: 2 }))
    addConversation(log, session, ['one', 'two'])
    const order = {
      name: 'tests',
      what: 'x',
      run,
      task: 'backlog-1',
      target: 'main',
      isReadOnly: false,
      files: [],
      slot: 0,
      brief: '',
    }
    addConversation(
      RunLog.create(paths, delegate, DEFAULT_CONFIG, { ...runStarted({}), delegate: order }),
      's-elsewhere',
      ['three'],
    )
    const { whole, rows } = await ledger({ of: run })
    expect(whole).toMatchObject({
      kind: 'run',
      costs: { injections: 5, injectedTokens: 2 * 500 + 3 * 100, hooks: 0 },
    })
    expect(rows.map(({ name, costs }) => [name, costs.injectedTokens])).toEqual([
      ['run-1', 700],
      [expect.any(String), 600],
    ])
    expect((await ledger({ by: 'run' })).rows).toEqual([whole])
    const tasks = (await ledger({ by: 'task' })).rows
    expect(tasks.map(({ id, name, costs }) => [id, name, costs.injectedTokens])).toEqual([
      ['backlog-1', 'three', 600],
      ['id-one', 'one', 350],
      ['id-two', 'two', 350],
      [expect.any(String), 'fix-the-sweep', expect.any(Number)],
    ])
    expect((await ledger({ of: 'two' })).whole).toMatchObject({
      kind: 'task',
      id: 'id-two',
      costs: { injectedTokens: 350 },
    })
    expect((await asked((opened) => opened.ledger({ of: 'tests' }))).whole.costs).toMatchObject({
      injectedTokens: 600,
    })
    const all = (await ledger()).whole
    expect(saved(all, 'batching')).toMatchObject({
      tokens: Math.round(500 * 1.15 - 3 * 200 * 0.1),
      times: 1,
    })
  })

  test('assigns a task only its share of a session for two tasks', async () => {
    const { ledger, stint } = await projectWithTurn()
    await stint('task', 'add', 'Mend the cookie')
    await stint(
      'init',
      '--name',
      'both',
      '--goal',
      'x',
      '--tasks',
      'fix-the-sweep,mend-the-cookie',
      '--force',
    )
    const session = (await ledger({ of: 'both' })).whole
    const { whole, rows } = await ledger({ of: 'mend-the-cookie', by: 'task' })
    expect(rows).toEqual([whole])
    expect(Math.abs(whole.costs.bytes - session.costs.bytes / 2)).toBeLessThan(2)
    expect((await ledger({ of: 'mend-the-cookie' })).rows).toMatchObject([
      { name: 'both', costs: { bytes: whole.costs.bytes, writes: whole.costs.writes } },
    ])
  })

  test('includes files under the git directory, and a log with two names once', async () => {
    const { ledger, path } = await projectWithTurn()
    restJournal(path)
    // Precomputed responses and caches exist from now on.
    await ledger()
    const filesIn = (folder: string) =>
      readdirSync(path(folder), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => statSync(join(entry.parentPath, entry.name)))
    const files = new Map(
      [...filesIn('.sessions'), ...filesIn(join('.git', 'stint'))].map(({ ino, size }) => [
        ino,
        size,
      ]),
    )
    expect((await ledger()).whole.costs.bytes).toBe(
      [...files.values()].reduce((sum, size) => sum + size, 0),
    )
  })

  test('counts the other logs when one is unreadable, and reports it', async () => {
    const { ledger, path, sessions, stint } = await projectWithTurn()
    await stint('init', '--name', 'other', '--goal', 'Else', '--force')
    const [first] = sessions()
    rmSync(path('.git', 'stint', 'journal', `${first}.jsonl`))
    rmSync(path('.sessions', 'journal', first!, 'log.jsonl'))
    mkdirSync(path('.sessions', 'journal', first!, 'log.jsonl'))
    expect((await ledger()).rows.map(({ name }) => name)).toEqual(['other'])
    expect(await stint('ledger')).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining('session fix-auth is not counted'),
    })
  })

  test('attributes hooks of a conversation without a session to the project only', async () => {
    const { ledger, notes } = await projectWithTurn()
    const before = (await ledger()).whole.costs
    recordHookCost(notes, 'nobody', 'SessionStart', 300)
    const { whole, rows } = await ledger()
    expect(whole.costs).toMatchObject({ hooks: 5, injectedTokens: before.injectedTokens + 100 })
    expect(rows.map(({ costs }) => costs.hooks)).toEqual([4])
  })

  test('counts claimed hook costs once when their process is killed before or after journalling', async () => {
    const { ledger, notes, path, sessions, worker } = await projectWithTurn()
    rmSync(join(notes, `${worker.conversation}.costs`))
    recordHookCost(notes, worker.conversation, 'Stop', 0)
    const [taken] = claimHookCosts(notes, [worker.conversation])
    expect((await ledger()).whole.costs.hooks).toBe(5)
    const once = `claude:${onceKeyForCosts(taken!.name)}`
    const entry = {
      id: mintId(undefined),
      at: '2020-01-02T03:04:05.000Z',
      kind: 'hooks.ran',
      by: 'hook',
      once,
      data: { ...taken!.costs },
    }
    appendFileSync(path('.sessions', 'journal', sessions()[0]!, 'log.jsonl'), encodeRecord(entry))
    expect(existsSync(taken!.path)).toBe(true)
    expect((await ledger()).whole.costs.hooks).toBe(5)
  })

  test('is empty for a project without sessions and writes nothing', async () => {
    const { cwd, env } = project()
    const opened = openProject(cwd, { env })
    expect(await opened.ledger()).toMatchObject({
      rows: [],
      days: [],
      whole: { kind: 'project', costs: { bytes: 0 } },
    })
    expect(await opened.maintenance.look()).toEqual({
      sessions: 0,
      sinceLast: 0,
      every: 10,
      isDue: false,
      hints: [],
    })
    opened.dispose()
    expect(existsSync(join(cwd, '.sessions'))).toBe(false)
  })
})

const DEAD_PROCESS = { pid: 2 ** 22 + 1, startedAt: 'x', mark: '' }

function runStarted(options: RunEntryData['run.started']['options']): RunEntryData['run.started'] {
  return {
    options,
    harness: 'rehearsal',
    source: '.tasks',
    tree: '/no',
    branch: 'b',
    base: 'c',
    isInPlace: false,
    runner: DEAD_PROCESS,
  }
}

/** A conversation that worked on these tasks, the second after 200 tokens of the first. */
function addConversation(log: RunLog, session: string, tasks: readonly string[]): void {
  log.append('conversation.opened', { number: 1, session, process: DEAD_PROCESS, setup: 500 })
  for (const [index, name] of tasks.entries()) {
    const attempt = {
      attempt: name,
      task: { id: `id-${name}`, name, title: name },
      number: 1,
      place: 'live',
      session,
      conversation: 1,
    }
    const more = {
      base: 'c',
      sizeClass: 'S',
      context: index * 900,
      isFirst: index === 0,
      since: '',
      text: 100,
    }
    log.append('attempt.started', { ...attempt, ...more } as RunEntryData['attempt.started'])
    log.append('turn.ended', {
      attempt: name,
      conversation: 1,
      how: 'done',
      spent: {},
      requests: 3,
      seconds: 1,
    })
    log.append('attempt.ended', { attempt: name, outcome: 'done', added: 200 })
  }
  log.close()
}

/** Requests with these context sizes, of which the last edited a file. */
function messages(
  prefix: string,
  carried: readonly number[],
  last = 'Edit',
): readonly HistoryItem[] {
  return carried.map((tokens, index) => ({
    type: 'message',
    id: `${prefix}-${index}`,
    role: 'assistant',
    request: `${prefix}-${index}`,
    usage: { input: 100, cacheRead: tokens - 100, cacheWritten: 0, output: 50 },
    parts: [
      { type: 'tool use', id: 'u', name: index === carried.length - 1 ? last : 'Read', input: {} },
    ],
  }))
}
