// Counts what one command does: reads of the log, folds, renderings and syncs.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Project } from '../../src/core.ts'
import { type World, gitProject } from '../support/project.ts'

const calls = vi.hoisted(() => ({ folds: 0, renders: 0 }))

vi.mock('../../src/session/fold.ts', async (original) => {
  const module = await original<typeof import('../../src/session/fold.ts')>()
  const fold: typeof module.fold = (...given) => {
    calls.folds += 1
    return module.fold(...given)
  }
  return { ...module, fold }
})

vi.mock('../../src/document/render.ts', async (original) => {
  const module = await original<typeof import('../../src/document/render.ts')>()
  const renderDocument: typeof module.renderDocument = (...given) => {
    calls.renders += 1
    return module.renderDocument(...given)
  }
  return { ...module, renderDocument }
})

interface Cost {
  /** Bytes of logs that were read, as a multiple of the log's size. */
  readonly logRead: number
  readonly folds: number
  readonly renders: number
  readonly fdatasync: number
  readonly fsync: number
}

const real = { ...fs }
let logBytes = 0
let fdatasync = 0
let fsync = 0

beforeEach(() => {
  const logs = new Set<number>()
  const isLog = (path: unknown) => /(?:log|stint\/journal\/[^/]+)\.jsonl$/.test(String(path))
  fs.openSync = (...given) => {
    const fd = real.openSync(...given)
    if (isLog(given[0])) logs.add(fd)
    return fd
  }
  fs.closeSync = (fd) => {
    logs.delete(fd)
    real.closeSync(fd)
  }
  fs.readSync = ((fd: number, ...rest: [Buffer, number, number, number]) => {
    const count = real.readSync(fd, ...rest)
    if (logs.has(fd)) logBytes += count
    return count
  }) as typeof fs.readSync
  fs.fdatasyncSync = (fd) => {
    fdatasync += 1
    real.fdatasyncSync(fd)
  }
  fs.fsyncSync = (fd) => {
    fsync += 1
    real.fsyncSync(fd)
  }
  syncBuiltinESMExports()
})

afterEach(() => {
  const { openSync, closeSync, readSync, fdatasyncSync, fsyncSync } = real
  Object.assign(fs, { openSync, closeSync, readSync, fdatasyncSync, fsyncSync })
  syncBuiltinESMExports()
})

async function costOf(world: World, work: () => Promise<unknown>): Promise<Cost> {
  Object.assign(calls, { folds: 0, renders: 0 })
  logBytes = fdatasync = fsync = 0
  await work()
  const path = world.path('.sessions', 'journal', world.sessionId(), 'log.jsonl')
  const logRead = Math.round((10 * logBytes) / fs.statSync(path).size) / 10
  return { logRead, ...calls, fdatasync, fsync }
}

/** A session whose log is so long that its ends do not matter. */
async function longSession(): Promise<World> {
  const world = gitProject()
  await world.run((project) => project.init({ name: 'long', goal: 'Count' }))
  await world.run(async (project) => {
    const session = await project.session()
    const text = 'Something was done, and this says what. '.repeat(50)
    session.append(Array.from({ length: 500 }, (_, number) => ({ progress: `${number} ${text}` })))
    session.close()
  })
  await world.run((project) => project.log({ entries: [{ decision: 'Begin' }] }))
  return world
}

describe('recording a decision', () => {
  test('reads the log once, folds only what is new, and syncs only its own append', async () => {
    const world = await longSession()
    const log = () =>
      world.run((project) => project.log({ entries: [{ decision: 'Count everything' }] }))
    const cost = { logRead: 1, folds: 0, renders: 1, fdatasync: 1, fsync: 0 }
    expect(await costOf(world, log)).toEqual(cost)
    fs.rmSync(world.path('.sessions', 'journal', world.sessionId(), 'state.kept'))
    expect(await costOf(world, log)).toEqual({ ...cost, folds: 1 })
  })

  test('folds everything once after a retraction, and not again', async () => {
    const world = await longSession()
    const log = (record: Parameters<Project['log']>[0]) =>
      costOf(world, () => world.run((project) => project.log(record)))
    const { appended } = await world.run((project) =>
      project.log({ entries: [{ decision: 'Count twice' }] }),
    )
    expect((await log({ retract: [appended[0]!.id] })).folds).toBe(1)
    expect((await log({ entries: [{ decision: 'Count once' }] })).folds).toBe(0)
  })

  test('reads and folds at most once more when the user edited the document', async () => {
    const world = await longSession()
    world.save(world.document().replace('Begin', 'Begin well'))
    const cost = await costOf(world, () =>
      world.run((project) => project.log({ entries: [{ decision: 'Count everything' }] })),
    )
    expect(cost.logRead).toBeLessThanOrEqual(2)
    expect(cost.folds).toBeLessThanOrEqual(2)
    expect(cost.fdatasync).toBe(2)
    expect(world.document()).toContain('Begin well')
  })
})

describe('viewing a session', () => {
  test('reads the log once, folds only what is new, and syncs nothing', async () => {
    const world = await longSession()
    const cost = await costOf(world, () => world.view())
    expect(cost).toEqual({ logRead: 1, folds: 0, renders: 0, fdatasync: 0, fsync: 0 })
  })
})
