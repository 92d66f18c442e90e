import { type Project as PlainProject, projectOf } from './project/open-project.ts'
import { Workspace, type WorkspaceOptions } from './project/store/workspace.ts'
import { type Delegates, type Runs, delegatesOf, runsOf } from './run/control/runs-of-project.ts'
import type { PromptEvent, PromptHandle, PromptRequest } from './run/prompt/contract.ts'
import type { ImportReport, ImportRequest } from './project/import/import-histories.ts'
import type { Ledger, Maintenance } from './ledger/contract.ts'
import type { LedgerRequest } from './ledger/ledger.ts'
import type { RedactOptions } from './text/redact.ts'

/** Everything the command line does, for programs. Dispose of it when done. */
export interface Project extends PlainProject {
  /** A backlog worked through by an agent. */
  readonly runs: Runs
  /** Agents in the background, and bringing in what they did. */
  readonly delegates: Delegates
  /** Brings in what agents have said here before, from what their harnesses keep. */
  importHistories(request?: ImportRequest): Promise<ImportReport>
  /** One prompt to an agent of any harness, in a session that is new or goes on. */
  prompt(request: PromptRequest, tell?: (event: PromptEvent) => void): Promise<PromptHandle>
  /** The document of a session, Markdown, with everything in it. */
  document(name?: string): Promise<string>
  /** The same value without secrets: what agents write is theirs, and what is shown is kept in logs and transcripts. */
  withoutSecrets<T>(value: T): Promise<T>
  /** The secrets to look for here besides those that are known everywhere. */
  redaction(): Promise<RedactOptions>
  /** What Stint cost and saved here, or in the session, task or run that `of` names. */
  ledger(query?: LedgerQuery): Promise<Ledger>
  /** What is worth tidying up now and then. */
  readonly maintenance: {
    look(): Promise<Maintenance>
    /** It was done: from here it counts anew. */
    done(by?: string): Promise<Maintenance>
  }
}

export interface LedgerQuery extends Pick<LedgerRequest, 'since' | 'by'> {
  /** By name, id or a part of it that only it has. */
  readonly of?: string
}

/** Opens the project around a folder. Nothing is written until something is recorded. */
export function openProject(cwd: string = process.cwd(), options: WorkspaceOptions = {}): Project {
  const workspace = new Workspace(cwd, options)
  const project = projectOf(workspace)
  return {
    ...project,
    runs: runsOf(workspace),
    delegates: delegatesOf(workspace),
    // Rarely needed, so not loaded with the rest.
    async importHistories(request = {}) {
      const { importHistories } = await import('./project/import/import-histories.ts')
      return importHistories(workspace, { env: workspace.env, ...request })
    },
    async prompt(request, tell = () => {}) {
      const { startPrompt } = await import('./run/prompt/start-prompt.ts')
      return startPrompt(workspace, request, tell)
    },
    async document(name) {
      const { modelOf } = await import('./document/model.ts')
      const { renderModel } = await import('./document/render.ts')
      return renderModel(modelOf((await project.view(name)).state))
    },
    async withoutSecrets(value) {
      const { redaction } = await import('./project/store/clean-draft.ts')
      const { redactDeep } = await import('./text/redact.ts')
      return redactDeep(value, redaction(workspace.config)).value
    },
    async doctor(wanted) {
      const { checkRuns } = await import('./run/control/check-runs.ts')
      const { checkDelegates } = await import('./run/control/check-runs.ts')
      const { withChecks } = await import('./project/doctor/report.ts')
      const { place } = workspace
      const own = await project.doctor(wanted)
      return withChecks(own, [...checkRuns(place), ...checkDelegates(place)])
    },
    async redaction() {
      const { redaction } = await import('./project/store/clean-draft.ts')
      return redaction(workspace.config)
    },
    async ledger({ of, ...request } = {}) {
      const { ledgerOf } = await import('./ledger/ledger.ts')
      const { findScope } = await import('./ledger/find-scope.ts')
      return ledgerOf(workspace, {
        ...request,
        ...(of === undefined ? {} : await findScope(workspace, of)),
      })
    },
    maintenance: {
      async look() {
        const { maintenanceOf } = await import('./ledger/maintenance.ts')
        return maintenanceOf(workspace)
      },
      async done(by) {
        const { markMaintained } = await import('./ledger/maintenance.ts')
        return markMaintained(workspace, by)
      },
    },
  }
}

