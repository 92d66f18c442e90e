import type { SaidHit, SearchHit } from '../index/open-index.ts'
import type { SessionFilter, SessionRow } from '../index/queries.ts'
import type { RestoreTo } from '../git/code-checkpoint.ts'
import type { TaskStatus } from '../session/entries.ts'
import { findTask } from '../backlog/task.ts'
import type { AddTask, ChangeTask } from './tasks/backlog.ts'
import type { CheckpointOptions } from './lifecycle/checkpoint.ts'
import { activeSession, chooseSession, findSession, refuseClosed } from './store/choose.ts'
import type { BudgetOptions, ConversationBudget } from './budget.ts'
import type { AcceptHandoff } from './handoff/accept.ts'
import type { CreateHandoff } from './handoff/create.ts'
import type { CloseOptions, PauseOptions } from './lifecycle/finish.ts'
import type { Artifact, ShowOptions, ShownLine } from './digest/artifacts.ts'
import type { Digest, DigestOptions } from './digest/digest-command.ts'
import type { Delivery } from './delivery.ts'
import type { Diagnosis, DoctorOptions } from './doctor/examine.ts'
import type { ExportOptions, Exported } from './export/export-session.ts'
import type { History } from './history/history.ts'
import { runOf } from './store/in-run.ts'
import type { LiveSession, Reading } from './store/live-session.ts'
import type { PackRequest, Packed } from './pack.ts'
import type { PurgeOptions, Purged } from './purge/purge.ts'
import type { RecordOptions } from './lifecycle/record.ts'
import type { ReportedStatus } from './tasks/report-task.ts'
import type { ResumeOptions } from './lifecycle/resume.ts'
import type { InitOptions } from './lifecycle/start.ts'
import { type SearchRequest, searchEverywhere } from './search.ts'
import { Workspace } from './store/workspace.ts'
import type { Workflows } from './workflow/workflows.ts'
import type { RawEntry } from '../session/in-effect.ts'
import type { SessionState } from '../session/state.ts'
import { type LogEntry, draftsFor } from './lifecycle/log-entries.ts'

/** Each operation is loaded when it is called. */
export type Project = ReturnType<typeof projectOf>

