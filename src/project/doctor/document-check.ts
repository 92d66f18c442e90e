import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { isMissing } from '../../journal/errors.ts'
import { shortId } from '../../journal/ids.ts'
import { parseLog } from '../../journal/read.ts'
import { fold } from '../../session/fold.ts'
import { MARKER_PATTERN } from '../../views/document/grammar.ts'
import { renderDocument } from '../../views/document/render.ts'
import { type LiveSession, type Reading, sumOf } from '../live-session.ts'

/** `edited`: somebody wrote into it, and the next command on the session takes that in. */
export type DocumentState = 'as rendered' | 'behind' | 'edited' | 'missing' | 'misplaced'

/** Where documents stand, by the short id in their names. Listed once, for there may be very many. */
export function listDocuments(sessions: string): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>()
  for (const place of ['active', 'archive']) {
    const folder = join(sessions, place)
    for (const name of existsSync(folder) ? readdirSync(folder) : []) {
      const id = /-([0-9a-f]{6})\.md$/.exec(name)?.[1]
      if (id !== undefined) found.set(id, [...(found.get(id) ?? []), join(folder, name)])
    }
  }
  return found
}

/** Looks at a session's document without touching it. */
export function documentState(
  session: LiveSession,
  reading: Reading,
  documents: ReadonlyMap<string, readonly string[]>,
): DocumentState {
  const wanted = session.documentPath(reading.state)
  const standing = documents.get(shortId(session.id)) ?? []
  const own = standing.find((path) => path === wanted)
  // Under an older name or status: a command was killed before it moved the document.
  const path = own ?? standing.find((other) => basename(other).endsWith(`-${shortId(session.id)}.md`))
  const text = path === undefined ? undefined : textOf(path)
  if (text === undefined) return 'missing'
  if (text === renderDocument(reading.state, reading.marker)) return own === undefined ? 'misplaced' : 'as rendered'
  return isRenderOfEarlier(session, reading, text) ? 'behind' : 'edited'
}

/** Whether a document is what the entries up to its own marker were rendered to, and nobody has touched it since. */
function isRenderOfEarlier(session: LiveSession, reading: Reading, text: string): boolean {
  const line = text.split('\n').findLast((candidate) => candidate.startsWith('<!-- stint: rendered'))
  const found = line === undefined ? null : MARKER_PATTERN.exec(line.trimEnd())
  if (found === null) return false
  const marker = { offset: Number(found[1]), sum: found[2]! }
  const { bytes } = reading.contents
  if (marker.offset > bytes.length || sumOf(bytes.subarray(0, marker.offset)) !== marker.sum) return false
  const state = fold(session.id, parseLog(bytes.subarray(0, marker.offset), '').records)
  return renderDocument(state, marker) === text
}

/** A file's text, or undefined when there is no such file. */
export function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}
