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

let paths: ProjectPaths
let path: string
beforeEach(() => {
  paths = findProjectPaths(scratchFolder())
  path = logPaths(paths, SESSION_ID).path
})

function fromScratch() {
  const { records, damage, bytes } = readLog(path)
  return { state: fold(SESSION_ID, records), entries: records, damage, size: bytes.length }
}

/** Rereads one session after each further chunk of its log. */
function expectSameAsReread(chunks: readonly (string | Buffer)[]): void {
  rmSync(journalFolder(paths, SESSION_ID), { recursive: true, force: true })
  mkdirSync(journalFolder(paths, SESSION_ID), { recursive: true })
  writeFileSync(path, chunks[0]!)
  const session = new LiveSession(SESSION_ID, paths, DEFAULT_CONFIG)
  try {
    for (const chunk of ['', ...chunks.slice(1)]) {
      appendFileSync(path, chunk)
      const { state, entries, damage, contents } = session.read()
      expect({ state, entries, damage, size: contents.bytes.length }).toEqual(fromScratch())
    }
  } finally {
    session.close()
  }
}

/** Opens the session anew after each further chunk, with the cached state from before it. */
function expectSameWithCache(chunks: readonly (string | Buffer)[]): void {
  rmSync(journalFolder(paths, SESSION_ID), { recursive: true, force: true })
  mkdirSync(journalFolder(paths, SESSION_ID), { recursive: true })
  writeFileSync(path, '')
  for (const chunk of chunks) {
    appendFileSync(path, chunk)
    const session = new LiveSession(SESSION_ID, paths, DEFAULT_CONFIG)
    const { state, entries, damage, contents, marker } = session.read()
    expect({ state, entries, damage, size: contents.bytes.length }).toEqual(fromScratch())
    const { inode } = session.log.identity()
    session.close()
    const beginning = { end: marker.offset, sum: marker.sum, lastId: state.lastId }
    if (damage.length === 0)
      writeCachedState(join(session.folder, 'state.kept'), { inode, beginning, state })
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

test('rereading a session yields the same state as reading its log from the start', () => {
  const inPieces = history({ minLength: 3 }).chain((entries) =>
    fc.tuple(fc.constant(entries), fc.shuffledSubarray(entries), fc.nat(), fc.nat()),
  )
  fc.assert(
    fc.property(inPieces, ([entries, again, one, other]) => {
      const [first, second] = [one, other]
        .map((cut) => 1 + (cut % entries.length))
        .toSorted((a, b) => a - b)
      const chunks = [
        encoded(entries.slice(0, first)),
        encoded(entries.slice(first, second)),
        encoded(again),
        encoded(entries.slice(second)),
      ]
      expectSameAsReread(chunks)
      expectSameWithCache(chunks)
    }),
  )
})

test('rereading a session reports new damage with its line number in the file', () => {
  const chunks = [encoded([note(1)]), '{"half', encoded([note(2)]), 'torn\n', encoded([note(3)])]
  expectSameAsReread(chunks)
  expectSameWithCache(chunks)
})

test('ignores an entry whose retraction arrived first', () => {
  const retraction = { ...note(2), kind: 'entry.retracted', data: { entry: id(3) } }
  const chunks = [encoded([note(1), retraction]), encoded([note(3)])]
  expectSameAsReread(chunks)
  expectSameWithCache(chunks)
})

test('ignores an entry whose once key was recorded long before', () => {
  const notes = Array.from({ length: 300 }, (_, n) => ({ ...note(n), once: `key "${n}"` }))
  const chunks = [encoded(notes), encoded([{ ...note(300), once: 'key "0"' }])]
  expectSameAsReread(chunks)
  expectSameWithCache(chunks)
})

test('ignores a cached state that lacks fields', () => {
  mkdirSync(journalFolder(paths, SESSION_ID), { recursive: true })
  writeFileSync(path, encoded([note(1)]))
  const odd = withChecksum(JSON.stringify({ fold: FOLD_VERSION }))
  writeFileSync(join(journalFolder(paths, SESSION_ID), 'state.kept'), odd)
  const session = new LiveSession(SESSION_ID, paths, DEFAULT_CONFIG)
  expect(session.read().state).toEqual(fromScratch().state)
  session.close()
})

test('ignores a cached state that was not made from this file, as one that came with a clone', () => {
  mkdirSync(journalFolder(paths, SESSION_ID), { recursive: true })
  writeFileSync(path, encoded([note(1), note(2)]))
  const session = new LiveSession(SESSION_ID, paths, DEFAULT_CONFIG)
  const { state, marker } = session.read()
  const inode = session.log.identity().inode + 1
  session.close()
  const beginning = { end: marker.offset, sum: marker.sum, lastId: state.lastId }
  const forged = { ...state, goal: 'What somebody else wants' }
  writeCachedState(join(session.folder, 'state.kept'), { inode, beginning, state: forged })
  const again = new LiveSession(SESSION_ID, paths, DEFAULT_CONFIG)
  expect(again.read().state).toEqual(state)
  again.close()
})

test('ignores a cached state once the log before it was changed, truncated or replaced', () => {
  const entries = [note(1), note(2), note(3), note(4)]
  const changedInPlace = entries.with(1, { ...note(2), data: { text: 'Node 2' } })
  mkdirSync(journalFolder(paths, SESSION_ID), { recursive: true })
  writeFileSync(path, encoded(entries))
  const session = new LiveSession(SESSION_ID, paths, DEFAULT_CONFIG)
  const { state, marker } = session.read()
  const { inode } = session.log.identity()
  session.close()
  const beginning = { end: marker.offset, sum: marker.sum, lastId: state.lastId }
  for (const changed of [entries.slice(0, 3), entries.slice(2), changedInPlace]) {
    writeCachedState(join(session.folder, 'state.kept'), { inode, beginning, state })
    writeFileSync(path, encoded(changed))
    const again = new LiveSession(SESSION_ID, paths, DEFAULT_CONFIG)
    expect(again.read().state).toEqual(fromScratch().state)
    again.close()
  }
})

test('reads a log anew after it was replaced or truncated', () => {
  const entries = fc.sample(history({ minLength: 6 }), { numRuns: 1, seed: 1 })[0]!
  mkdirSync(journalFolder(paths, SESSION_ID), { recursive: true })
  writeFileSync(path, encoded(entries))
  const session = new LiveSession(SESSION_ID, paths, DEFAULT_CONFIG)
  session.read()
  writeFileSync(path, encoded(entries.slice(0, 3)))
  expect(session.read().state).toEqual(fromScratch().state)
  rmSync(path)
  writeFileSync(path, encoded(entries.slice(2)))
  expect(session.read().state).toEqual(fromScratch().state)
  session.close()
})
