import { spawnSync } from 'node:child_process'
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, test } from 'vitest'
import { loadSqlite } from '../../src/index/sqlite.ts'
import { Log } from '../../src/journal/log.ts'
import { readLog } from '../../src/journal/read-log.ts'
import { encodeRecord, withChecksum } from '../../src/journal/record.ts'
import { type Project, openProject } from '../../src/core.ts'
import { networkFileSystem } from '../../src/project/doctor/machine.ts'
import { git, initRepository, scratchFolder, temporaryFolder } from '../support/scratch.ts'

beforeAll(() => {
  process.env['STINT_STATE_HOME'] = temporaryFolder()
})

async function within<T>(root: string, work: (project: Project) => Promise<T>): Promise<T> {
  const project = openProject(root, { env: {} })
  try {
    return await work(project)
  } finally {
    project.dispose()
  }
}

/** Two sessions, one of them closed, a checkpoint and a task. */
async function healthyProject(options: { isGit?: boolean } = {}) {
  const root = scratchFolder()
  if (options.isGit !== false) {
    initRepository(root)
    git(root, 'commit', '--quiet', '--allow-empty', '-m', 'first')
  }
  const ids = await within(root, async (project) => {
    const first = await project.init({ name: 'done-one', goal: 'first' })
    await project.close({ how: 'completed' })
    const second = await project.init({ name: 'open-one', goal: 'second' })
    await project.log({
      entries: [{ step: 'a step' }, { decision: 'Do it', rationale: 'because' }],
    })
    await project.checkpoint({ note: 'here' })
    await project.tasks.add({ title: 'A task' })
    return [first.reading.state.id, second.reading.state.id] as const
  })
  const folder = join(root, '.sessions', 'journal', ids[1])
  const link = join(root, '.git', 'stint', 'journal', `${ids[1]}.jsonl`)
  return { root, id: ids[1], closedId: ids[0], folder, log: join(folder, 'log.jsonl'), link }
}

async function diagnose(root: string, options: { repair?: boolean } = {}) {
  const diagnosis = await within(root, (project) => project.doctor(options))
  const check = (name: string) => {
    const found = diagnosis.checks.find((one) => one.check === name)
    if (found === undefined) throw new Error(`there is no check ${name}`)
    return found
  }
  const worse = diagnosis.checks.filter(({ status }) => status !== 'ok').map((one) => one.check)
  return { ...diagnosis, check, worse }
}

/** Every file of the project with its bytes, to compare before and after. */
function bytesUnder(folder: string): ReadonlyMap<string, string> {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  )
  return new Map(
    names
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => [path, readFileSync(path, 'latin1')]),
  )
}

test('reports a healthy project as healthy, with matching counts', async () => {
  const { root } = await healthyProject()
  const { isHealthy, counts, worse } = await diagnose(root)
  expect(worse).toEqual([])
  expect(isHealthy).toBe(true)
  expect(counts.sessions).toEqual({ logs: 2, links: 2, index: 2, documents: 2 })
  expect(counts.entries.read).toBe(counts.entries.indexed)
  expect(counts.tasks).toEqual({ backlog: 1, files: 1 })
  expect(counts.damagedLines).toBe(0)
})

test('reports a folder without sessions as healthy and creates nothing there', async () => {
  const root = scratchFolder()
  const { isHealthy, counts } = await diagnose(root)
  expect(isHealthy).toBe(true)
  expect(counts.sessions.logs).toBe(0)
  expect(readdirSync(root)).toEqual([])
})

test('reports damaged lines with file, line, reason and first bytes, and keeps them', async () => {
  const { root, log } = await healthyProject()
  const text = readFileSync(log, 'utf8').replace('a step', 'a stop')
  writeFileSync(log, `${text}\n{"v":1,"torn`)
  const before = readFileSync(log)
  const { isHealthy, check, counts } = await diagnose(root, { repair: true })
  expect(isHealthy).toBe(false)
  expect(counts.damagedLines).toBe(2)
  const { status, details } = check('journals')
  expect(status).toBe('problem')
  const line = text.slice(0, text.indexOf('a stop')).split('\n').length
  expect(details[0]).toMatch(new RegExp(`log\\.jsonl:${line} checksum does not match: .*\\bv\\b`))
  expect(details[1]).toMatch(/log\.jsonl:\d+ torn or not JSON: .*torn/)
  // What the document still showed of a damaged entry may have been appended again after it.
  expect(readFileSync(log).subarray(0, before.length).equals(before)).toBe(true)
})

