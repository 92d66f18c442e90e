import { closeSync, mkdirSync, openSync, rmSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openIndex } from '../../src/index/open-index.ts'
import { loadSqlite } from '../../src/index/sqlite.ts'
import { type World, names, withoutWriteAheadLog, temporaryFolder, world } from './world.ts'

/**
 * The index of a world's sessions in a separate folder; something happens to it while it is built.
 */
async function builtInSpiteOf(w: World, happening: (folder: string) => void) {
  const folder = join(temporaryFolder(), '.sessions')
  const prepare = () => mkdirSync(folder, { recursive: true })
  prepare()
  let isFirst = true
  const source = {
    ...w,
    folder,
    prepare,
    sessionIds() {
      if (isFirst) happening(folder)
      isFirst = false
      return w.sessionIds()
    },
  }
  const index = await openIndex(source, { report: (line) => w.reported.push(line) })
  onTestFinished(() => index.close())
  return index
}

function holdLock(path: string): void {
  const holder = new (loadSqlite().DatabaseSync)(path)
  holder.exec('BEGIN IMMEDIATE')
  onTestFinished(() => holder.close())
}

function overwritePages(path: string): void {
  const fd = openSync(path, 'r+')
  const length = statSync(path).size - 4096
  writeSync(fd, Buffer.alloc(length, 0x5a), 0, length, 4096)
  closeSync(fd)
}

describe('an index that is removed', () => {
  test.each<[string, (folder: string) => void]>([
    ['while it is being built', (folder) => rmSync(join(folder, 'index.db'))],
    ['with its folder while it is being built', (folder) => rmSync(folder, { recursive: true })],
    [
      'while another process is building it',
      (folder) => {
        holdLock(join(folder, 'index.db'))
        rmSync(join(folder, 'index.db'))
      },
    ],
  ])('%s is still complete, without a message', async (_, happening) => {
    const w = world()
    w.startSession('kept')
    const index = await builtInSpiteOf(w, happening)
    expect(names(index.sessions())).toEqual(['kept'])
    index.sync()
    expect(index.counts()).toEqual({ sessions: 1, entries: 1 })
    expect(w.reported).toEqual([])
  })

  test('after it was damaged is rebuilt without a message', async () => {
    const w = world()
    const id = w.startSession('kept')
    for (let n = 0; n < 300; n += 1)
      w.add(id, 'note.added', { text: `note ${n} about something to be found` })
    const path = join(w.folder, 'index.db')
    ;(await w.open()).close()
    withoutWriteAheadLog(path)
    const index = await w.open()
    overwritePages(path)
    rmSync(path)
    expect([...index.search({ text: 'found', limit: 500 })]).toHaveLength(300)
    expect(w.reported).toEqual([])
  })

  test('and rebuilt while a list is read continues the list', async () => {
    const w = world()
    const all = Array.from({ length: 100 }, (_, n) => `session-${String(n).padStart(2, '0')}`)
    for (const name of all) w.startSession(name)
    const index = await w.open()
    const list = index.sessions({ sort: 'name' })
    const seen = [list.next().value!.name]
    rmSync(join(w.folder, 'index.db'))
    index.sync()
    for (const row of list) seen.push(row.name)
    expect(seen).toEqual(all)
  })
})

test('an index in memory sees entries whose touch marks were cleared for the file', async () => {
  const w = world()
  const id = w.startSession('kept')
  mkdirSync(join(w.folder, 'index.db'))
  const index = await w.open()
  expect(w.reported).toHaveLength(1)
  w.add(id, 'note.added', { text: 'elsewhere' })
  for (const mark of w.marks()) rmSync(join(w.folder, 'touched', mark))
  index.sync()
  expect([...index.search({ text: 'elsewhere' })]).toHaveLength(1)
})
