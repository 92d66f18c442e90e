// The package's API: what `import … from 'stint'` exports.
export type { Priority, Size, Task } from './backlog/task.ts'
export type { OmittedParent, TaskGraph, TreeNode } from './backlog/task-graph.ts'
export type { SourcedValue, RateLimit } from './context/budget/budget.ts'
export type { BudgetAction, BudgetStage } from './context/budget/stages.ts'
export type { RecordedHandoff } from './context/handoff/recorded-handoffs.ts'
export type { ExplainedSection } from './context/injected-context.ts'
export type { ProjectContext } from './context/survey/project-context.ts'
export type { ExportFormat } from './document/export/collect-work.ts'
export type { RestoreTo } from './git/code-checkpoint.ts'
export type { Drift } from './git/status.ts'
export { SLASH_COMMANDS } from './harness/claude/setup/plugin.ts'
export type {
  Capabilities,
  Conversation,
  Harness,
  HarnessCheck,
  HarnessEvent,
  ConversationOptions,
  PermissionRequest,
  Permissions,
} from './harness/contract/drive.ts'
export {
  type AnthropicMessage,
  anthropicItems,
  anthropicMessages,
} from './history/formats/anthropic.ts'
export { type OpenAiMessage, openAiItems, openAiMessages } from './history/formats/openai.ts'
export type {
  BeganItem,
  Compaction,
  EndedItem,
  HistoryItem,
  Message,
  MessagePart,
  TakenBackItem,
} from './history/items.ts'
export type { MessageHit, SearchHit } from './index/open-index.ts'
export type { SessionFilter } from './index/queries.ts'
export { NotWritten, OutcomeUnknown, StintError } from './journal/errors.ts'
export type {
  Costs,
  MaintenanceHint,
  Ledger,
  LedgerDay,
  LedgerRow,
  Maintenance,
  Saving,
  SavingName,
} from './ledger/ledger-types.ts'
export type { LedgerQuery } from './open-project.ts'
export type { ConversationBudget, UsedTokens } from './project/conversation-budget.ts'
export type { Delivery } from './project/deliveries.ts'
export type { TrustItem, TrustReview } from './project/trust/trust.ts'
export type { Artifact } from './project/digest/artifacts.ts'
export type { Digest, DigestOptions } from './project/digest/digest-command.ts'
export type { DoctorCheck, DoctorCounts, Diagnosis } from './project/doctor/run-doctor.ts'
export type { ExportOptions, Exported } from './project/export/export-session.ts'
export type { AcceptedHandoff } from './project/handoff/accept.ts'
export type { CreatedHandoff } from './project/handoff/create.ts'
export type { ShownHandoff, WaitingHandoff } from './project/handoff/find.ts'
export type { ConversationRow, History, PruneOptions, Pruned } from './project/history/history.ts'
export type {
  ImportProgress,
  ImportReport,
  ImportRequest,
  ImportedConversation,
} from './project/import/import-histories.ts'
export type { LogEntry } from './project/lifecycle/log-entries.ts'
export type { RecordOptions } from './project/lifecycle/record.ts'
export type { InitOptions } from './project/lifecycle/init-session.ts'
export type { PackedSession } from './project/pack-session.ts'
export type { Purged } from './project/purge/purge.ts'
export type { SearchRequest } from './project/search.ts'
export { AmbiguousSession, NoSession } from './project/store/choose-session.ts'
export type { WorkspaceOptions } from './project/store/workspace.ts'
export type { ReportedStatus } from './project/tasks/report-task.ts'
export type { WorkflowOverview } from './project/workflow/phases.ts'
export type { Recovered } from './project/workflow/recover.ts'
export type { QueueOptions, WaitOptions } from './run/control/delegate-operations.ts'
export type { Delegates, RecordedDelegate } from './run/control/project-runs.ts'
export type {
  AttemptDetail,
  DelegateDetail,
  DelegateRequest,
  DelegateRow,
  MergeOptions,
  MergeProposal,
} from './run/delegate/delegate-row.ts'
export type {
  Comparison,
  DelegateStatus,
  EndOfRun,
  Gauge,
  MergeEvent,
  MergeOutcome,
  UnstartedTasks,
  ParallelReport,
  RunEvent,
  RunEventKind,
  RunReport,
  RunRow,
  SessionReport,
  Spend,
  TaskName,
  TaskReport,
} from './run/entries.ts'
export type { RunPlan } from './run/loop/plan-run.ts'
export type { RunHandle, StartOptions } from './run/loop/start-run.ts'
export type { RunOptions } from './run/options.ts'
export type { Profile } from './run/profiles/profile.ts'
export type {
  PromptEnd,
  PromptEvent,
  PromptHandle,
  PromptRequest,
} from './run/prompt/prompt-events.ts'
export type { TaskFields, TaskStatus, Usage } from './session/entries.ts'
export type { RawEntry } from './session/effective-entries.ts'
export type { Phase, PhaseStatus, SubPhase, Workflow } from './session/kinds/phases.ts'
export type { Checkpoint, Decision, Item, SessionStatus, ItemList, Step } from './session/state.ts'
export { type PublicProject, openPublicProject as openProject } from './public-project.ts'
export {
  type PublicCheckpoint,
  type PublicConversation,
  type PublicDelegate,
  type PublicDelegateDetail,
  type PublicEntry,
  type PublicError,
  type PublicHandoff,
  type PublicList,
  type PublicRun,
  type PublicRunReport,
  type PublicSession,
  type PublicSessionHead,
  type PublicTask,
  type PublicWorkflow,
  SEARCH_NAMES,
  type SessionRow,
  publicError,
  shortId,
} from './public/projection.ts'
export type * from './page-data/page-types.ts'
