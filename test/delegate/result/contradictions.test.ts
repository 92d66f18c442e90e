import { describe, expect, test } from 'vitest'
import { findContradictions } from '../../../src/run/merge/contradictions.ts'
import { mergeJournals } from '../../../src/run/delegate/parent-journal.ts'
import { shortId } from '../../../src/journal/ids.ts'
import { JournalledWorld, draft } from './journalled-world.ts'

const redis = draft('decision.made', { title: 'Session store', choice: 'Redis' })
const postgres = draft('decision.made', { title: 'Session store', choice: 'Postgres' })

describe('contradicting decisions of a delegate', () => {
  test('are reported with both delegates, both choices and the commands that show them', async () => {
    const world = new JournalledWorld()
    const parent = await world.parent()
    const api = world.delegate({ name: 'api', parent })
    const theirs = await api.session([redis])
    api.moved('ready')
    const web = world.delegate({ name: 'web', parent })
    const own = await web.session([
      postgres,
      draft('decision.made', { title: 'Colour of the button', choice: 'blue' }),
    ])
    expect(await findContradictions(world.workspace, web.state)).toEqual([
      `web chose "Postgres" for "Session store", but api chose "Redis" for "Session store" (stint view ${shortId(own)} --decisions; stint view ${shortId(theirs)} --decisions)`,
    ])
  })

  test('are found against the parent, and against a merged delegate once only', async () => {
    const world = new JournalledWorld()
    const parent = await world.parent([
      draft('decision.made', { title: 'Token lifetime', choice: '15 minutes' }),
    ])
    const api = world.delegate({ name: 'api', parent })
    await api.session([redis])
    const landed = api.merged()
    await mergeJournals(world.workspace, api.state, landed)
    api.moved('merged', landed)
    const web = world.delegate({ name: 'web', parent })
    await web.session([
      postgres,
      draft('decision.made', { title: 'Lifetime of a token', choice: '60 minutes' }),
    ])
    const found = await findContradictions(world.workspace, web.state)
    expect(found).toHaveLength(2)
    expect(found.filter((line) => line.includes('api chose "Redis"'))).toHaveLength(1)
    expect(
      found.filter((line) => line.includes('login chose "15 minutes" for "Token lifetime"')),
    ).toHaveLength(1)
  })

  test("are not searched among other parents' delegates, nor among failed or discarded ones", async () => {
    const world = new JournalledWorld()
    const parent = await world.parent()
    const failed = world.delegate({ name: 'failed', parent })
    await failed.session([redis])
    failed.moved('failed')
    const other = world.delegate({ name: 'other', run: 'r-1' })
    await other.session([redis])
    other.moved('ready')
    const web = world.delegate({ name: 'web', parent })
    await web.session([postgres])
    expect(await findContradictions(world.workspace, web.state)).toEqual([])
    const sibling = world.delegate({ name: 'sibling', run: 'r-1' })
    await sibling.session([postgres])
    expect(await findContradictions(world.workspace, sibling.state)).toHaveLength(1)
  })

  test('are limited to a readable number', async () => {
    const world = new JournalledWorld()
    const many = (choice: string) =>
      Array.from({ length: 15 }, (_, n) =>
        draft('decision.made', {
          title: `Port of gateway${'abcdefghijklmno'[n]}`,
          choice: `${choice}${n}`,
        }),
      )
    const parent = await world.parent(many('1'))
    const web = world.delegate({ name: 'web', parent })
    await web.session(many('2'))
    const found = await findContradictions(world.workspace, web.state)
    expect(found).toHaveLength(11)
    expect(found.at(-1)).toMatch(/^and \d+ more/)
  })
})
