import { existsSync, lstatSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { readOrUndefined } from '../../journal/look.ts'
import { shortId } from '../../journal/ids.ts'
import { baseOf } from '../store/documents.ts'
import type { LiveSession, Reading } from '../store/live-session.ts'

/**
 * `edited`: somebody wrote into it, and the next command on the session takes that in. `no file`: a folder,
 * a link or something else has its name, and the next command sets that aside.
 */
export type DocumentState =
  | 'as rendered'
  | 'behind'
  | 'edited'
  | 'missing'
  | 'misplaced'
  | 'no file'

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
  const path =
    own ?? standing.find((other) => basename(other).endsWith(`-${shortId(session.id)}.md`))
  if (path !== undefined && lstatSync(path, { throwIfNoEntry: false })?.isFile() === false)
    return 'no file'
  const text = path === undefined ? undefined : textOf(path)
  if (text === undefined) return 'missing'
  if (text === session.document(reading)) return own === undefined ? 'misplaced' : 'as rendered'
  return baseOf(session, reading, text).isUnedited ? 'behind' : 'edited'
}

/** A file's text, or undefined when there is no such file. */
export function textOf(path: string): string | undefined {
  return readOrUndefined(path)?.toString('utf8')
}
