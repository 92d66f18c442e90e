import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { isMissing } from '../journal/errors.ts'
import { statOrUndefined } from '../journal/look.ts'
import type { Place } from '../project/store/place.ts'

export interface Sizes {
  /** Includes the index, notes and outputs, which belong to no session. */
  readonly all: number
  /** Log and views, without the document. */
  readonly journals: ReadonlyMap<string, number>
  /** By the last six digits of the session's id. */
  readonly documents: ReadonlyMap<string, number>
  readonly conversations: ReadonlyMap<string, number>
  readonly runs: ReadonlyMap<string, number>
}

export function sizesOf({ sessions, repository }: Pick<Place, 'sessions' | 'repository'>): Sizes {
  const journals = new Map<string, number>()
  const documents = new Map<string, number>()
  const conversations = new Map<string, number>()
  const runs = new Map<string, number>()
  const plus = (map: Map<string, number>, name: string, bytes: number) =>
    map.set(name, (map.get(name) ?? 0) + bytes)
  // A log has a second name under the git directory, but is one file.
  const counted = new Set<number>()
  let all = 0
  for (const { parts, bytes, ino } of filesUnder(sessions, [])) {
    const [folder, name = ''] = parts
    all += bytes
    counted.add(ino)
    if (folder === 'journal') plus(journals, name, bytes)
    else if (folder === 'runs') plus(runs, name, bytes)
    else if (folder === 'conversations' && name.endsWith('.jsonl'))
      plus(conversations, name.slice(0, -'.jsonl'.length), bytes)
    else if (folder === 'active' || folder === 'archive')
      plus(documents, /-([0-9a-f]{6})\.md$/.exec(name)?.[1] ?? '', bytes)
  }
  for (const { bytes, ino } of repository === undefined
    ? []
    : filesUnder(join(repository.commonDir, 'stint'), [])) {
    if (!counted.has(ino)) all += bytes
    counted.add(ino)
  }
  return { all, journals, documents, conversations, runs }
}

interface Found {
  readonly parts: readonly string[]
  readonly bytes: number
  readonly ino: number
}

function* filesUnder(folder: string, parts: readonly string[]): Generator<Found> {
  for (const entry of entriesOf(folder)) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) yield* filesUnder(path, [...parts, entry.name])
    else if (entry.isFile()) {
      const stat = statOrUndefined(path)
      if (stat !== undefined)
        yield { parts: [...parts, entry.name], bytes: stat.size, ino: stat.ino }
    }
  }
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch (error) {
    // Removed meanwhile.
    if (isMissing(error)) return []
    throw error
  }
}
