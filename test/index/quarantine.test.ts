import {
  closeSync,
  openSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { INDEX_VERSION } from '../../src/index/index-file.ts'
import { isWalSafe, loadSqlite } from '../../src/index/sqlite.ts'
import { type World, dump, names, withoutWriteAheadLog, world } from './world.ts'

/** A project with a closed index, and its contents. */
async function indexed() {
  const w = world()
  for (let n = 0; n < 30; n += 1) {
    const id = w.startSession(`session-${n}`)
    for (let m = 0; m < 10; m += 1)
      w.add(id, 'note.added', { text: `note ${m} of ${n} about something to be found` })
  }
  const index = await w.open()
  index.close()
  const path = join(w.folder, 'index.db')
  const before = dump(w.folder)
  withoutWriteAheadLog(path)
  return { w, path, before }
}

const asideIn = (w: World) =>
  readdirSync(w.folder).filter((name) => /^index\.db\.set-aside-.*Z$/.test(name))

function execOn(path: string, sql: string): void {
  const database = new (loadSqlite().DatabaseSync)(path)
  database.exec(sql)
  database.close()
  withoutWriteAheadLog(path)
}

function overwrite(path: string, position: number, length: number): void {
  const fd = openSync(path, 'r+')
  writeSync(fd, Buffer.alloc(length, 0x5a), 0, length, position)
  closeSync(fd)
}

describe('an index that cannot be used', () => {
  test.each<[string, (path: string) => void]>([
    ['of an older version', (path) => execOn(path, `PRAGMA user_version = ${INDEX_VERSION - 1}`)],
    ['of a newer version', (path) => execOn(path, `PRAGMA user_version = ${INDEX_VERSION + 1}`)],
    ['of another program', (path) => execOn(path, 'PRAGMA application_id = 1')],
    ['that is garbage', (path) => writeFileSync(path, 'not a database at all\n'.repeat(400))],
    ['that is a few bytes', (path) => writeFileSync(path, 'x')],
    [
      'that is cut off in the middle',
      (path) => truncateSync(path, Math.floor(statSync(path).size / 2)),
    ],
    ['that is cut off in its header', (path) => truncateSync(path, 50)],
    ['whose header is overwritten', (path) => overwrite(path, 0, 100)],
    ['whose schema is overwritten', (path) => overwrite(path, 100, 3_000)],
  ])('%s is quarantined and rebuilt, and one line says so', async (_, damage) => {
    const { w, path, before } = await indexed()
    damage(path)
    const bytes = readFileSync(path)
    const index = await w.open()
    expect(names(index.sessions())).toHaveLength(30)
    expect(w.reported).toHaveLength(1)
    expect(asideIn(w)).toHaveLength(1)
    expect(w.reported[0]).toContain(asideIn(w)[0]!)
    expect(readFileSync(join(w.folder, asideIn(w)[0]!))).toEqual(bytes)
    expect(dump(w.folder)).toEqual(before)
  })

  test.each<[string, (path: string) => void]>([
    ['missing', (path) => rmSync(path)],
    ['empty', (path) => truncateSync(path, 0)],
  ])('because it is %s is rebuilt without a message', async (_, damage) => {
    const { w, path, before } = await indexed()
    damage(path)
    await w.open()
    expect(w.reported).toEqual([])
    expect(asideIn(w)).toEqual([])
    expect(dump(w.folder)).toEqual(before)
  })

  test('because its inner pages are damaged is quarantined by the query that reads them', async () => {
    const { w, path } = await indexed()
    const pageSize = 4096
    const pages = statSync(path).size / pageSize
    for (let page = 2; page < pages; page += 1) overwrite(path, page * pageSize, pageSize)
    const index = await w.open()
    expect([...index.search({ text: 'found', limit: 500 })]).toHaveLength(300)
    expect(names(index.sessions())).toHaveLength(30)
    expect(w.reported).toHaveLength(1)
    expect(asideIn(w).length).toBeGreaterThan(0)
    expect(index.verify()).toEqual({ checked: 30, differing: [], damage: [] })
  })

  test('because it is damaged while a list is read continues the list', async () => {
    const w = world()
    for (let n = 0; n < 2_000; n += 1)
      w.startSession(`session-${String(n).padStart(4, '0')}`, { goal: 'a goal '.repeat(20) })
    const index = await w.open()
    index.close()
    withoutWriteAheadLog(join(w.folder, 'index.db'))
    const again = await w.open()
    const list = again.sessions({ sort: 'name' })
    const seen = [list.next().value!.name]
    const path = join(w.folder, 'index.db')
    for (let page = 20; page < statSync(path).size / 4096; page += 1)
      overwrite(path, page * 4096, 4096)
    for (const row of list) seen.push(row.name)
    expect(seen).toEqual(
      Array.from({ length: 2_000 }, (_, n) => `session-${String(n).padStart(4, '0')}`),
    )
    expect(w.reported).toHaveLength(1)
  })

  test('is quarantined at most three times over', async () => {
    const { w, path } = await indexed()
    for (let n = 0; n < 5; n += 1) {
      withoutWriteAheadLog(path)
      writeFileSync(path, `garbage ${n} `.repeat(500))
      const index = await w.open()
      index.close()
    }
    expect(
      asideIn(w).map((name) => readFileSync(join(w.folder, name), 'utf8').slice(0, 9)),
    ).toEqual(['garbage 2', 'garbage 3', 'garbage 4'])
  })

  test('does not leave its write-ahead log to the new one', async () => {
    const { w, path } = await indexed()
    writeFileSync(path, 'garbage '.repeat(1_000))
    writeFileSync(`${path}-wal`, 'stale')
    const index = await w.open()
    expect(w.reported).toHaveLength(1)
    expect(names(index.sessions())).toHaveLength(30)
    expect(index.verify().damage).toEqual([])
  })
})

test.each([
  ['3.53.0', true],
  ['3.51.3', true],
  ['3.51.2', false],
  ['3.47.2', false],
  ['3.7.0', false],
  ['4.0.0', true],
  ['2.8.17', false],
])('SQLite %s gets a write-ahead log: %s', (version, isSafe) => {
  expect(isWalSafe(version)).toBe(isSafe)
})

test('the bundled SQLite has full-text search and a safe write-ahead log', async () => {
  const { path } = await indexed()
  const database = new (loadSqlite().DatabaseSync)(path)
  const { version } = database.prepare('SELECT sqlite_version() AS version').get() as {
    version: string
  }
  const { journal_mode: mode } = database.prepare('PRAGMA journal_mode').get() as {
    journal_mode: string
  }
  database.close()
  expect(mode).toBe(isWalSafe(version) ? 'wal' : 'delete')
})
