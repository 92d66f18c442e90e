import type { HistoryFile, HistoryHead } from '../../harness/contract/history.ts'
import type { FileOutcome } from './import-file.ts'

/** A file that a thread is to import. */
export interface ThreadJob {
  readonly number: number
  readonly harness: string
  readonly file: HistoryFile
  readonly head: HistoryHead
  readonly isAnew: boolean
  /** The root of the project that it goes into. */
  readonly project: string
  readonly isDryRun: boolean
}

export type ThreadNews =
  | { readonly type: 'read'; readonly number: number; readonly bytes: number }
  /** Without an outcome when the file is gone. */
  | { readonly type: 'done'; readonly number: number; readonly outcome?: FileOutcome }
  | { readonly type: 'unread'; readonly number: number; readonly problem: string }
  /** What has to end the import: `code` of an expected failure. */
  | {
      readonly type: 'failed'
      readonly number: number
      readonly message: string
      readonly code?: string
      readonly hint?: string
    }
