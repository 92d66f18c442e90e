import { mkdirSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { mintId } from '../../src/journal/ids.ts'
import { checkMaintenance } from '../../src/ledger/maintenance.ts'
import { DEFAULT_CONFIG } from '../../src/project/config/config.ts'
import { Workspace } from '../../src/project/store/workspace.ts'
import { RunLog } from '../../src/run/run-log.ts'
import type { RunEntryData } from '../../src/run/entries.ts'
import { draftEntry } from '../../src/session/entries.ts'
import { type Ran, terminal } from '../support/cli.ts'

type World = ReturnType<typeof terminal>

const DAY_MS = 24 * 60 * 60_000
const inDays = (days: number) => new Date(Date.now() + days * DAY_MS)

async function check({ cwd, env }: World, now?: Date) {
  const workspace = new Workspace(cwd, { env })
  try {
    return await checkMaintenance(workspace, now)
  } finally {
    workspace.close()
  }
}

async function withSession() {
  const world = terminal()
  await world.stint('init', '--name', 'first', '--goal', 'Be there')
  return world
}

const runStarted = (
  world: World,
  more: Partial<RunEntryData['run.started']> = {},
): RunEntryData['run.started'] => ({
  options: {},
  harness: 'rehearsal',
  source: '.tasks',
  tree: join(world.folder, 'no-tree'),
  branch: 'stint/run',
  base: 'HEAD',
  isInPlace: false,
  // No process has this pid.
  runner: { pid: 2 ** 22 + 1, startedAt: 'x', mark: '' },
  ...more,
})

function run(world: World, more?: Partial<RunEntryData['run.started']>): RunLog {
  return RunLog.create(
    new Workspace(world.cwd, { env: world.env }).paths,
    mintId(undefined),
    DEFAULT_CONFIG,
    runStarted(world, more),
  )
}

describe('maintenance', () => {
  test('is due after ten sessions, and again ten after it was done', async () => {
    const world = terminal()
    const workspace = new Workspace(world.cwd, { env: world.env })
    workspace.prepare()
    const begin = (count: number) => {
      for (let runStarted = 0; runStarted < count; runStarted += 1) {
        const session = workspace.session(mintId(undefined))
        session.create([
          draftEntry('session.opened', { name: `s-${runStarted}`, goal: 'x' }),
          draftEntry('session.closed', { how: 'completed' }),
        ])
        session.close()
      }
    }
    begin(9)
    expect(await check(world)).toEqual({
      sessions: 9,
      sinceLast: 9,
      every: 10,
      isDue: false,
      hints: [],
    })
    begin(1)
    expect(await check(world)).toMatchObject({ sessions: 10, sinceLast: 10, isDue: true })
    const done: Ran = await world.stint('ledger', '--maintenance', '--done', '--json')
    expect(done.json()).toMatchObject({
      sessions: 10,
      sinceLast: 0,
      lastDoneAt: expect.any(String),
      isDue: false,
    })
    begin(1)
    expect(await check(world)).toMatchObject({ sessions: 11, sinceLast: 1, isDue: false })
    // It is an entry of no session.
    expect((await world.stint('doctor')).stdout).toContain('logs and index agree')
    expect((await world.stint('list')).stdout.trimEnd().split('\n')).toHaveLength(12)
  })

  test('prints a hint for each open item, and for nothing else', async () => {
    const world = await withSession()
    expect((await check(world)).hints).toEqual([])
    await world.stint('task', 'add', 'Fix the sweep')
    await world.stint('task', 'failed', 'fix-the-sweep')
    await world.stint('handoff', 'create', '--to', 'fix-the-sweep')
    await world.stint('handoff', 'create')
    run(world).close()
    const delegate = run(world, {
      delegate: {
        name: 'tests',
        what: 'x',
        target: 'main',
        isReadOnly: false,
        files: [],
        slot: 0,
        brief: '',
      },
    })
    delegate.append('delegate.moved', { to: 'ready', commit: 'c0ffee' })
    delegate.close()
    mkdirSync(join(world.cwd, '.sessions', 'conversations'))
    const large = join(world.cwd, '.sessions', 'conversations', 'c-1.jsonl')
    writeFileSync(large, '')
    truncateSync(large, 300_000_000)
    writeFileSync(join(world.cwd, '.git', 'stint', 'x.json.damaged'), '')
    const { hints } = await check(world, inDays(20))
    expect(hints.map(({ command }) => command.replace(/[0-9a-f]{6}$/, 'ID'))).toEqual([
      'stint close --abandon --session first',
      'stint merge tests',
      'stint run --resume ID',
      'stint handoff show first/1 --check',
      'stint handoff show first/2 --check',
      'stint task start fix-the-sweep',
      'stint doctor',
      'stint history prune --dry-run --older-than 90d',
    ])
    expect(hints.map(({ what }) => what)).toEqual([
      expect.stringMatching(/^session first is active and untouched since 20/),
      'delegate tests is ready, and its work is not merged',
      expect.stringMatching(/^run \w{6} ended \(interrupted\)/),
      'handoff 1 of first for task fix-the-sweep was never taken up',
      'handoff 2 of first was never taken up',
      'task fix-the-sweep failed: Fix the sweep',
      expect.stringContaining('x.json.damaged'),
      'what was said takes 300 MB in 1 files',
    ])
    expect((await check(world, inDays(13))).hints.map(({ command }) => command)).not.toContain(
      'stint close --abandon --session first',
    )
  })

  test('sums up hints that are too many to list', async () => {
    const world = await withSession()
    for (let number = 1; number <= 7; number += 1) {
      await world.stint('task', 'add', `Task ${number}`)
      await world.stint('task', 'failed', `task-${number}`)
    }
    const { hints } = await check(world)
    expect(hints).toHaveLength(6)
    expect(hints.at(-1)).toEqual({ what: '2 more tasks that failed', command: 'stint task list' })
  })
})
