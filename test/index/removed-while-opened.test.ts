import { existsSync, rmSync } from 'node:fs'
import { expect, test, vi } from 'vitest'
import { names, world } from './world.ts'

const removal = vi.hoisted(() => ({ isDue: true }))

// Opening an index ends with reading the inode of its file.
vi.mock('../../src/journal/read-files.ts', async (original) => {
  const real = await original<typeof import('../../src/journal/read-files.ts')>()
  const statOrUndefined: typeof real.statOrUndefined = (path) => {
    if (removal.isDue && path.endsWith('index.db') && existsSync(path)) {
      removal.isDue = false
      rmSync(path)
    }
    return real.statOrUndefined(path)
  }
  return { ...real, statOrUndefined }
})

test('an index that is removed just after it was opened is still complete, without a message', async () => {
  const w = world()
  const id = w.startSession('kept')
  const index = await w.open()
  expect(removal.isDue).toBe(false)
  expect(names(index.sessions())).toEqual(['kept'])
  w.add(id, 'note.added', { text: 'later' })
  index.sync()
  expect(index.counts()).toEqual({ sessions: 1, entries: 2 })
  expect(w.reported).toEqual([])
})
