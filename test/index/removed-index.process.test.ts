import { join } from 'node:path'
import { setImmediate as nextEvents } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { removeAgainAndAgain } from '../support/removal.ts'
import { names, world } from './world.ts'

const REMOVALS = 100

test('an index that is removed repeatedly returns the same results', async () => {
  const w = world()
  const id = w.startSession('kept')
  w.add(id, 'note.added', { text: 'found' })
  const removals = await removeAgainAndAgain(
    ['', '-wal', '-shm', '-journal'].map((companion) => join(w.folder, `index.db${companion}`)),
  )
  // The journal does not grow, so every round costs the same.
  while (removals() < REMOVALS) {
    const index = await w.open()
    expect(index.counts()).toEqual({ sessions: 1, entries: 2 })
    expect(names(index.sessions())).toEqual(['kept'])
    expect(names(index.findByNameOrId('kept'))).toEqual(['kept'])
    expect([...index.search({ text: 'found' })]).toHaveLength(1)
    index.close()
    await nextEvents()
  }
})
