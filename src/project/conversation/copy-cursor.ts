// How far a transcript was copied. Not part of Tracking: others than hooks copy too.
import { join } from 'node:path'
import type { CopyCursor } from './copy-transcript.ts'
import type { Tracking } from './tracking.ts'
import { errnoOf } from '../../journal/errors.ts'
import { replaceUnsynced } from '../../journal/files.ts'
import { readOrUndefined, statOrUndefined } from '../../journal/look.ts'

export function readCursor(notes: string, conversation: string): CopyCursor | undefined {
  try {
    const bytes = readOrUndefined(pathFor(notes, conversation))
    return bytes === undefined ? undefined : (JSON.parse(bytes.toString('utf8')) as CopyCursor)
  } catch (error) {
    if (errnoOf(error) !== undefined) throw error
    // Truncated: copied again from the start; readers skip repetitions.
    return undefined
  }
}

export function writeCursor(notes: string, conversation: string, cursor: CopyCursor): void {
  replaceUnsynced(pathFor(notes, conversation), JSON.stringify(cursor))
}

export function isCopied(
  notes: string,
  { conversation, transcript }: Pick<Tracking, 'conversation' | 'transcript'>,
): boolean {
  const stat = transcript === undefined ? undefined : statOrUndefined(transcript)
  if (stat === undefined) return true
  const cursor = readCursor(notes, conversation)
  return cursor?.inode === stat.ino && cursor.offset === stat.size
}

function pathFor(notes: string, conversation: string): string {
  return join(notes, `${conversation}.copied`)
}