test('reports a session without its opening entry', async () => {
  const { root, log } = await healthyProject()
  writeFileSync(log, readFileSync(log, 'utf8').replace('session.opened', 'session.opxned'))
  const { check, isHealthy } = await diagnose(root)
  expect(isHealthy).toBe(false)
  expect(check('beginnings').status).toBe('problem')
})

test('restores logs from their links after rm -r .sessions, and reports it', async () => {
  const { root, log } = await healthyProject()
  const before = readFileSync(log)
  rmSync(join(root, '.sessions'), { recursive: true })
  const { isHealthy, check, counts } = await diagnose(root)
  expect(isHealthy).toBe(true)
  expect(readFileSync(log)).toEqual(before)
  expect(check('second names').details.filter((line) => line.includes('is back'))).toHaveLength(3)
  expect(check('documents').details).toContainEqual(expect.stringMatching(/open-one .*missing/))
  expect(counts.sessions).toEqual({ logs: 2, links: 2, index: 2, documents: 0 })
  const repaired = await diagnose(root, { repair: true })
  expect(repaired.counts.sessions.documents).toBe(2)
  expect((await diagnose(root)).worse).toEqual([])
})

test('recreates a missing link', async () => {
  const { root, log, link } = await healthyProject()
  unlinkSync(link)
  const { check } = await diagnose(root)
  expect(check('second names').status).toBe('note')
  expect(statSync(link).ino).toBe(statSync(log).ino)
})

test('merges a log and a link that became different files', async () => {
  const { root, log, link } = await healthyProject()
  copyFileSync(link, `${link}.copy`)
  renameSync(`${link}.copy`, link)
  const only = {
    id: '01990000-0000-7000-8000-0000000000aa',
    at: '2025-01-01T00:00:00.000Z',
    kind: 'note.added',
    by: 'test',
  }
  appendFileSync(link, encodeRecord({ ...only, data: { text: 'only in the link' } }))
  const { check, isHealthy } = await diagnose(root)
  expect(check('second names').details.join()).toContain('different files')
  expect(statSync(link).ino).toBe(statSync(log).ino)
  expect(readLog(log).records.map(({ id }) => id)).toContain(only.id)
  expect(isHealthy).toBe(true)
})

test('notes a session that was killed before its first entry, and --repair removes its folder', async () => {
  const { root, folder } = await healthyProject()
  const id = '019abc12-3456-7def-8901-234567890abc'
  const unbegun = join(folder, '..', id)
  const announced = join(root, '.sessions', 'open', id)
  mkdirSync(unbegun)
  writeFileSync(announced, JSON.stringify({ id, name: 'x', status: 'active' }))
  const diagnosis = await within(root, (project) => project.doctor())
  expect(diagnosis.isHealthy).toBe(true)
  expect(JSON.stringify(diagnosis.checks)).toContain('a process ended before its first entry')
  expect(existsSync(unbegun)).toBe(true)
  await within(root, (project) => project.doctor({ repair: true }))
  expect([unbegun, announced].filter((path) => existsSync(path))).toEqual([])
  const after = await within(root, (project) => project.doctor())
  expect(JSON.stringify(after.checks)).not.toContain('before its first entry')
})

test('reports a session without log and link, and does not touch its views', async () => {
  const { root, log, link, folder } = await healthyProject()
  unlinkSync(log)
  unlinkSync(link)
  const { check, isHealthy } = await diagnose(root, { repair: true })
  expect(isHealthy).toBe(false)
  expect(check('journals').details.join()).toContain('its journal is gone')
  expect(existsSync(join(folder, 'state.json'))).toBe(true)
})

test('rewrites a snapshot that disagrees with its journal', async () => {
  const { root, folder } = await healthyProject()
  const path = join(folder, 'snapshot.json')
  const { sum: _sum, ...snapshot } = JSON.parse(readFileSync(path, 'utf8')) as {
    state: { goal: string }
    sum: string
  }
  snapshot.state.goal = 'wrong'
  // With a valid checksum, as a bug in advancing the state would leave it.
  writeFileSync(path, withChecksum(JSON.stringify(snapshot)))
  expect((await within(root, (project) => project.open())).goal).toBe('wrong')
  const { check } = await diagnose(root)
  expect(check('snapshots').status).toBe('note')
  expect((await within(root, (project) => project.open())).goal).toBe('second')
  expect((await diagnose(root)).check('snapshots').status).toBe('ok')
})

