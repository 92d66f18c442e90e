import type { HistoryFile, HistoryHead } from '../../harness/contract/history.ts'
import type { FileOutcome } from './import-file.ts'
import { isBusy, isCorrupt, isUnwritable } from '../../index/sqlite.ts'
import { StintError, errnoOf } from '../../journal/errors.ts'

export interface ThreadJob {
  readonly number: number
  readonly harness: string
  readonly file: HistoryFile
  readonly head: HistoryHead
  readonly isAnew: boolean
  readonly project: string
  readonly isDryRun: boolean
}

export type ThreadNews =
  | { readonly type: 'read'; readonly number: number; readonly bytes: number }
  /** No outcome when the file is gone. */
  | { readonly type: 'done'; readonly number: number; readonly outcome?: FileOutcome }
  | { readonly type: 'unread'; readonly number: number; readonly problem: string }
  /** Ends the import. */
  | {
      readonly type: 'failed'
      readonly number: number
      readonly message: string
      readonly code?: string
      readonly hint?: string
    }

/** Undefined for what is no fault of the history. */
export function problemOf(error: unknown): string | undefined {
  if (isBusy(error)) return 'its harness is writing to it; import again later'
  if (isCorrupt(error)) return 'it is damaged'
  // A failed write of ours concerns every file.
  if (error instanceof StintError) return undefined
  const isOfDatabase =
    isUnwritable(error) || /no such (?:table|column)/.test(String((error as Error).message))
  return isOfDatabase || errnoOf(error) !== undefined ? (error as Error).message : undefined
}
