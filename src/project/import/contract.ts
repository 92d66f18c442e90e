export interface ImportRequest {
  /** All when absent. */
  readonly harnesses?: readonly string[]
  /**
   * Files and folders to read instead of the harness's own; all in them belongs to this project.
   */
  readonly paths?: readonly string[]
  /** Into every known project, each its own conversations. */
  readonly allProjects?: boolean
  /** An ISO time. */
  readonly since?: string
  readonly isDryRun?: boolean
  readonly env?: NodeJS.ProcessEnv
  /** By default one, or one per processor when there is much. */
  readonly threads?: number
  readonly tell?: (progress: ImportProgress) => void
}

export interface ImportProgress {
  readonly bytes: number
  readonly totalBytes: number
  readonly files: number
  readonly totalFiles: number
  /** Indexing what was stored; the bytes count that. */
  readonly isIndexing?: true
}

export interface ImportReport {
  readonly isDryRun: boolean
  /** Only those with something new. */
  readonly conversations: readonly ImportedConversation[]
  readonly upToDate: number
  /** Files and conversations of other projects. */
  readonly elsewhere: number
  readonly bytes: number
  readonly messages: number
  /** Lines skipped as unreadable or too long. */
  readonly damaged: number
  readonly unread: readonly { readonly path: string; readonly problem: string }[]
}

export interface ImportedConversation {
  readonly conversation: string
  readonly harness: string
  readonly project: string
  readonly isNew: boolean
  readonly messages: number
  readonly compactions: number
}
