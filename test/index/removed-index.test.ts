import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openIndex } from '../../src/index/open-index.ts'
import { type World, names, temporaryFolder, world } from './world.ts'

/** The index of a world's sessions in a folder of its own, from which something is taken away while it is being built. */
async function builtInSpiteOf(w: World, taken: string) {
  const folder = join(temporaryFolder(), '.sessions')
  const prepare = () => mkdirSync(folder, { recursive: true })
  prepare()
  let isFirst = true
  const source = {
    ...w,
    folder,
    prepare,
    sessionIds() {
      if (isFirst) rmSync(join(folder, taken), { recursive: true })
      isFirst = false
      return w.sessionIds()
    },
  }
  const index = await openIndex(source, { say: (line) => w.said.push(line) })
  onTestFinished(() => index.close())
  return index
}

describe('an index that is taken away', () => {
  test.each([
    ['while it is being built', 'index.db'],
    ['with its folder while it is being built', ''],
  ])('%s is whole all the same, and nothing is said of it', async (_, taken) => {
    const w = world()
    w.begin('kept')
    const index = await builtInSpiteOf(w, taken)
    expect(names(index.sessions())).toEqual(['kept'])
    index.sync()
    expect(index.counts()).toEqual({ sessions: 1, entries: 1 })
    expect(w.said).toEqual([])
  })

  test('and built again while a list is read goes on with the list', async () => {
    const w = world()
    const all = Array.from({ length: 100 }, (_, n) => `session-${String(n).padStart(2, '0')}`)
    for (const name of all) w.begin(name)
    const index = await w.open()
    const list = index.sessions({ sort: 'name' })
    const seen = [list.next().value!.name]
    rmSync(join(w.folder, 'index.db'))
    index.sync()
    for (const row of list) seen.push(row.name)
    expect(seen).toEqual(all)
  })
})

test('an index in memory hears of entries whose marks were cleared for the one in the file', async () => {
  const w = world()
  const id = w.begin('kept')
  mkdirSync(join(w.folder, 'index.db'))
  const index = await w.open()
  expect(w.said).toHaveLength(1)
  w.add(id, 'note.added', { text: 'elsewhere' })
  for (const mark of w.marks()) rmSync(join(w.folder, 'touched', mark))
  index.sync()
  expect([...index.search({ text: 'elsewhere' })]).toHaveLength(1)
})