export function projectOf(workspace: Workspace) {
  return {
    root: workspace.place.root,
    sessionsFolder: workspace.place.sessions,
    tasksFolder: workspace.place.tasks,
    /** The run this process belongs to. */
    run: runOf(workspace.env),

    init: async (init: InitOptions) =>
      (await import('./lifecycle/start.ts')).initSession(workspace, init),
    resume: async (resume: ResumeOptions = {}) =>
      (await import('./lifecycle/resume.ts')).resumeSession(workspace, resume),
    log: async (record: RecordOptions) =>
      (await import('./lifecycle/record.ts')).recordEntries(workspace, record),
    checkpoint: async (checkpoint: CheckpointOptions = {}) =>
      (await import('./lifecycle/checkpoint.ts')).makeCheckpoint(workspace, checkpoint),
    checkpoints: {
      list: async (of: { session?: string } = {}) =>
        (await import('./lifecycle/checkpoint.ts')).listCheckpoints(workspace, of),
      diff: async (of: { session?: string; checkpoint?: string; stat?: boolean } = {}) =>
        (await import('./lifecycle/checkpoint.ts')).diffCheckpoint(workspace, of),
      restore: async (of: { session?: string; checkpoint?: string; to?: RestoreTo } = {}) =>
        (await import('./lifecycle/checkpoint.ts')).restoreCheckpoint(workspace, of),
    },
    handoffs: {
      create: async (handoff: CreateHandoff = {}) =>
        (await import('./handoff/create.ts')).createHandoff(workspace, handoff),
      show: async (of: { handoff?: string; check?: boolean } = {}) =>
        (await import('./handoff/find.ts')).showHandoff(workspace, of),
      list: async (of: { session?: string } = {}) =>
        (await import('./handoff/find.ts')).listHandoffs(workspace, of),
      accept: async (handoff: AcceptHandoff = {}) =>
        (await import('./handoff/accept.ts')).acceptHandoff(workspace, handoff),
      /** Not taken up yet, for this session or these tasks. */
      waiting: async (whom: { session?: string; tasks?: readonly string[] }) =>
        (await import('./handoff/find.ts')).waitingHandoffs(workspace, whom),
    },
    pause: async (pause: PauseOptions = {}) =>
      (await import('./lifecycle/finish.ts')).pauseSession(workspace, pause),
    close: async (close: CloseOptions) =>
      (await import('./lifecycle/finish.ts')).closeSession(workspace, close),
    reopen: async (reopen: { session: string; by?: string }) =>
      (await import('./lifecycle/finish.ts')).reopenSession(workspace, reopen),

    /** The whole session, edits absorbed. */
    async view(name?: string): Promise<Reading> {
      const session = workspace.session((await chooseSession(workspace, name)).id)
      const reading = await workspace.refreshIfPossible(session)
      session.close()
      return reading
    },
    /** What was injected, and where the transcripts show it. */
    async deliveries(name?: string): Promise<readonly Delivery[]> {
      const { deliveriesOf } = await import('./delivery.ts')
      const session = workspace.session((await chooseSession(workspace, name)).id)
      const deliveries = deliveriesOf(workspace.place, session.read().entries)
      session.close()
      return deliveries
    },
    async budget(options: BudgetOptions = {}): Promise<ConversationBudget> {
      const { budgetOf } = await import('./budget.ts')
      return budgetOf(workspace, options)
    },
    /** The recent state, from the log's tail. */
    async open(name?: string) {
      const session = workspace.session((await chooseSession(workspace, name)).id)
      const state = session.open()
      session.close()
      return state
    },
    /** For a program that writes often. */
    async session(name?: string): Promise<SessionHandle> {
      const row = await chooseSession(workspace, name)
      refuseClosed(row)
      return new SessionHandle(workspace.session(row.id))
    },
    /** What the repository is, in at most 500 tokens. */
    context: async (options: { refresh?: boolean } = {}) =>
      (await import('./lifecycle/resume.ts')).contextOfProject(workspace, options),
    /** What a model would get within a token budget. */
    async pack(request: PackRequest = {}): Promise<Packed> {
      const { packSession } = await import('./pack.ts')
      return packSession(workspace, request)
    },
    active: () => activeSession(workspace),
    find: (name: string) => findSession(workspace, name),

    async list(filter: SessionFilter = {}): Promise<Iterable<SessionRow>> {
      return workspace.hasSessions() ? (await workspace.index()).sessions(filter) : []
    },
    search: (query: SearchRequest): AsyncIterable<SearchHit | SaidHit> =>
      searchEverywhere(workspace, query),

    async digest(options: DigestOptions): Promise<Digest> {
      const { digestCommand } = await import('./digest/digest-command.ts')
      return digestCommand(workspace, options)
    },
    outputs: {
      async list(): Promise<readonly Artifact[]> {
        const { listArtifacts } = await import('./digest/artifacts.ts')
        return listArtifacts(workspace)
      },
      async show(
        id: string,
        options: ShowOptions = {},
      ): Promise<Artifact & { readonly lines: Iterable<ShownLine> }> {
        const { findArtifact } = await import('./digest/artifacts.ts')
        const { shownLines } = await import('./digest/artifacts.ts')
        const artifact = findArtifact(workspace, id)
        return { ...artifact, lines: shownLines(artifact.path, options) }
      },
    },

    tasks: {
      add: async (task: AddTask) => (await import('./tasks/backlog.ts')).addTask(workspace, task),
      list: async () => (await import('./tasks/backlog.ts')).openBacklog(workspace),
      next: async () => (await import('./tasks/backlog.ts')).nextTask(workspace),
      show: async (name: string) => {
        const { openBacklog } = await import('./tasks/backlog.ts')
        return findTask((await openBacklog(workspace)).tasks, name)
      },
      change: async (name: string, change: ChangeTask, by?: string) =>
        (await import('./tasks/backlog.ts')).changeTask(workspace, name, change, by),
      check: async (name: string, item: string, done = true) =>
        (await import('./tasks/backlog.ts')).checkTask(workspace, name, item, done),
      move: async (
        name: string,
        status: TaskStatus,
        options: { summary?: string; by?: string } = {},
      ) => (await import('./tasks/backlog.ts')).moveTask(workspace, name, status, options),
      /** In a run: an agent's claim about a task, also of tasks kept elsewhere. */
      report: async (
        name: string,
        status: ReportedStatus,
        options: { summary?: string; by?: string } = {},
      ) => (await import('./tasks/report-task.ts')).reportTask(workspace, name, status, options),
      checkInRun: async (name: string, item: string, done = true) =>
        (await import('./tasks/report-task.ts')).checkRunTask(workspace, name, item, done),
    },

    async workflows(): Promise<Workflows> {
      const { workflowsOf } = await import('./workflow/workflows.ts')
      return workflowsOf(workspace)
    },

    async history(): Promise<History> {
      const { historyOf } = await import('./history/history.ts')
      return historyOf(workspace)
    },
    async doctor(options: DoctorOptions = {}): Promise<Diagnosis> {
      const { examine } = await import('./doctor/examine.ts')
      return examine(workspace, options)
    },
    async export(options: ExportOptions): Promise<Exported> {
      const { exportSession } = await import('./export/export-session.ts')
      return exportSession(workspace, options)
    },
    async purge(options: PurgeOptions): Promise<Purged> {
      const { purgeText } = await import('./purge/purge.ts')
      return purgeText(workspace, options)
    },

    dispose: () => workspace.close(),
  }
}

/** Appending renders nothing; the next command, or `project.view()`, renders the views. */
export class SessionHandle {
  readonly #session: LiveSession

  constructor(session: LiveSession) {
    this.#session = session
  }

  get id(): string {
    return this.#session.id
  }

  /** Returns the entries once they are durable. */
  append(entries: readonly LogEntry[], options: { by?: string } = {}): readonly RawEntry[] {
    const context = { mint: () => this.#session.mint(), by: options.by ?? 'library' }
    return this.#session.append(
      entries.flatMap((entry) => draftsFor(entry, () => this.#session.open(), context)),
    )
  }

  state(): SessionState {
    return this.#session.open()
  }

  close(): void {
    this.#session.close()
  }
}