test('removes a cached state that disagrees with its journal', async () => {
  const { root, folder } = await healthyProject()
  const path = join(folder, 'state.kept')
  const steps = Array.from({ length: 1000 }, (_, n) => ({ progress: `Moved handler ${n}` }))
  await within(root, (project) => project.log({ entries: steps }))
  const { sum: _sum, ...kept } = JSON.parse(readFileSync(path, 'utf8')) as {
    state: { goal: string }
    sum: string
  }
  kept.state.goal = 'wrong'
  writeFileSync(path, withChecksum(JSON.stringify(kept)))
  expect((await within(root, (project) => project.view())).state.goal).toBe('wrong')
  expect((await diagnose(root)).check('snapshots').details.join()).toContain('kept state')
  expect((await within(root, (project) => project.view())).state.goal).toBe('second')
  expect((await diagnose(root)).check('snapshots').status).toBe('ok')
})

test('names missing or changed views, and renders them again with --repair', async () => {
  const { root, folder } = await healthyProject()
  const before = bytesUnder(folder)
  unlinkSync(join(folder, 'progress.md'))
  writeFileSync(join(folder, 'state.json'), '{}')
  const [copy] = readdirSync(join(folder, 'entries'))
  writeFileSync(join(folder, 'entries', copy!), 'something else')
  const { check, isHealthy } = await diagnose(root)
  expect(isHealthy).toBe(true)
  expect(check('other views').details.map((line) => line.replace(/^.*\): /, ''))).toEqual([
    'progress.md is missing',
    'state.json shows something else',
    `${join('entries', copy!)} shows something else`,
  ])
  expect(existsSync(join(folder, 'progress.md'))).toBe(false)
  await diagnose(root, { repair: true })
  expect((await diagnose(root)).worse).toEqual([])
  expect(bytesUnder(folder)).toEqual(before)
})

test("does not report a user's edit as a difference, and keeps it", async () => {
  const { root } = await healthyProject()
  const path = join(root, '.sessions', 'active', readdirSync(join(root, '.sessions', 'active'))[0]!)
  const edited = readFileSync(path, 'utf8').replace('- [ ] a step', '- [ ] a better step')
  writeFileSync(path, edited)
  const { check } = await diagnose(root, { repair: true })
  expect(check('documents').details.join()).toContain(
    'edited, will be absorbed by the next command on it',
  )
  expect(readFileSync(path, 'utf8')).toBe(edited)
})

test('does not report an outdated document as edited', async () => {
  const { root, log, link } = await healthyProject()
  new Log({ path: log, link }).append([
    { kind: 'note.added', by: 'hook', data: { text: 'by a hook' } },
  ])
  const { check } = await diagnose(root)
  expect(check('documents').details.join()).toMatch(/open-one .*: behind/)
})

test('lists orphaned files of killed commands and quarantined files', async () => {
  const { root, folder } = await healthyProject()
  mkdirSync(join(folder, 'set-aside'))
  for (const name of [
    'set-aside/open-one.md',
    'taken-0123456789ab-open-one.md',
    'replaced-0123456789ab.jsonl',
  ]) {
    writeFileSync(join(folder, name), '')
  }
  writeFileSync(join(root, '.sessions', 'index.db.set-aside-2025-01-01T00-00-00-000Z'), '')
  const { check } = await diagnose(root)
  expect(check('left over').details).toHaveLength(4)
})

test('removes half-written files only with --repair and only when their writer is dead', async () => {
  const { root, folder } = await healthyProject()
  const young = join(folder, '.state.json.0123456789ab.tmp')
  writeFileSync(young, 'half')
  const { check } = await diagnose(root, { repair: true })
  expect(check('temporaries').status).toBe('ok')
  expect(existsSync(young)).toBe(true)
})

test('quarantines and rebuilds an index that lost an entry', async () => {
  const { root } = await healthyProject()
  const { DatabaseSync } = loadSqlite()
  const database = new DatabaseSync(join(root, '.sessions', 'index.db'))
  database.exec("DELETE FROM entries WHERE kind = 'decision.made'")
  database.close()
  const { check, counts, isHealthy } = await diagnose(root)
  expect(isHealthy).toBe(true)
  expect(check('index')).toMatchObject({ status: 'note', summary: 'differed and was built anew' })
  expect(counts.entries.indexed).toBe(counts.entries.read)
  expect(
    readdirSync(join(root, '.sessions')).filter((name) => name.includes('set-aside')),
  ).not.toEqual([])
})