export type { Priority, Size, Task } from './backlog/task.ts'
export type { PartOf, TreeNode } from './backlog/waits.ts'
export type { TaskGraph } from './backlog/waits.ts'
export type { Figure, Limit } from './context/budget/figures.ts'
export type { Role, Stage } from './context/budget/stages.ts'
export type { ExplainedSection } from './context/explain.ts'
export type { RecordedHandoff } from './context/handoff/recorded.ts'
export type { ProjectContext } from './context/survey/project-context.ts'
export type { ExportFormat } from './document/export/formats.ts'
export type { RestoreTo } from './git/code-checkpoint.ts'
export type { Drift } from './git/status.ts'
export { SLASH_COMMANDS } from './harness/claude/setup/plugin.ts'
export type {
  Capabilities,
  Conversation,
  Harness,
  HarnessCheck,
  HarnessEvent,
  OpenConversation,
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
  Began,
  Compaction,
  Ended,
  HistoryItem,
  Message,
  Part,
  TakenBack,
} from './history/items.ts'
export type { SaidHit, SearchHit } from './index/open-index.ts'
export type { SessionFilter } from './index/queries.ts'
export { NotWritten, OutcomeUnknown, StintError } from './journal/errors.ts'
export type {
  Costs,
  Hint,
  Ledger,
  LedgerDay,
  LedgerRow,
  Maintenance,
  Saving,
  SavingName,
} from './ledger/contract.ts'
export type { ConversationBudget, Used } from './project/budget.ts'
export type { Delivery } from './project/delivery.ts'
export type { Artifact } from './project/digest/artifacts.ts'
export type { Digest, DigestOptions } from './project/digest/digest-command.ts'
export type { Check, Counts, Diagnosis } from './project/doctor/examine.ts'
export type { ExportOptions, Exported } from './project/export/export-session.ts'
export type { AcceptedHandoff } from './project/handoff/accept.ts'
export type { MadeHandoff } from './project/handoff/create.ts'
export type { ShownHandoff } from './project/handoff/find.ts'
export type { WaitingHandoff } from './project/handoff/find.ts'
export type { History } from './project/history/history.ts'
export type { PruneOptions, Pruned } from './project/history/history.ts'
export type { ConversationRow } from './project/history/history.ts'
export type {
  ImportProgress,
  ImportReport,
  ImportRequest,
  ImportedConversation,
} from './project/import/import-histories.ts'
export type { LogEntry } from './project/lifecycle/log-entries.ts'
export type { RecordOptions, Recorded } from './project/lifecycle/record.ts'
export type { Resumed } from './project/lifecycle/resume.ts'
export type { InitOptions } from './project/lifecycle/start.ts'
export type { Packed } from './project/pack.ts'
export type { Purged } from './project/purge/purge.ts'
export type { SearchRequest } from './project/search.ts'
export type { SessionHandle } from './project/open-project.ts'
export { AmbiguousSession, NoSession } from './project/store/choose.ts'
export type { Reading } from './project/store/live-session.ts'
export type { WorkspaceOptions } from './project/store/workspace.ts'
export type { ReportedStatus } from './project/tasks/report-task.ts'
export type { WorkflowOverview } from './project/workflow/overview.ts'
export type { Recovered } from './project/workflow/recover.ts'
export type { QueueOptions, WaitOptions } from './run/control/delegate-operations.ts'
export type { Delegates, RecordedDelegate } from './run/control/runs-of-project.ts'
export type {
  DelegateRequest,
  DelegateRow,
  MergeOptions,
  MergeProposal,
} from './run/delegate/delegate-row.ts'
export type { AttemptDetail, DelegateDetail } from './run/delegate/delegate-row.ts'
export type {
  Comparison,
  DelegateStatus,
  EndOfRun,
  Gauge,
  MergeEvent,
  MergeOutcome,
  NeverBegun,
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
export type { PromptEnd, PromptEvent, PromptHandle, PromptRequest } from './run/prompt/contract.ts'
export type { TaskFields, TaskStatus, Usage } from './session/entries.ts'
export type { RawEntry } from './session/in-effect.ts'
export type { Phase, PhaseStatus, SubPhase, Workflow } from './session/kinds/phases.ts'
export type {
  Checkpoint,
  Decision,
  Item,
  SessionState,
  SessionStatus,
  Shelf,
  Step,
} from './session/state.ts'
export * from './public.ts'
export type * from './pages/contract.ts'
