// What lies on the disk, and whose it is.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { isMissing } from '../journal/errors.ts'
import { statOrUndefined } from '../journal/look.ts'
import type { Place } from '../project/place.ts'

export interface Sizes {
  /** All of `.sessions/`, with what belongs to no session: the index, outputs of commands, what several conversations share. */
  readonly all: number
  /** By the session's id: its log and views, without its document. */
  readonly journals: ReadonlyMap<string, number>
  /** By the last six digits of the session's id. */
  readonly documents: ReadonlyMap<string, number>
  readonly conversations: ReadonlyMap<string, number>
  readonly runs: ReadonlyMap<string, number>
}

export function sizesOf({ sessions }: Pick<Place, 'sessions'>): Sizes {
  const journals = new Map<string, number>()
  const documents = new Map<string, number>()
  const conversations = new Map<string, number>()
  const runs = new Map<string, number>()
  const plus = (map: Map<string, number>, name: string, bytes: number) => map.set(name, (map.get(name) ?? 0) + bytes)
  let all = 0
  for (const { parts, bytes } of filesUnder(sessions, [])) {
    const [folder, name = ''] = parts
    all += bytes
    if (folder === 'journal') plus(journals, name, bytes)
    else if (folder === 'runs') plus(runs, name, bytes)
    else if (folder === 'conversations' && name.endsWith('.jsonl')) plus(conversations, name.slice(0, -'.jsonl'.length), bytes)
    else if (folder === 'active' || folder === 'archive') plus(documents, /-([0-9a-f]{6})\.md$/.exec(name)?.[1] ?? '', bytes)
  }
  return { all, journals, documents, conversations, runs }
}

interface Found {
  readonly parts: readonly string[]
  readonly bytes: number
}

function* filesUnder(folder: string, parts: readonly string[]): Generator<Found> {
  for (const entry of entriesOf(folder)) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) yield* filesUnder(path, [...parts, entry.name])
    else if (entry.isFile()) yield { parts: [...parts, entry.name], bytes: statOrUndefined(path)?.size ?? 0 }
  }
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch (error) {
    // Taken away meanwhile.
    if (isMissing(error)) return []
    throw error
  }
}