test('names missing or edited task files', async () => {
  const { root } = await healthyProject()
  await within(root, (project) => project.tasks.add({ title: 'Another task' }))
  const folder = join(root, '.tasks', 'active')
  const [first, second] = readdirSync(folder)
  unlinkSync(join(folder, first!))
  writeFileSync(
    join(folder, second!),
    readFileSync(join(folder, second!), 'utf8').replace('## Description', '## Description\n\nmore'),
  )
  const { check } = await diagnose(root)
  expect(check('tasks').details).toEqual([
    `${join('.tasks', 'active', second!)}: edited, will be absorbed by the next task command`,
    `${join('.tasks', 'active', first!)}: missing`,
  ])
  await diagnose(root, { repair: true })
  expect((await diagnose(root)).check('tasks').status).toBe('ok')
})

test('recreates a missing .gitignore', async () => {
  const { root } = await healthyProject()
  const path = join(root, '.sessions', '.gitignore')
  unlinkSync(path)
  expect((await diagnose(root)).check('ignored by git').status).toBe('note')
  expect(readFileSync(path, 'utf8')).toBe('*\n')
})

test('names a mistake in the configuration and still runs every other check', async () => {
  const { root } = await healthyProject()
  writeFileSync(join(root, '.sessions', 'config.yaml'), 'share: perhaps\n')
  const { check, isHealthy } = await diagnose(root)
  expect(isHealthy).toBe(false)
  expect(check('configuration').details.join()).toContain('"share" is one of none, git')
  expect(check('counts').status).toBe('ok')
})

test('reports missing protection outside git', async () => {
  const { root } = await healthyProject({ isGit: false })
  const { check, isHealthy } = await diagnose(root)
  expect(isHealthy).toBe(true)
  expect(check('second names').details.join()).toMatch(
    /would not survive rm -r \.sessions: there is no git repository/,
  )
})

test.each([
  [0x6969, 'NFS', true],
  [0xff534d42, 'CIFS', true],
  [0xff534d42 | 0, 'CIFS', true],
  [0xfe534d42, 'SMB2', true],
  [0x65735546, 'FUSE', false],
  [0x01021997, '9p', true],
])('recognises file system %i as %s', (type, name, isCertain) => {
  expect(networkFileSystem(type)).toEqual({ name, isCertain })
})

test('does not take a local file system for a network one', () => {
  for (const type of [0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x2fc12fc1])
    expect(networkFileSystem(type)).toBeUndefined()
})

test('removes nothing without --repair', async () => {
  const { root, log } = await healthyProject()
  appendFileSync(log, '\ngarbage\n')
  const before = bytesUnder(join(root, '.sessions'))
  await diagnose(root)
  const after = bytesUnder(join(root, '.sessions'))
  for (const [path, bytes] of before) {
    if (/index\.db|touched|snapshot/.test(path)) continue
    expect(after.get(path), path).toBe(bytes)
  }
})

const STINT = fileURLToPath(new URL('../../dist/stint.js', import.meta.url))

test('prints one line per check and the counts, and exits with 1 on damage', async () => {
  const { root, log } = await healthyProject()
  const command = (...args: string[]) =>
    spawnSync(process.execPath, [STINT, 'doctor', ...args], { cwd: root, encoding: 'utf8' })
  const healthy = command()
  expect(healthy.stdout).toMatch(/^ok {7}journals/m)
  expect(healthy.stdout).toMatch(/^sessions +2 logs +2 links +2 index +2 documents$/m)
  expect(healthy.stdout.trimEnd().endsWith('Healthy.')).toBe(true)
  expect(healthy.status).toBe(0)
  appendFileSync(log, '\ngarbage\n')
  const damaged = command()
  expect(damaged.stdout).toMatch(/^problem {2}journals/m)
  expect(damaged.stderr.trim()).toBe('')
  expect(damaged.status).toBe(1)
  const inJson = command('--json')
  expect(inJson.status).toBe(1)
  expect(JSON.parse(inJson.stdout)).toMatchObject({ isHealthy: false, counts: { damagedLines: 1 } })
})
