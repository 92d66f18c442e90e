import type { SaidHit, SearchHit } from '../index/open-index.ts'
import type { SessionFilter } from '../index/queries.ts'
import type { SessionRow } from '../index/rows.ts'
import type { RestoreTo } from '../git/code-checkpoint.ts'
import type { TaskStatus } from '../session/entries.ts'
import { findTask } from '../backlog/find.ts'
import {
  type AddTask,
  type ChangeTask,
  addTask,
  changeTask,
  checkTask,
  moveTask,
  nextTask,
  openBacklog,
} from './tasks/backlog.ts'
import {
  type CheckpointOptions,
  diffCheckpoint,
  listCheckpoints,
  makeCheckpoint,
  restoreCheckpoint,
} from './lifecycle/checkpoint.ts'
import { activeSession, chooseSession, findSession, refuseClosed } from './store/choose.ts'
import type { BudgetOptions, ConversationBudget } from './budget.ts'
import { type AcceptHandoff, acceptHandoff } from './handoff/accept.ts'
import { type CreateHandoff, createHandoff } from './handoff/create.ts'
import { listHandoffs, showHandoff } from './handoff/look.ts'
import { waitingHandoffs } from './handoff/waiting.ts'
import {
  type CloseOptions,
  type PauseOptions,
  closeSession,
  pauseSession,
  reopenSession,
} from './lifecycle/finish.ts'
import type { Artifact } from './digest/artifacts.ts'
import type { Digest, DigestOptions } from './digest/digest-command.ts'
import type { ShowOptions, ShownLine } from './digest/show-output.ts'
import type { Delivery } from './delivery.ts'
import type { Diagnosis, DoctorOptions } from './doctor/examine.ts'
import type { ExportOptions, Exported } from './export/export-session.ts'
import type { History } from './history/history.ts'
import { runOf } from './store/in-run.ts'
import type { Reading } from './store/live-session.ts'
import type { PackRequest, Packed } from './pack.ts'
import type { PurgeOptions, Purged } from './purge/purge.ts'
import { contextOfProject } from './lifecycle/project-context.ts'
import { type RecordOptions, recordEntries } from './lifecycle/record.ts'
import { type ReportedStatus, checkRunTask, reportTask } from './tasks/report-task.ts'
import { type ResumeOptions, resumeSession } from './lifecycle/resume.ts'
import { SessionHandle } from './session-handle.ts'
import { type InitOptions, initSession } from './lifecycle/start.ts'
import { type SearchRequest, searchEverywhere } from './search.ts'
import { Workspace } from './store/workspace.ts'
import type { Workflows } from './workflow/workflows.ts'

/** Everything that can be done to a project's sessions and tasks. */
export type Project = ReturnType<typeof projectOf>

