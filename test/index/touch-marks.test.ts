import { chmodSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { clearTouched, listTouched, markTouched } from '../../src/index/touch-marks.ts'
import { dump, temporaryFolder, world } from './world.ts'

describe('a touch mark', () => {
  test('younger than ten seconds is kept, an older one is cleared', async () => {
    const w = world()
    const id = w.startSession('marked')
    const index = await w.open()
    expect(w.marks()).toEqual([id])
    w.ageMarks(9)
    index.sync()
    expect(w.marks()).toEqual([id])
    w.ageMarks(11)
    index.sync()
    expect(w.marks()).toEqual([])
  })

  test('is renewed at most every five seconds', () => {
    const folder = temporaryFolder()
    const id = '01900000-0000-7000-8000-000000000000'
    const path = join(folder, 'touched', id)
    expect(markTouched(folder, id, 100_000)).toBe(true)
    const old = new Date(Date.now() - 60_000)
    utimesSync(path, old, old)
    markTouched(folder, id, 104_999)
    expect(statSync(path).mtimeMs).toBeCloseTo(old.getTime(), 0)
    markTouched(folder, id, 105_000)
    expect(Date.now() - statSync(path).mtimeMs).toBeLessThan(30_000)
  })

  test('that is renewed after the logs were read is not lost', () => {
    const folder = temporaryFolder()
    const id = '01900000-0000-7000-8000-000000000002'
    const path = join(folder, 'touched', id)
    markTouched(folder, id)
    const old = new Date(Date.now() - 60_000)
    utimesSync(path, old, old)
    const listed = listTouched(folder)
    const now = new Date()
    utimesSync(path, now, now)
    clearTouched(folder, listed)
    expect(listTouched(folder).map((mark) => mark.path)).toEqual([path])
    utimesSync(path, old, old)
    clearTouched(folder, listTouched(folder))
    expect(listTouched(folder)).toEqual([])
  })

  test('that a killed process renamed without clearing still counts', async () => {
    const w = world()
    const id = w.startSession('taken')
    const index = await w.open()
    w.add(id, 'note.added', { text: 'between' })
    renameSync(join(w.folder, 'touched', id), join(w.folder, 'touched', `${id}.taken`))
    expect(listTouched(w.folder).map((mark) => mark.id)).toEqual([id])
    w.ageMarks(60)
    index.sync()
    expect([...index.search({ text: 'between' })]).toHaveLength(1)
    expect(w.marks()).toEqual([])
  })

  test('that was removed is created again by the next append', () => {
    const folder = temporaryFolder()
    const id = '01900000-0000-7000-8000-000000000003'
    markTouched(folder, id, 100_000)
    rmSync(join(folder, 'touched'), { recursive: true })
    markTouched(folder, id, 100_001)
    expect(listTouched(folder).map((mark) => mark.id)).toEqual([id])
  })

  test('that was removed with all others is not needed to find what was appended', async () => {
    const w = world()
    const [early, late] = [w.startSession('early'), w.startSession('late')]
    const index = await w.open()
    w.add(early, 'note.added', { text: 'unmarked' })
    rmSync(join(w.folder, 'touched'), { recursive: true })
    w.add(late, 'note.added', { text: 'marked' })
    index.sync()
    expect([...index.search({ text: 'unmarked' })]).toHaveLength(1)
  })

  test('is created only for a session, and nothing else in its folder is removed', async () => {
    const w = world()
    w.startSession('real')
    writeFileSync(join(w.folder, 'touched', 'notes.txt'), 'mine')
    w.ageMarks(60)
    await w.open()
    expect(w.marks()).toEqual(['notes.txt'])
  })

  test.skipIf(process.getuid?.() === 0)('that cannot be created does not stop the append', () => {
    const folder = temporaryFolder()
    chmodSync(folder, 0o500)
    expect(markTouched(folder, '01900000-0000-7000-8000-000000000001')).toBe(false)
    chmodSync(folder, 0o700)
  })

  test('is cleared without changing anything else in the index', async () => {
    const w = world()
    w.startSession('still')
    const index = await w.open()
    const before = dump(w.folder)
    w.ageMarks(60)
    index.sync()
    index.sync()
    expect(dump(w.folder)).toEqual(before)
  })
})
