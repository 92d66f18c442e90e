// A handoff that has to be made while nobody waits. Noted for the session and not for the conversation, because that may
// be over before anybody comes to it: then the next conversation's hook makes it.
import { join } from 'node:path'
import { errnoOf } from '../journal/errors.ts'
import { createFolder, replaceUnsynced } from '../journal/files.ts'
import { readOrUndefined } from '../journal/look.ts'
import type { Scene } from './scene.ts'

/** Quick and without the code, or whole. */
export type OwedKind = 'draft' | 'handoff'

export interface Owed {
  readonly kind: OwedKind
  readonly reason: string
  readonly conversation: string
  /** How often it could not be made. */
  readonly failures: number
}

/** Notes that it has to be made. A draft does not take the place of the whole one. */
export function oweHandoff({ notes, session, event }: Scene, kind: OwedKind, reason: string): void {
  if (session === undefined) return
  const path = owedPath(notes, session.id)
  if (kind === 'draft' && readOwed(path)?.kind === 'handoff') return
  createFolder(notes)
  writeOwed(path, { kind, reason, conversation: event.conversation, failures: 0 })
}

export function readOwed(path: string): Owed | undefined {
  try {
    const bytes = readOrUndefined(path)
    return bytes === undefined ? undefined : (JSON.parse(bytes.toString('utf8')) as Owed)
  } catch (error) {
    // Cut off by a power cut: the next line of the budget asks for it again.
    if (errnoOf(error) !== undefined) throw error
    return undefined
  }
}

export function writeOwed(path: string, owed: Owed): void {
  replaceUnsynced(path, JSON.stringify(owed))
}

export function owedPath(notes: string, session: string): string {
  return join(notes, `owed-${session}`)
}
