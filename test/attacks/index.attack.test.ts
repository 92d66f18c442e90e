// A clone brings an index of its own, or the list of what exports wrote.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { loadSqlite } from '../../src/index/sqlite.ts'
import { program } from '../support/cli.ts'
import { initRepository, scratchFolder } from '../support/scratch.ts'

function world({ git = true } = {}) {
  const folder = scratchFolder()
  const cwd = join(folder, 'project')
  const env = { PATH: process.env.PATH, HOME: folder, STINT_STATE_HOME: join(folder, 'state') }
  if (git) initRepository(cwd)
  else mkdirSync(cwd)
  const run = (...args: string[]) => {
    const options = { cwd, env, encoding: 'utf8' } as const
    const done = spawnSync(process.execPath, [program, ...args], options)
    return { status: done.status, printed: done.stdout + done.stderr }
  }
  run('init', '--name', 'work')
  run('task', 'add', 'a task')
  run('list')
  const index = join(cwd, '.sessions', 'index.db')
  const change = (sql: string) => {
    const database = new (loadSqlite().DatabaseSync)(index)
    database.exec(sql)
    database.close()
  }
  return { folder, cwd, run, index, change }
}

/** As on the machine that cloned: nothing is known of the project here. */
function asCloned({ folder, cwd }: ReturnType<typeof world>) {
  rmSync(join(cwd, '.git', 'stint'), { recursive: true, force: true })
  rmSync(join(folder, 'state'), { recursive: true, force: true })
}

describe('the index of a clone', () => {
  test('runs no trigger', () => {
    const w = world()
    w.change(
      "CREATE TRIGGER rename AFTER UPDATE ON sessions BEGIN UPDATE sessions SET name = 'renamed' WHERE key = NEW.key; END",
    )
    w.run('log', '--progress', 'further')
    const listed = w.run('list')
    expect(listed.printed).toContain('work')
    expect(listed.printed).not.toContain('renamed')
  })

  test.each(
    Object.entries({
      'a trigger':
        "CREATE TRIGGER t AFTER INSERT ON entries BEGIN UPDATE sessions SET name = 'renamed'; END",
      'a view': "CREATE VIEW v AS SELECT 'renamed' AS name",
      'a table': 'CREATE TABLE other (name TEXT)',
      'a column': "ALTER TABLE sessions ADD COLUMN other TEXT DEFAULT 'renamed'",
      'an index': 'CREATE INDEX other ON sessions (goal)',
      'a missing index': 'DROP INDEX sessions_by_name',
      'a view in the place of a table': `ALTER TABLE facts RENAME TO facts2; CREATE VIEW facts AS SELECT * FROM facts2`,
    }),
  )('is built again when its schema has %s', (_what, sql) => {
    const w = world()
    w.change(sql)
    const { printed } = w.run('list')
    expect(printed).toContain('has other tables than this version of Stint creates')
    expect(printed).toContain('work')
    expect(w.run('list').printed).not.toContain('built again')
  })

  test.each([{ git: true }, { git: false }])(
    'is never read for a journal, even with the tables of this version: git is $git',
    ({ git }) => {
      const w = world({ git })
      w.change("UPDATE sessions SET name = 'renamed'")
      w.change(
        "UPDATE entries SET record = replace(record, 'a task', 'a forged task') WHERE record IS NOT NULL",
      )
      asCloned(w)
      const listed = w.run('list')
      expect(listed.printed).toContain('was not built on this machine')
      expect(listed.printed).not.toContain('renamed')
      expect(w.run('task', 'list').printed).not.toContain('forged')
    },
  )

  test.each(['index.db', 'index.db.lock'])(
    'has no file deleted by the journal that lies beside %s',
    (name) => {
      const w = world()
      const target = join(w.folder, 'precious')
      writeFileSync(target, 'x'.repeat(100))
      w.change('PRAGMA journal_mode = delete')
      const path = join(w.cwd, '.sessions', name)
      // Any difference makes the lock be taken.
      w.change('CREATE TABLE other (name TEXT)')
      if (!existsSync(path)) copyFileSync(w.index, path)
      writeFileSync(`${path}-journal`, journalNaming(target))
      w.run('list')
      w.run('doctor', '--repair')
      expect(existsSync(target)).toBe(true)
    },
  )
})

/** A hot rollback journal of no pages that claims to belong to a transaction over several files. */
function journalNaming(path: string): Buffer {
  const magic = Buffer.from('d9d505f920a163d7', 'hex')
  const header = Buffer.alloc(512)
  magic.copy(header)
  // No page, any nonce, a database of one page, sectors of 512 bytes and pages of 4096.
  for (const [at, value] of [0, 1, 1, 512, 4096].entries()) header.writeUInt32BE(value, 8 + 4 * at)
  const name = Buffer.from(path)
  const end = Buffer.alloc(12)
  end.writeUInt32BE(name.length, 0)
  end.writeUInt32BE(
    name.reduce((sum, byte) => sum + byte, 0),
    4,
  )
  const number = Buffer.alloc(4)
  number.writeUInt32BE(1)
  return Buffer.concat([header, number, name, end.subarray(0, 8), magic])
}

describe('the list of exports of a clone', () => {
  test('has no file removed when the session ends', () => {
    const w = world()
    const target = join(w.folder, 'precious.json')
    writeFileSync(target, '{}\n')
    const [session] = readdirSync(join(w.cwd, '.sessions', 'journal'))
    const sum = createHash('sha256').update('{}\n').digest('hex')
    const line = JSON.stringify({ path: target, session, format: 'session-json', sum })
    writeFileSync(join(w.cwd, '.sessions', 'exports.jsonl'), `${line}\n`)
    w.run('close', '--complete', '--force')
    expect(readFileSync(target, 'utf8')).toBe('{}\n')
  })
})
