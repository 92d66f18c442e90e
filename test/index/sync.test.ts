import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openIndex } from '../../src/index/open-index.ts'
import { keysOf, names, temporaryFolder, world } from './world.ts'

const LONG = 'lorem ipsum '.repeat(1_000)

/** A session whose log is long enough to be continued rather than read again. */
function longSession(w: ReturnType<typeof world>) {
  const id = w.startSession('long')
  for (let n = 0; n < 10; n += 1) w.add(id, 'note.added', { text: `${LONG} ${n}` })
  return id
}

describe('updating the index', () => {
  test('shows appended entries, in short and in long sessions', async () => {
    const w = world()
    const [short, long] = [w.startSession('short'), longSession(w)]
    const index = await w.open()
    for (const id of [short, long]) w.add(id, 'decision.made', { title: 'afterwards' })
    expect([...index.search({ text: 'afterwards' })]).toEqual([])
    index.sync()
    expect([...index.search({ text: 'afterwards' })]).toHaveLength(2)
    expect([...index.sessions()].map((row) => row.counts.decisions)).toEqual([1, 1])
    expect(index.verify()).toEqual({ checked: 2, differing: [], damage: [] })
  })

  test.each([
    ['short', 1],
    ['long', 10],
  ])('leaves the rows of a %s session that did not change', async (_, size) => {
    const w = world()
    const id = w.startSession('steady')
    for (let n = 0; n < size; n += 1) w.add(id, 'note.added', { text: `${LONG} ${n}` })
    const index = await w.open()
    const before = keysOf(w.folder, id)
    const note = w.add(id, 'note.added', { text: 'one more' })
    index.sync()
    w.add(id, 'entry.retracted', { entry: note })
    index.sync()
    const after = keysOf(w.folder, id)
    for (const [entry, key] of before) expect(after.get(entry)).toBe(key)
    expect(after.size).toBe(before.size + 2)
  })

  test('removes a retracted entry from the search, and restores it when the retraction is retracted', async () => {
    const w = world()
    const id = longSession(w)
    const note = w.add(id, 'note.added', { text: 'secret plan' })
    const index = await w.open()
    const retraction = w.add(id, 'entry.retracted', { entry: note, reason: 'a mistake' })
    index.sync()
    expect([...index.search({ text: 'secret' })]).toEqual([])
    expect([...index.search({ text: 'mistake' })]).toHaveLength(1)
    w.add(id, 'entry.retracted', { entry: retraction })
    index.sync()
    expect([...index.search({ text: 'secret' })].map((hit) => hit.entry)).toEqual([note])
    expect([...index.search({ text: 'mistake' })]).toEqual([])
  })

  test('replaces the text of an amended entry', async () => {
    const w = world()
    const id = w.startSession('amended')
    const note = w.add(id, 'note.added', { text: 'the first wording' })
    const index = await w.open()
    w.add(id, 'entry.amended', { entry: note, changes: { text: 'the second wording' } })
    index.sync()
    expect([...index.search({ text: 'first' })]).toEqual([])
    expect([...index.search({ text: 'second' })].map((hit) => hit.entry)).toEqual([note])
  })

  test('counts an entry captured twice once, however long ago the first was', async () => {
    const w = world()
    const id = w.startSession('noticed')
    w.add(id, 'context.compacted', {}, { once: 'compaction-1' })
    for (let n = 0; n < 300; n += 1)
      w.add(id, 'note.added', { text: `note ${n} ${LONG.slice(0, 500)}` }, { once: `note-${n}` })
    const index = await w.open()
    w.add(id, 'context.compacted', {}, { once: 'compaction-1' })
    index.sync()
    expect(index.findByNameOrId(id)[0]?.compactions).toBe(1)
  })

  test('does not find an entry derived from one that was already retracted', async () => {
    const w = world()
    const id = longSession(w)
    const note = w.add(id, 'note.added', { text: 'withdrawn' })
    w.add(id, 'entry.retracted', { entry: note })
    const index = await w.open()
    w.add(id, 'key.added', { text: 'withdrawn', from: note })
    index.sync()
    expect([...index.search({ text: 'withdrawn' })]).toEqual([])
  })

  test('reads a log again that was replaced by another', async () => {
    const w = world()
    const id = longSession(w)
    w.add(id, 'note.added', { text: 'only in the first' })
    const first = readFileSync(w.logPath(id))
    const index = await w.open()
    const shorter = first.subarray(0, first.indexOf('only in the first') - 300)
    writeFileSync(`${w.logPath(id)}.new`, Buffer.concat([shorter, Buffer.from('\n')]))
    renameSync(`${w.logPath(id)}.new`, w.logPath(id))
    w.add(id, 'note.added', { text: LONG })
    index.sync()
    expect([...index.search({ text: 'only' })]).toEqual([])
    expect(index.verify().differing).toEqual([])
  })

  test('reads a log again that was rewritten in place before the indexed offset', async () => {
    const w = world()
    const id = longSession(w)
    const note = w.add(id, 'note.added', { text: 'to be lost' })
    const index = await w.open()
    const bytes = readFileSync(w.logPath(id))
    bytes.fill('x', bytes.indexOf(note) - 40, bytes.indexOf(note))
    writeFileSync(w.logPath(id), bytes)
    w.add(id, 'note.added', { text: 'new' })
    index.sync()
    expect([...index.search({ text: 'lost' })]).toEqual([])
    expect(index.verify().differing).toEqual([])
  })

  test('finds an entry behind a torn one', async () => {
    const w = world()
    const id = longSession(w)
    const index = await w.open()
    w.scribble(id, '\n{"v":1,"id":"torn')
    index.sync()
    w.add(id, 'note.added', { text: 'behind the tear' })
    index.sync()
    expect([...index.search({ text: 'tear' })]).toHaveLength(1)
    expect(index.verify().differing).toEqual([])
  })

  test('drops a session whose folder was removed, marked or not', async () => {
    const w = world()
    const [gone, stays] = [w.startSession('gone'), w.startSession('stays')]
    const index = await w.open()
    rmSync(join(w.folder, 'journal', gone), { recursive: true })
    index.sync()
    expect(names(index.sessions())).toEqual(['stays'])
    expect(index.counts()).toEqual({ sessions: 1, entries: 1 })
    expect([...index.search({ text: 'gone' })]).toEqual([])
    expect(index.findByNameOrId(stays)[0]?.name).toBe('stays')
  })

  test('keeps a session of which only the link is left', async () => {
    const w = world()
    const id = w.startSession('linked')
    const link = join(temporaryFolder(), 'log.jsonl')
    renameSync(w.logPath(id), link)
    rmSync(join(w.folder, 'journal', id), { recursive: true })
    const source = { ...w, sessionIds: () => [id], log: () => ({ path: w.logPath(id), link }) }
    const index = await openIndex(source, { report: () => undefined })
    expect(names(index.sessions())).toEqual(['linked'])
    expect(index.verify().differing).toEqual([])
    index.close()
  })

  test('checks unmarked logs only in a full sync', async () => {
    const w = world()
    const id = w.startSession('quiet')
    const index = await w.open()
    w.add(id, 'note.added', { text: 'unannounced' })
    rmSync(join(w.folder, 'touched', id))
    index.sync()
    expect([...index.search({ text: 'unannounced' })]).toEqual([])
    expect(index.verify().differing).toEqual([{ id, indexed: 1, inLog: 2 }])
    index.sync({ full: true })
    expect([...index.search({ text: 'unannounced' })]).toHaveLength(1)
  })

  test('shows the other sessions when one log cannot be read, and reports it', async () => {
    const w = world()
    const [closed] = [w.startSession('closed'), w.startSession('readable')]
    const path = w.logPath(closed!)
    rmSync(path)
    // A folder in its place is unreadable even for root.
    mkdirSync(path)
    const index = await w.open()
    expect(names(index.sessions())).toEqual(['readable'])
    expect(w.reported).toHaveLength(1)
    expect(w.reported[0]).toContain(path)
    w.ageMarks(60)
    index.sync()
    expect(w.marks()).toEqual([closed])
  })

  test('follows a file that another process deleted and rebuilt', async () => {
    const w = world()
    const id = w.startSession('shared')
    const index = await w.open()
    rmSync(join(w.folder, 'index.db'))
    w.add(id, 'note.added', { text: 'meanwhile' })
    const other = await w.open()
    expect([...other.search({ text: 'meanwhile' })]).toHaveLength(1)
    w.ageMarks(60)
    other.sync()
    expect(w.marks()).toEqual([])
    index.sync()
    expect([...index.search({ text: 'meanwhile' })]).toHaveLength(1)
    expect(w.reported).toEqual([])
  })

  test('reports progress during a full sync', async () => {
    const w = world()
    for (let n = 0; n < 5; n += 1) w.startSession(`session-${n}`)
    const seen: string[] = []
    const index = await openIndex(w, {
      report: () => undefined,
      progress: (done, total) => seen.push(`${done}/${total}`),
    })
    index.close()
    expect(seen[0]).toBe('0/5')
    expect(seen.at(-1)).toBe('5/5')
  })

  test('answers from memory when the file cannot be created, leaving the marks for a lasting index', async () => {
    const w = world()
    w.startSession('answered')
    const source = { ...w, folder: join(w.folder, 'nowhere') }
    const index = await openIndex(source, { report: (line) => w.reported.push(line) })
    expect(names(index.sessions())).toEqual(['answered'])
    expect(w.reported).toHaveLength(1)
    index.close()
    expect(existsSync(source.folder)).toBe(false)
  })
})

