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
  addToOutbox,
  sessionsWithOutbox,
} from '../../src/project/store/outbox.ts'
import { findProjectPaths } from '../../src/project/store/project-paths.ts'
import { draftEntry } from '../../src/session/entries.ts'
import { terminal } from '../support/cli.ts'

async function world() {
  const at = terminal()
  await at.stint('init', '--name', 'there')
  const paths = findProjectPaths(at.cwd)
  const [id] = readdirSync(join(paths.sessions, 'journal'))
  const folder = join(paths.repository!.commonDir, 'stint', 'outbox', id!)
  const leave = (text: string) =>
    addToOutbox(paths, id!, draftEntry('discovery.made', { text }, { by: 'hook' }))
  const session = () => new LiveSession(id!, paths, DEFAULT_CONFIG)
  const texts = () =>
    session()
      .read()
      .state.discoveries.items.map((item) => item.text)
  return { ...at, paths, id: id!, folder, leave, session, texts }
}

describe('an entry left in the outbox', () => {
  test('is journalled by the next command, in order, and removed from the outbox', async () => {
    const { leave, paths, id, stint, folder } = await world()
    for (const text of ['first', 'second', 'third']) leave(text)
    expect(kindsInOutbox(paths, id)).toEqual(Array(3).fill('discovery.made'))
    expect((await stint('view', '--json')).stdout).toMatch(/first[^]*second[^]*third/)
    expect(existsSync(folder)).toBe(false)
  })

  test('is texts by search and counted by list', async () => {
    const { leave, stint, paths } = await world()
    leave('an unheard-of heisenbug')
    expect(sessionsWithOutbox(paths)).toHaveLength(1)
    expect((await stint('search', 'heisenbug')).stdout).toContain('heisenbug')
    expect(sessionsWithOutbox(paths)).toEqual([])
  })

  test('counts once when two processes drain it or one is killed before removing it', async () => {
    const { leave, session, texts, folder } = await world()
    leave('only one')
    const [name] = readdirSync(folder)
    const left = join(folder, name!)
    const text = readFileSync(left)
    expect(drainOutbox(session())).toBe(1)
    writeFileSync(left, text)
    expect(drainOutbox(session())).toBe(1)
    expect(texts()).toEqual(['only one'])
  })

  test('leaves its folder for the next hook, and a command removes it', async () => {
    const { leave, stint, folder, session } = await world()
    leave('now')
    drainOutbox(session())
    expect(readdirSync(folder)).toEqual([])
    await stint('list')
    expect(existsSync(folder)).toBe(false)
  })

  test('keeps its time', async () => {
    const { leave, session } = await world()
    const before = new Date().toISOString()
    leave('now')
    const after = new Date().toISOString()
    drainOutbox(session())
    const { at } = session().read().entries.at(-1)!
    expect(at >= before && at <= after).toBe(true)
  })

  test('is quarantined when unreadable, and others are still drained', async () => {
    const { leave, session, texts, folder } = await world()
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, '1700000000000-000000001-01234567.discovery.made.json'), '')
    writeFileSync(
      join(folder, '1700000000001-000000002-01234567.discovery.made.json'),
      '{"kind":3}',
    )
    writeFileSync(join(folder, 'something-else.txt'), 'x')
    leave('whole')
    expect(drainOutbox(session())).toBe(1)
    expect(texts()).toEqual(['whole'])
    expect(readdirSync(folder).toSorted()).toEqual([
      '1700000000000-000000001-01234567.discovery.made.json.damaged',
      '1700000000001-000000002-01234567.discovery.made.json.damaged',
      'something-else.txt',
    ])
  })

  test('stays in the outbox while there is no journal', async () => {
    const { leave, session, folder, paths, id } = await world()
    leave('patient')
    const moved = [
      join(paths.sessions, 'journal', id),
      join(paths.repository!.commonDir, 'stint', 'journal'),
    ]
    for (const path of moved) renameSync(path, `${path}.away`)
    expect(() => drainOutbox(session())).toThrow(JournalMissing)
    drainIfPossible(session())
    expect(readdirSync(folder)).toHaveLength(1)
  })
})
