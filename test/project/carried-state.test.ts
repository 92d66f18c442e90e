import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { beforeEach, expect, test } from 'vitest'
import { encodeRecord, withChecksum } from '../../src/journal/record.ts'
import { writeCachedState } from '../../src/document/snapshot.ts'
import { readLog } from '../../src/journal/read-log.ts'
import { DEFAULT_CONFIG } from '../../src/project/config/config.ts'
import { LiveSession } from '../../src/project/store/live-session.ts'
import {
  type ProjectPaths,
  findProjectPaths,
  journalFolder,
  logPaths,
} from '../../src/project/store/project-paths.ts'
import { FOLD_VERSION, fold } from '../../src/session/fold.ts'
import type { RawEntry } from '../../src/session/effective-entries.ts'
import { history } from '../support/entries.ts'
import { scratchFolder } from '../support/scratch.ts'
import { SESSION_ID } from '../support/worlds.ts'

let place: ProjectPaths
let path: string
beforeEach(() => {
  place = findProjectPaths(scratchFolder())
  path = logPaths(place, SESSION_ID).path
})

function fromScratch() {
  const { records, damage, bytes } = readLog(path)
  return { state: fold(SESSION_ID, records), entries: records, damage, size: bytes.length }
}

/** What a session that was read before answers after each further piece of its log. */
function expectCarried(pieces: readonly (string | Buffer)[]): void {
  rmSync(journalFolder(place, SESSION_ID), { recursive: true, force: true })
  mkdirSync(journalFolder(place, SESSION_ID), { recursive: true })
  writeFileSync(path, pieces[0]!)
  const session = new LiveSession(SESSION_ID, place, DEFAULT_CONFIG)
  try {
    for (const piece of ['', ...pieces.slice(1)]) {
      appendFileSync(path, piece)
      const { state, entries, damage, contents } = session.read()
      expect({ state, entries, damage, size: contents.bytes.length }).toEqual(fromScratch())
    }
  } finally {
    session.close()
  }
}

/** What a new process answers that finds the state kept before each further piece. */
function expectKept(pieces: readonly (string | Buffer)[]): void {
  rmSync(journalFolder(place, SESSION_ID), { recursive: true, force: true })
  mkdirSync(journalFolder(place, SESSION_ID), { recursive: true })
  writeFileSync(path, '')
  for (const piece of pieces) {
    appendFileSync(path, piece)
    const session = new LiveSession(SESSION_ID, place, DEFAULT_CONFIG)
    const { state, entries, damage, contents, marker } = session.read()
    expect({ state, entries, damage, size: contents.bytes.length }).toEqual(fromScratch())
    session.close()
    const beginning = { end: marker.offset, sum: marker.sum, lastId: state.lastId }
    if (damage.length === 0)
      writeCachedState(join(session.folder, 'state.kept'), { beginning, state })
  }
}

const id = (n: number) => `${SESSION_ID.slice(0, -3)}${String(n).padStart(3, '0')}`
const note = (n: number): RawEntry => ({
  id: id(n),
  at: '2026-01-01T00:00:00.000Z',
  kind: 'note.added',
  by: 'test',
  data: { text: `Note ${n}` },
})

const encoded = (entries: readonly RawEntry[]) => Buffer.concat(entries.map(encodeRecord))

test('a session that is read again is what it would be if all of its log were read', () => {
  const inPieces = history({ minLength: 3 }).chain((entries) =>
    fc.tuple(fc.constant(entries), fc.shuffledSubarray(entries), fc.nat(), fc.nat()),
  )
  fc.assert(
    fc.property(inPieces, ([entries, again, one, other]) => {
      const [first, second] = [one, other]
        .map((cut) => 1 + (cut % entries.length))
        .toSorted((a, b) => a - b)
      const pieces = [
        encoded(entries.slice(0, first)),
        encoded(entries.slice(first, second)),
        encoded(again),
        encoded(entries.slice(second)),
      ]
      expectCarried(pieces)
      expectKept(pieces)
    }),
  )
})

test('a session that is read again names what was damaged since, by its line in the whole file', () => {
  const pieces = [encoded([note(1)]), '{"half', encoded([note(2)]), 'torn\n', encoded([note(3)])]
  expectCarried(pieces)
  expectKept(pieces)
})

test('an entry that was retracted before it arrived does not count', () => {
  const retraction = { ...note(2), kind: 'entry.retracted', data: { entry: id(3) } }
  const pieces = [encoded([note(1), retraction]), encoded([note(3)])]
  expectCarried(pieces)
  expectKept(pieces)
})

test('an event that was recorded long before does not count again', () => {
  const notes = Array.from({ length: 300 }, (_, n) => ({ ...note(n), once: `key "${n}"` }))
  const pieces = [encoded(notes), encoded([{ ...note(300), once: 'key "0"' }])]
  expectCarried(pieces)
  expectKept(pieces)
})

test('a kept state without the fields of one is not believed', () => {
  mkdirSync(journalFolder(place, SESSION_ID), { recursive: true })
  writeFileSync(path, encoded([note(1)]))
  const odd = withChecksum(JSON.stringify({ fold: FOLD_VERSION }))
  writeFileSync(join(journalFolder(place, SESSION_ID), 'state.kept'), odd)
  const session = new LiveSession(SESSION_ID, place, DEFAULT_CONFIG)
  expect(session.read().state).toEqual(fromScratch().state)
  session.close()
})

test('a kept state is not believed once the log before it was changed, cut or replaced', () => {
  const entries = [note(1), note(2), note(3), note(4)]
  const changedInPlace = entries.with(1, { ...note(2), data: { text: 'Node 2' } })
  mkdirSync(journalFolder(place, SESSION_ID), { recursive: true })
  writeFileSync(path, encoded(entries))
  const session = new LiveSession(SESSION_ID, place, DEFAULT_CONFIG)
  const { state, marker } = session.read()
  session.close()
  const beginning = { end: marker.offset, sum: marker.sum, lastId: state.lastId }
  for (const changed of [entries.slice(0, 3), entries.slice(2), changedInPlace]) {
    writeCachedState(join(session.folder, 'state.kept'), { beginning, state })
    writeFileSync(path, encoded(changed))
    const again = new LiveSession(SESSION_ID, place, DEFAULT_CONFIG)
    expect(again.read().state).toEqual(fromScratch().state)
    again.close()
  }
})

test('a session whose log was replaced or cut is read as it is then', () => {
  const entries = fc.sample(history({ minLength: 6 }), { numRuns: 1, seed: 1 })[0]!
  mkdirSync(journalFolder(place, SESSION_ID), { recursive: true })
  writeFileSync(path, encoded(entries))
  const session = new LiveSession(SESSION_ID, place, DEFAULT_CONFIG)
  session.read()
  writeFileSync(path, encoded(entries.slice(0, 3)))
  expect(session.read().state).toEqual(fromScratch().state)
  rmSync(path)
  writeFileSync(path, encoded(entries.slice(2)))
  expect(session.read().state).toEqual(fromScratch().state)
  session.close()
})
