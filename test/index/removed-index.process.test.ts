import { join } from 'node:path'
import { expect, test } from 'vitest'
import { removeAgainAndAgain } from '../support/removal.ts'
import { names, world } from './world.ts'

const ROUNDS = 400

test('an index that is removed again and again gives the same answers', async () => {
  const w = world()
  const id = w.startSession('kept')
  await removeAgainAndAgain(
    ['', '-wal', '-shm', '-journal'].map((companion) => join(w.folder, `index.db${companion}`)),
  )
  for (let round = 1; round <= ROUNDS; round += 1) {
    w.add(id, 'note.added', { text: 'found' })
    const index = await w.open()
    expect(index.counts()).toEqual({ sessions: 1, entries: 1 + round })
    expect(names(index.sessions())).toEqual(['kept'])
    expect(names(index.findByNameOrId('kept'))).toEqual(['kept'])
    expect([...index.search({ text: 'found', limit: ROUNDS })]).toHaveLength(round)
    index.close()
  }
})
