import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { JournalMissing } from '../../src/journal/errors.ts'
import { DEFAULT_CONFIG } from '../../src/project/config/config.ts'
import { LiveSession } from '../../src/project/store/live-session.ts'
import {
  drainIfPossible,
  drainOutbox,
  kindsInOutbox,
  leaveInOutbox,
  sessionsWithOutbox,
} from '../../src/project/store/outbox.ts'
import { findProjectPaths } from '../../src/project/store/project-paths.ts'
import { draftEntry } from '../../src/session/entries.ts'
import { terminal } from '../support/cli.ts'

async function world() {
  const at = terminal()
  await at.stint('init', '--name', 'there')
  const place = findProjectPaths(at.cwd)
  const [id] = readdirSync(join(place.sessions, 'journal'))
  const folder = join(place.repository!.commonDir, 'stint', 'outbox', id!)
  const leave = (text: string) =>
    leaveInOutbox(place, id!, draftEntry('discovery.made', { text }, { by: 'hook' }))
  const session = () => new LiveSession(id!, place, DEFAULT_CONFIG)
  const found = () =>
    session()
      .read()
      .state.discoveries.items.map((item) => item.text)
  return { ...at, place, id: id!, folder, leave, session, found }
}

describe('what is left for a session', () => {
  test('is in its journal for the next command, in the order it was left, and gone from the outbox', async () => {
    const { leave, place, id, stint, folder } = await world()
    for (const text of ['first', 'second', 'third']) leave(text)
    expect(kindsInOutbox(place, id)).toEqual(Array(3).fill('discovery.made'))
    expect((await stint('view', '--json')).stdout).toMatch(/first[^]*second[^]*third/)
    expect(existsSync(folder)).toBe(false)
  })

  test('is found by a search and counted in a list', async () => {
    const { leave, stint, place } = await world()
    leave('an unheard-of heisenbug')
    expect(sessionsWithOutbox(place)).toHaveLength(1)
    expect((await stint('search', 'heisenbug')).stdout).toContain('heisenbug')
    expect(sessionsWithOutbox(place)).toEqual([])
  })

  test('counts once, though two take it in at once or one was killed before it removed it', async () => {
    const { leave, session, found, folder } = await world()
    leave('only one')
    const [name] = readdirSync(folder)
    const left = join(folder, name!)
    const text = readFileSync(left)
    expect(drainOutbox(session())).toBe(1)
    writeFileSync(left, text)
    expect(drainOutbox(session())).toBe(1)
    expect(found()).toEqual(['only one'])
  })

  test('leaves its folder to the next hook, and a command takes that away', async () => {
    const { leave, stint, folder, session } = await world()
    leave('now')
    drainOutbox(session())
    expect(readdirSync(folder)).toEqual([])
    await stint('list')
    expect(existsSync(folder)).toBe(false)
  })

  test('keeps the time at which it was left', async () => {
    const { leave, session } = await world()
    const before = new Date().toISOString()
    leave('now')
    const after = new Date().toISOString()
    drainOutbox(session())
    const { at } = session().read().entries.at(-1)!
    expect(at >= before && at <= after).toBe(true)
  })

  test('and cannot be read is set aside, and takes nothing with it', async () => {
    const { leave, session, found, folder } = await world()
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, '1700000000000-000000001-01234567.discovery.made.json'), '')
    writeFileSync(
      join(folder, '1700000000001-000000002-01234567.discovery.made.json'),
      '{"kind":3}',
    )
    writeFileSync(join(folder, 'something-else.txt'), 'x')
    leave('whole')
    expect(drainOutbox(session())).toBe(1)
    expect(found()).toEqual(['whole'])
    expect(readdirSync(folder).toSorted()).toEqual([
      '1700000000000-000000001-01234567.discovery.made.json.damaged',
      '1700000000001-000000002-01234567.discovery.made.json.damaged',
      'something-else.txt',
    ])
  })

  test('stays where it is while there is no journal to write to', async () => {
    const { leave, session, folder, place, id } = await world()
    leave('patient')
    const moved = [
      join(place.sessions, 'journal', id),
      join(place.repository!.commonDir, 'stint', 'journal'),
    ]
    for (const path of moved) renameSync(path, `${path}.away`)
    expect(() => drainOutbox(session())).toThrow(JournalMissing)
    drainIfPossible(session())
    expect(readdirSync(folder)).toHaveLength(1)
  })
})
