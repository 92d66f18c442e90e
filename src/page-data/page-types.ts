// Every path takes `?project=KEY`; default: the project the server was started in.
import type { Permissions } from '../harness/contract/drive.ts'
import type { HistoryItem } from '../history/items.ts'
import type { Ledger } from '../ledger/ledger-types.ts'
import type {
  PublicConversation,
  PublicDelegate,
  PublicEntry,
  PublicError,
  PublicHandoff,
  PublicRun,
  PublicRunReport,
  PublicSession,
  PublicTask,
  PublicWorkflow,
  SessionRow,
} from '../public/projection.ts'
import type { MergeOutcome, Spend, TaskName } from '../run/entries.ts'
import type { PromptEvent } from '../run/prompt/prompt-events.ts'
import type { Usage } from '../session/entries.ts'

/** GET /api/overview */
export interface ServerOverview extends PromptChoices {
  readonly version: string
  readonly here: string
  readonly projects: readonly ProjectRow[]
}

export interface PromptChoices {
  readonly harnesses: readonly HarnessRow[]
  readonly permissions: readonly Permissions[]
  /** Something that came with the repository is not used until the user has agreed with `stint trust`. */
  readonly needsTrust: boolean
}

export interface ProjectRow {
  /** An opaque name of the project on this machine. */
  readonly key: string
  readonly name: string
  readonly root: string
  readonly sessions: number
  readonly updatedAt?: string
}

export interface HarnessRow {
  readonly name: string
  /** It follows a script and asks no model. */
  readonly isScripted?: true
  /** Its program is on the PATH, or its key is set; nothing was started to find out. */
  readonly isThere: boolean
  readonly problem?: string
  readonly hint?: string
}

/** GET /api/sessions?status=&text=&name=&branch=&sort=&offset=&limit= */
export interface SessionList {
  readonly rows: readonly SessionRow[]
  readonly total: number
}

/** GET /api/sessions/:id */
export interface SessionPage {
  readonly row: SessionRow
  readonly state: PublicSession
  readonly document: string
  readonly conversations: readonly PricedConversation[]
  readonly workflow?: PublicWorkflow
  readonly delegates: readonly PublicDelegate[]
  readonly spend: Spend
  /** After the last entry in `state`; later ones come by events. */
  readonly cursor: number
}

export interface PricedConversation extends PublicConversation {
  readonly spend: Spend
}

/** GET /api/handoffs → PublicHandoff[]; GET /api/handoffs/:id → HandoffPage */
export interface HandoffPage extends PublicHandoff {
  readonly markdown: string
}

/** GET /api/sessions/:id/entries?from=CURSOR&before=&limit= : the newest without `from`. */
export interface EntryList {
  readonly entries: readonly PublicEntry[]
  readonly cursor: number
  /** For `?before=`; absent when there are no earlier ones. */
  readonly before?: number
}

/** GET /api/conversations?offset=&limit= : stored ones, the last written first. */
export interface ConversationList {
  readonly rows: readonly PricedConversation[]
  readonly total: number
}

/**
 * GET /api/conversations/:id?from=N&limit=&known= : items by number, from 0, and the requests
 * after the `known` ones.
 */
export interface ConversationPage {
  readonly line: PricedConversation
  readonly items: readonly HistoryItem[]
  readonly from: number
  readonly total: number
  /** To jump to. */
  readonly compactions: readonly number[]
  readonly requests: readonly { readonly number: number; readonly text: string }[]
  /** `known`, or 0 where there are fewer by now. */
  readonly requestsFrom: number
}

/** GET /api/conversations/:id/curve */
export interface TokenCurveData {
  readonly points: readonly {
    readonly turn: number
    readonly at?: string
    readonly tokens: number
  }[]
  readonly compactions: readonly {
    readonly turn: number
    readonly at?: string
    readonly tokensBefore?: number
  }[]
  readonly smartZone: number
  /** In percent of the way to the compaction point. */
  readonly stages: readonly { readonly percent: number; readonly tokens?: number }[]
  readonly point?: number
  readonly window?: number
  readonly isPointMeasured: boolean
}

/** GET /api/search?text=&limit= */
export interface SearchResults {
  readonly hits: readonly SearchResult[]
  /** Not indexed yet. */
  readonly unreadBytes?: number
}