export function projectOf(workspace: Workspace) {
  return {
    root: workspace.place.root,
    sessionsFolder: workspace.place.sessions,
    tasksFolder: workspace.place.tasks,
    /** The run that this is opened in by an agent of it. */
    run: runOf(workspace.env),

    init: (init: InitOptions) => initSession(workspace, init),
    resume: (resume: ResumeOptions = {}) => resumeSession(workspace, resume),
    log: (record: RecordOptions) => recordEntries(workspace, record),
    checkpoint: (checkpoint: CheckpointOptions = {}) => makeCheckpoint(workspace, checkpoint),
    checkpoints: {
      list: (of: { session?: string } = {}) => listCheckpoints(workspace, of),
      diff: (of: { session?: string; checkpoint?: string; stat?: boolean } = {}) =>
        diffCheckpoint(workspace, of),
      restore: (of: { session?: string; checkpoint?: string; to?: RestoreTo } = {}) =>
        restoreCheckpoint(workspace, of),
    },
    handoffs: {
      create: (handoff: CreateHandoff = {}) => createHandoff(workspace, handoff),
      show: (of: { handoff?: string; check?: boolean } = {}) => showHandoff(workspace, of),
      list: (of: { session?: string } = {}) => listHandoffs(workspace, of),
      accept: (handoff: AcceptHandoff = {}) => acceptHandoff(workspace, handoff),
      /** Those that were made for this session or these tasks, and that nobody took up yet. */
      waiting: (whom: { session?: string; tasks?: readonly string[] }) =>
        waitingHandoffs(workspace, whom),
    },
    pause: (pause: PauseOptions = {}) => pauseSession(workspace, pause),
    close: (close: CloseOptions) => closeSession(workspace, close),
    reopen: (reopen: { session: string; by?: string }) => reopenSession(workspace, reopen),

    /** The whole of one session, edits absorbed. */
    async view(name?: string): Promise<Reading> {
      const session = workspace.session((await chooseSession(workspace, name)).id)
      const reading = await workspace.refreshIfPossible(session)
      session.close()
      return reading
    },
    /** What was put before the model in a session, with the evidence in the transcripts that it arrived. */
    async deliveries(name?: string): Promise<readonly Delivery[]> {
      const { deliveriesOf } = await import('./delivery.ts')
      const session = workspace.session((await chooseSession(workspace, name)).id)
      const deliveries = deliveriesOf(workspace.place, session.read().entries)
      session.close()
      return deliveries
    },
    /** How full the context of a conversation is, and what it has used; each figure says how it is known. */
    async budget(options: BudgetOptions = {}): Promise<ConversationBudget> {
      const { budgetOf } = await import('./budget.ts')
      return budgetOf(workspace, options)
    },
    /** The recent state of a session, at the cost of its log's tail. */
    async open(name?: string) {
      const session = workspace.session((await chooseSession(workspace, name)).id)
      const state = session.open()
      session.close()
      return state
    },
    /** One session held open, for a program that writes often. */
    async session(name?: string): Promise<SessionHandle> {
      const row = await chooseSession(workspace, name)
      refuseClosed(row)
      return new SessionHandle(workspace.session(row.id))
    },
    /** What the repository is, in at most 500 tokens, for somebody who has just arrived. */
    context: (options: { refresh?: boolean } = {}) => contextOfProject(workspace, options),
    /** What a model would be given of a session within a budget. */
    async pack(request: PackRequest = {}): Promise<Packed> {
      const { packSession } = await import('./pack.ts')
      return packSession(workspace, request)
    },
    active: () => activeSession(workspace),
    find: (name: string) => findSession(workspace, name),

    async list(filter: SessionFilter = {}): Promise<Iterable<SessionRow>> {
      return workspace.hasSessions() ? (await workspace.index()).sessions(filter) : []
    },
    /** What was journalled and what was said, the most telling of both first. */
    search: (query: SearchRequest): AsyncIterable<SearchHit | SaidHit> =>
      searchEverywhere(workspace, query),

    /** Runs a command and tells what matters of its output. Rarely needed by programs, so not loaded with the rest. */
    async digest(options: DigestOptions): Promise<Digest> {
      const { digestCommand } = await import('./digest/digest-command.ts')
      return digestCommand(workspace, options)
    },
    outputs: {
      /** The outputs kept here, the latest last. */
      async list(): Promise<readonly Artifact[]> {
        const { listArtifacts } = await import('./digest/artifacts.ts')
        return listArtifacts(workspace)
      },
      /** One of them, and its lines. */
      async show(
        id: string,
        options: ShowOptions = {},
      ): Promise<Artifact & { readonly lines: Iterable<ShownLine> }> {
        const { findArtifact } = await import('./digest/artifacts.ts')
        const { shownLines } = await import('./digest/show-output.ts')
        const artifact = findArtifact(workspace, id)
        return { ...artifact, lines: shownLines(artifact.path, options) }
      },
    },

    tasks: {
      add: (task: AddTask) => addTask(workspace, task),
      list: () => openBacklog(workspace),
      next: () => nextTask(workspace),
      show: async (name: string) => findTask((await openBacklog(workspace)).tasks, name),
      change: (name: string, change: ChangeTask, by?: string) =>
        changeTask(workspace, name, change, by),
      check: (name: string, item: string, done = true) => checkTask(workspace, name, item, done),
      move: (name: string, status: TaskStatus, options: { summary?: string; by?: string } = {}) =>
        moveTask(workspace, name, status, options),
      /** In a run: what an agent says became of a task, and an item it ticks, also of tasks that are kept elsewhere. */
      report: (
        name: string,
        status: ReportedStatus,
        options: { summary?: string; by?: string } = {},
      ) => reportTask(workspace, name, status, options),
      checkInRun: (name: string, item: string, done = true) =>
        checkRunTask(workspace, name, item, done),
    },

    /** Sessions that follow a template of phases. Rarely needed, so not loaded with the rest. */
    async workflows(): Promise<Workflows> {
      const { workflowsOf } = await import('./workflow/workflows.ts')
      return workflowsOf(workspace)
    },

    /** What was said in conversations. Rarely needed, so not loaded with the rest. */
    async history(): Promise<History> {
      const { historyOf } = await import('./history/history.ts')
      return historyOf(workspace)
    },
    /** Verifies everything from the files. Rarely needed, so not loaded with the rest. */
    async doctor(options: DoctorOptions = {}): Promise<Diagnosis> {
      const { examine } = await import('./doctor/examine.ts')
      return examine(workspace, options)
    },
    /** Gives a session out in another form, to a file when one is named. */
    async export(options: ExportOptions): Promise<Exported> {
      const { exportSession } = await import('./export/export-session.ts')
      return exportSession(workspace, options)
    },
    /** Takes a text out of everything recorded. */
    async purge(options: PurgeOptions): Promise<Purged> {
      const { purgeText } = await import('./purge/purge.ts')
      return purgeText(workspace, options)
    },

    dispose: () => workspace.close(),
  }
}
