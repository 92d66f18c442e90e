import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { loadSqlite } from '../../src/index/sqlite.ts'
import { bundled } from './bundle.ts'
import { names, world } from './world.ts'

const run = promisify(execFile)

async function contentsSeenBy(child: string, project: string, times = 1) {
  const { stdout, stderr } = await run(process.execPath, [child, project, String(times)])
  expect(stderr).toBe('')
  return JSON.parse(stdout) as {
    reported: string[]
    counts: { sessions: number; entries: number }
    differing: unknown[]
    damage: string[]
  }
}

function manySessions(sessions: number, entries: number) {
  const w = world()
  const ids = Array.from({ length: sessions }, (_, n) => w.startSession(`session-${n}`))
  for (const id of ids)
    for (let n = 1; n < entries; n += 1) w.add(id, 'note.added', { text: `note ${n}` })
  return { w, ids }
}

describe('several processes', () => {
  test('that build one index at once all end with the complete index', async () => {
    const child = await bundled(new URL('child.ts', import.meta.url))
    const { w } = manySessions(300, 10)
    const contents = await Promise.all(
      Array.from({ length: 4 }, () => contentsSeenBy(child, w.project)),
    )
    for (const answer of contents) {
      expect(answer).toEqual({
        reported: [],
        counts: { sessions: 300, entries: 3_000 },
        differing: [],
        damage: [],
      })
    }
  })

  test('that update one index while the log grows lose nothing', async () => {
    const child = await bundled(new URL('child.ts', import.meta.url))
    const { w, ids } = manySessions(20, 5)
    const index = await w.open()
    const children = Promise.all(
      Array.from({ length: 3 }, () => contentsSeenBy(child, w.project, 200)),
    )
    let added = 0
    const waiting = { isOver: false }
    void children.finally(() => (waiting.isOver = true))
    while (!waiting.isOver) {
      w.add(ids[added % ids.length]!, 'decision.made', { title: `decision ${added}` })
      added += 1
      if (added % 7 === 0) index.sync()
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
    for (const { reported, damage } of await children)
      expect({ reported, damage }).toEqual({ reported: [], damage: [] })
    index.sync()
    expect(index.counts()).toEqual({ sessions: 20, entries: 100 + added })
    expect([...index.search({ text: 'decision' })]).toHaveLength(added)
    expect(index.verify()).toEqual({ checked: 20, differing: [], damage: [] })
  })

  test('that find the same damage at once both end with a good index', async () => {
    const child = await bundled(new URL('child.ts', import.meta.url))
    const { w } = manySessions(100, 5)
    writeFileSync(join(w.folder, 'index.db'), 'garbage '.repeat(5_000))
    const contents = await Promise.all(
      Array.from({ length: 3 }, () => contentsSeenBy(child, w.project)),
    )
    for (const { counts, differing, damage } of contents) {
      expect({ counts, differing, damage }).toEqual({
        counts: { sessions: 100, entries: 500 },
        differing: [],
        damage: [],
      })
    }
    expect(readdirSync(w.folder).filter((name) => /set-aside-.*Z$/.test(name))).toHaveLength(1)
    const last = await contentsSeenBy(child, w.project)
    expect(last.reported).toEqual([])
  })

  test('let the next one finish an index whose builder was killed', async () => {
    const child = await bundled(new URL('child.ts', import.meta.url))
    const { w } = manySessions(400, 10)
    // Each log is requested once to compare it and once to index it.
    const killed = spawn(process.execPath, [child, w.project, '1', '600'], { stdio: 'ignore' })
    expect(await once(killed, 'exit')).toEqual([null, 'SIGKILL'])
    expect(existsSync(join(w.folder, 'index.db-wal'))).toBe(true)
    expect(await contentsSeenBy(child, w.project)).toEqual({
      reported: [],
      counts: { sessions: 400, entries: 4_000 },
      differing: [],
      damage: [],
    })
  })

  test('read the existing index, and report it, when one keeps the lock', async () => {
    const { w, ids } = manySessions(3, 2)
    const index = await w.open()
    w.add(ids[0]!, 'note.added', { text: 'too late' })
    const holder = new (loadSqlite().DatabaseSync)(join(w.folder, 'index.db'))
    holder.exec('BEGIN IMMEDIATE')
    index.sync()
    expect(w.reported).toHaveLength(1)
    expect(w.reported[0]).toContain('another process')
    expect(names(index.sessions())).toHaveLength(3)
    w.ageMarks(60)
    holder.exec('ROLLBACK')
    holder.close()
    index.sync()
    expect([...index.search({ text: 'too late' })]).toHaveLength(1)
    expect(w.reported).toHaveLength(1)
  })
})
