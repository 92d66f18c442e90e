import { defined } from '../text/defined.ts'
import type { CapturedData } from './kinds/captured.ts'
import type { StatementsData } from './kinds/statements.ts'
import type { ConversationData } from './kinds/conversations.ts'
import type { DelegateData } from './kinds/delegates.ts'
import type { DocumentData } from './kinds/document.ts'
import type { FileData } from './kinds/files.ts'
import type { FindingData } from './kinds/findings.ts'
import type { HandoffData } from './kinds/handoffs.ts'
import type { SessionData } from './kinds/session.ts'
import type { StepData } from './kinds/steps.ts'
import type { TaskData } from './kinds/tasks.ts'
import type { WorkflowData } from './kinds/workflow.ts'

export type { HookCosts } from './kinds/conversations.ts'
export type { DelegateOutcome } from './kinds/delegates.ts'
export type { HandoffOutcome, HandoffTarget } from './kinds/handoffs.ts'
export type { GitState, Usage } from './kinds/read-fields.ts'
export { BACKLOG_ID } from './kinds/tasks.ts'
export type { ChecklistItem, TaskFields, TaskStatus } from './kinds/tasks.ts'
export type { TemplatePhase, TemplateSubPhase, WorkflowTemplate } from './kinds/workflow.ts'

/** Unknown kinds are kept and ignored. */
export interface EntryData
  extends
    SessionData,
    StepData,
    FindingData,
    DelegateData,
    FileData,
    DocumentData,
    HandoffData,
    CapturedData,
    StatementsData,
    ConversationData,
    WorkflowData,
    TaskData {}

export type EntryKind = keyof EntryData

export interface EntryDraft<K extends EntryKind = EntryKind> {
  readonly kind: K
  readonly by: string
  readonly data: Readonly<EntryData[K]>
  readonly id?: string
  readonly at?: string
  readonly once?: string
}

export function draftEntry<K extends EntryKind>(
  kind: K,
  data: EntryData[K],
  extra: Omit<EntryDraft<K>, 'kind' | 'data' | 'by'> & { by?: string } = {},
): EntryDraft<K> {
  return {
    kind,
    data: defined(data) as unknown as EntryData[K],
    ...extra,
    by: extra.by ?? 'library',
  }
}