describe('task entries', () => {
  test('are returned by id over all sessions, with their retractions and amendments', async () => {
    const w = world()
    const [a, b] = [w.startSession('a'), w.startSession('b')]
    const added = w.add(a, 'task.added', { task: 't-1', title: 'one' })
    const note = w.add(a, 'note.added', { text: 'not about a task' })
    w.add(a, 'entry.retracted', { entry: note })
    const moved = w.add(b, 'task.moved', { task: 't-1', status: 'completed' })
    const amended = w.add(a, 'entry.amended', { entry: added, changes: { title: 'two' } })
    const retracted = w.add(b, 'entry.retracted', { entry: moved })
    const restored = w.add(b, 'entry.retracted', { entry: retracted })
    const linked = w.add(a, 'task.linked', { task: 't-1' }, { once: 'link' })
    const index = await w.open()
    const entries = [...index.taskEntries()]
    expect(entries.map((entry) => entry.id)).toEqual([
      added,
      moved,
      amended,
      retracted,
      restored,
      linked,
    ])
    expect(entries[0]).toEqual({
      id: added,
      at: '2026-03-01T10:00:03.000Z',
      kind: 'task.added',
      by: 'library',
      data: { task: 't-1', title: 'one' },
    })
    expect(entries.at(-1)?.once).toBe('link')
  })
})
