// What a hook would say of a session now, made ready after the event before it, while nobody waits: a hook that finds it
// up to date need not open the session. Only a shortcut: where it is missing, old, or of another Stint, the session is opened.
import { join } from 'node:path'
import { errnoOf } from '../journal/errors.ts'
import { readOrUndefined, statOrUndefined } from '../journal/look.ts'
import { journalFolder, type Place } from '../project/store/place.ts'
import type { GitState } from '../session/entries.ts'
import type { ToldInstead } from './told-instead.ts'

/** A text for the model and how it is recognised. */
export interface PreparedText {
  readonly text: string
  readonly mark: string
  readonly instead: ToldInstead
}

export interface Prepared {
  /** The program that made it: another one may say it otherwise. */
  readonly build: string
  /** The log that it was made from. */
  readonly log: { readonly inode: number; readonly size: number }
  /** The conversation it was made after. */
  readonly conversation: string
  readonly isJoined: boolean
  /** The latest conversation of the session, and the one before it. */
  readonly conversations: readonly string[]
  readonly git: GitState
  readonly person: string
  readonly essence: string
  /** For a conversation that begins. */
  readonly start: PreparedText
  /** For this one, when it has been compacted once more. */
  readonly compacted: PreparedText & { readonly person: string; readonly essence: string }
  /** For the summariser, and the number of the compaction that it speaks of. */
  readonly summariser: { readonly text: string; readonly compaction: number }
  /** Nothing happened since the last checkpoint. */
  readonly isPinned: boolean
  readonly entryCount: number
  /** The words that tell what the session is about. */
  readonly words: readonly string[]
}

declare const BUILD: string | undefined
export const THIS_BUILD = typeof BUILD === 'string' ? BUILD : 'sources'

export function preparedPath(place: Place, session: string): string {
  return join(journalFolder(place, session), 'prepared.json')
}

/** What was prepared for a session, however old. */
export function readPrepared(place: Place, session: string): Prepared | undefined {
  try {
    const bytes = readOrUndefined(preparedPath(place, session))
    const prepared =
      bytes === undefined ? undefined : (JSON.parse(bytes.toString('utf8')) as Prepared)
    return prepared?.build === THIS_BUILD ? prepared : undefined
  } catch (error) {
    // Cut off by a power cut: made again after the next event.
    if (errnoOf(error) !== undefined) throw error
    return undefined
  }
}

/** Whether nothing was written to the log since. */
export function isUpToDate({ log }: Prepared, place: Place, session: string): boolean {
  const stat = statOrUndefined(join(journalFolder(place, session), 'log.jsonl'))
  return stat?.ino === log.inode && stat.size === log.size
}
