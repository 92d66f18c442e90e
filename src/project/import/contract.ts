/** Which histories are imported, and how. */
export interface ImportRequest {
  /** `claude`, `codex`, `gemini`, `opencode`; all of them when absent. */
  readonly harnesses?: readonly string[]
  /** Files and folders in place of where the harnesses keep theirs. Everything in them is this project's. */
  readonly paths?: readonly string[]
  /** Into every project that Stint was used in on this machine, each what was said there. */
  readonly allProjects?: boolean
  /** Only what was written since, an ISO instant. */
  readonly since?: string
  /** Reads and counts, and stores nothing. */
  readonly isDryRun?: boolean
  readonly env?: NodeJS.ProcessEnv
  /** How many files are read at once: as many as there are processors when there is much, else one. */
  readonly threads?: number
  readonly tell?: (progress: ImportProgress) => void
}

export interface ImportProgress {
  readonly bytes: number
  readonly totalBytes: number
  readonly files: number
  readonly totalFiles: number
  /** What is stored is being made searchable: the bytes are those. */
  readonly isIndexing?: true
}

export interface ImportReport {
  readonly isDryRun: boolean
  /** What was added, by conversation. Nothing new is not listed. */
  readonly conversations: readonly ImportedConversation[]
  /** Conversations that had nothing new. */
  readonly upToDate: number
  /** Files and conversations of other projects, which were left alone. */
  readonly elsewhere: number
  /** Bytes read. */
  readonly bytes: number
  readonly messages: number
  /** Lines that could not be read, or were too long, and were passed over. */
  readonly damaged: number
  /** What could not be read at all now, and why. */
  readonly unread: readonly { readonly path: string; readonly problem: string }[]
}

export interface ImportedConversation {
  readonly conversation: string
  readonly harness: string
  readonly project: string
  /** It was not stored before. */
  readonly isNew: boolean
  readonly messages: number
  readonly compactions: number
}
