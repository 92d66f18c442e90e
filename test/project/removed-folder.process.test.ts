import { setImmediate as nextEvents } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { type World, gitProject } from '../support/project.ts'
import { removeOnCall } from '../support/removal.ts'

const LIMIT = 100
const FILES = ['index.db', 'index.db-wal', 'index.db-shm', 'index.db-journal', 'touched']

const listed = (world: World) =>
  world.run(async (project) => [...(await project.list())].map((row) => row.name))

const found = (world: World, text: string) =>
  world.run(async (project) => {
    const snippets: string[] = []
    for await (const hit of project.search({ text, limit: LIMIT })) snippets.push(hit.snippet)
    return snippets
  })

test.each([
  ['the index and its marks', 20, FILES.map((name) => `.sessions/${name}`)],
  ['all that git does not know', 8, ['.sessions']],
])(
  'lists, searches and logs while %s is removed repeatedly, and loses nothing',
  async (_, rounds, paths) => {
    const world = gitProject()
    await world.run((project) => project.init({ name: 'kept' }))
    const remove = await removeOnCall(paths.map((path) => world.path(path)))
    for (let round = 1; round <= rounds || remove.removals() < rounds; round += 1) {
      remove.soon()
      await world.run((project) =>
        project.log({ session: 'kept', entries: [{ note: `noted in round ${round}` }] }),
      )
      remove.soon()
      expect(await listed(world)).toEqual(['kept'])
      remove.soon()
      expect(await found(world, 'noted')).toHaveLength(Math.min(round, LIMIT))
      await nextEvents()
    }
  },
)