export interface SearchResult {
  readonly where: 'journal' | 'said'
  readonly session?: string
  readonly sessionName?: string
  readonly conversation?: string
  /** The entry, or the item's number in its conversation. */
  readonly entry?: string
  readonly item?: number
  readonly kind: string
  readonly label: string
  readonly at?: string
  /** Matches stand between \u0001 and \u0002. */
  readonly snippet: string
}

/** GET /api/runs → PublicRun[]; GET /api/runs/:id → RunPage */
export interface RunPage {
  readonly row: PublicRun
  readonly report: PublicRunReport
  readonly tasks: readonly RunTaskRow[]
  /** One per session. */
  readonly lanes: readonly RunLane[]
}

export interface RunTaskRow {
  readonly task: TaskName
  readonly after: readonly string[]
  readonly outcome: 'done' | 'parked' | 'blocked' | 'open' | 'running'
  readonly reason?: string
}

export interface RunLane {
  readonly session: string
  readonly name: string
  readonly blocks: readonly LaneBlock[]
}

export interface LaneBlock {
  readonly task: string
  readonly attempt: number
  readonly startedAt: string
  readonly endedAt?: string
  readonly outcome: 'done' | 'failed' | 'parked' | 'blocked' | 'running'
  readonly reason?: string
}

/** GET /api/delegates → PublicDelegate[]; GET /api/delegates/:id → DelegatePage */
export interface DelegatePage {
  readonly row: PublicDelegate
  /** Against its target; cut where it is long. */
  readonly diff: string
  readonly isDiffCut: boolean
  readonly moves: readonly { readonly at: string; readonly to: string; readonly because?: string }[]
}

/** POST /api/delegates/:id/{merge,stop,retry,discard} {} → MergeOutcome or PublicDelegate */
export type DelegateActionResult = MergeOutcome | PublicDelegate

/**
 * GET /api/workflows → WorkflowLine[]; POST /api/workflows/:session/{approve,reject} {note?} →
 * PublicWorkflow
 */
export interface WorkflowRow {
  readonly session: SessionRow
  readonly workflow: PublicWorkflow
}

/**
 * GET /api/tasks → PublicTask[]; POST /api/tasks {title, …} → PublicTask; POST
 * /api/tasks/:id/status {status, note?} → PublicTask
 */
export type BacklogTasks = readonly PageTask[]

export interface PageTask extends PublicTask {
  /** Its verify command is not run before the user agrees with `stint trust`. */
  readonly needsTrust?: true
}

/** GET /api/usage?days= */
export interface UsageReport {
  readonly days: readonly { readonly day: string; readonly spend: Spend }[]
  readonly models: readonly {
    readonly model: string
    readonly usage: Usage
    readonly usd?: number
  }[]
  readonly unpriced: readonly string[]
}

/** GET /api/ledger?session=&days= : the rows that cost most. */
export type LedgerReport = Ledger

/**
 * POST /api/prompts PromptRequest → {prompt, session}; GET /api/prompts?session= →
 * RunningPrompt[]; POST /api/prompts/:id/permission {request, isAllowed}; POST
 * /api/prompts/:id/interrupt {}; GET /api/prompts/:id/events?after=NUMBER → PromptEvent[].
 */
export interface StartedPrompt {
  readonly prompt: string
  readonly session: string
}

export interface RunningPrompt extends StartedPrompt {
  readonly text: string
}

/**
 * GET /api/events, server-sent. Ids are `EPOCH.NUMBER`; after a reconnection events follow `Last-
 * Event-ID`, or `reset` says that the page must load again.
 */
export type LiveEvent =
  | { readonly type: 'reset' }
  | { readonly type: 'session'; readonly project: string; readonly row: SessionRow }
  | {
      readonly type: 'entries'
      readonly project: string
      readonly session: string
      /** A page that is behind `from` asks for what it lacks. */
      readonly from: number
      readonly cursor: number
      readonly entries: readonly PublicEntry[]
    }
  | {
      readonly type: 'conversation'
      readonly project: string
      readonly conversation: string
      readonly total: number
    }
  | {
      readonly type: 'run' | 'delegate' | 'tasks' | 'handoffs' | 'workflows'
      readonly project: string
      readonly id?: string
    }
  | { readonly type: 'prompt'; readonly prompt: string; readonly event: PromptEvent }

export type Problem = PublicError
