import type { MessageHit, SearchHit } from '../index/open-index.ts'
import type { SessionFilter, SessionRow } from '../index/queries.ts'
import { findTask } from '../backlog/task.ts'
import type { RawEntry } from '../session/effective-entries.ts'
import type { SessionState } from '../session/state.ts'
import {
  findActiveSession,
  chooseOpenSession,
  chooseSession,
  findSession,
} from './store/choose-session.ts'
import type { ShowOptions } from './digest/artifacts.ts'
import { runFromEnv } from './store/run-environment.ts'
import { type LogEntry, logEntryDrafts } from './lifecycle/log-entries.ts'
import type { LiveSession, SessionReading } from './store/live-session.ts'
import type { InitOptions } from './lifecycle/init-session.ts'
import { type SearchRequest, searchEverywhere } from './search.ts'
import { isRefusedJournal } from './store/project-paths.ts'
import type { Workspace } from './store/workspace.ts'

export type ProjectOperations = ReturnType<typeof projectOperations>

/** Each operation is loaded when it is called. */
export function projectOperations(workspace: Workspace) {
  const lazy =
    <A extends unknown[], R>(
      load: () => Promise<(workspace: Workspace, ...args: A) => R | Promise<R>>,
    ) =>
    async (...args: A): Promise<R> =>
      (await load())(workspace, ...args)
  const idOf = async (name?: string) => (await chooseSession(workspace, name)).id
  return {
    root: workspace.paths.root,
    sessionsFolder: workspace.paths.sessions,
    tasksFolder: workspace.paths.tasks,
    /** The run this process belongs to. */
    run: runFromEnv(workspace.env),

    init: async (init: InitOptions) =>
      (await import('./lifecycle/init-session.ts')).initSession(workspace, init),
    resume: lazy(async () => (await import('./lifecycle/resume.ts')).resumeSession),
    log: lazy(async () => (await import('./lifecycle/record.ts')).recordEntries),
    checkpoint: lazy(async () => (await import('./lifecycle/checkpoint.ts')).makeCheckpoint),
    checkpoints: {
      list: lazy(async () => (await import('./lifecycle/checkpoint.ts')).listCheckpoints),
      diff: lazy(async () => (await import('./lifecycle/checkpoint.ts')).diffCheckpoint),
      restore: lazy(async () => (await import('./lifecycle/checkpoint.ts')).restoreCheckpoint),
    },
    handoffs: {
      create: lazy(async () => (await import('./handoff/create.ts')).createHandoff),
      show: lazy(async () => (await import('./handoff/find.ts')).showHandoff),
      list: lazy(async () => (await import('./handoff/find.ts')).listHandoffs),
      accept: lazy(async () => (await import('./handoff/accept.ts')).acceptHandoff),
      /** Not accepted yet, for this session or these tasks. */
      waiting: lazy(async () => (await import('./handoff/find.ts')).waitingHandoffs),
    },
    pause: lazy(async () => (await import('./lifecycle/pause-and-close.ts')).pauseSession),
    close: lazy(async () => (await import('./lifecycle/pause-and-close.ts')).closeSession),
    reopen: lazy(async () => (await import('./lifecycle/pause-and-close.ts')).reopenSession),

    /** The full session, edits absorbed. */
    view: async (name?: string): Promise<SessionReading> => workspace.view(await idOf(name)),
    /** What was injected, and where the transcripts show it. */
    async deliveries(name?: string) {
      const { findDeliveries } = await import('./deliveries.ts')
      const { entries } = await workspace.withSession(await idOf(name), (session) => session.read())
      return findDeliveries(workspace.paths, entries)
    },
    budget: lazy(async () => (await import('./conversation-budget.ts')).conversationBudget),
    /** The recent state, from the log's tail. */
    open: async (name?: string) => workspace.stateOf(await idOf(name)),
    /** For a program that writes often. */
    session: async (name?: string) =>
      new SessionHandle(workspace.session((await chooseOpenSession(workspace, name)).id)),
    /** A summary of the repository in at most 500 tokens. */
    context: lazy(async () => (await import('./lifecycle/resume.ts')).readRepositoryContext),
    /** The context a model would get within a token budget. */
    pack: lazy(async () => (await import('./pack-session.ts')).packSession),
    active: () => findActiveSession(workspace),
    find: (name: string) => findSession(workspace, name),
    async list(filter: SessionFilter = {}): Promise<Iterable<SessionRow>> {
      return workspace.hasSessions() ? (await workspace.index()).sessions(filter) : []
    },
    search: (query: SearchRequest): AsyncIterable<SearchHit | MessageHit> =>
      searchEverywhere(workspace, query),

    digest: lazy(async () => (await import('./digest/digest-command.ts')).digestCommand),
    outputs: {
      list: lazy(async () => (await import('./digest/artifacts.ts')).listArtifacts),
      async show(id: string, options: ShowOptions = {}) {
        const { findArtifact, shownLines } = await import('./digest/artifacts.ts')
        const artifact = findArtifact(workspace, id)
        return { ...artifact, lines: shownLines(artifact.path, options) }
      },
    },

    tasks: {
      add: lazy(async () => (await import('./tasks/project-backlog.ts')).addTask),
      list: lazy(async () => (await import('./tasks/project-backlog.ts')).openBacklog),
      next: lazy(async () => (await import('./tasks/project-backlog.ts')).nextTask),
      show: async (name: string) => {
        const { openBacklog } = await import('./tasks/project-backlog.ts')
        return findTask((await openBacklog(workspace)).tasks, name)
      },
      change: lazy(async () => (await import('./tasks/project-backlog.ts')).changeTask),
      check: lazy(async () => (await import('./tasks/project-backlog.ts')).checkTask),
      move: lazy(async () => (await import('./tasks/project-backlog.ts')).moveTask),
      /** In a run: an agent's claim about a task, which may belong to another backlog. */
      report: lazy(async () => (await import('./tasks/report-task.ts')).reportTask),
      checkInRun: lazy(async () => (await import('./tasks/report-task.ts')).checkRunTask),
    },

    /** What came with the repository and needs the user's agreement on this machine. */
    trust: {
      review: lazy(async () => (await import('./tasks/project-backlog.ts')).reviewTrustWithTasks),
      grant: lazy(async () => (await import('./tasks/project-backlog.ts')).grantTrustWithTasks),
      withdraw: lazy(async () => (await import('./trust/trust.ts')).withdrawTrust),
      /** The session came with the repository, and the user has not agreed to it. */
      refuses: (session: string) => isRefusedJournal(workspace.paths, session),
    },

    workflows: lazy(async () => (await import('./workflow/workflows.ts')).workflowsOf),
    history: lazy(async () => (await import('./history/history.ts')).historyOf),
    doctor: lazy(async () => (await import('./doctor/run-doctor.ts')).runDoctor),
    export: lazy(async () => (await import('./export/export-session.ts')).exportSession),
    purge: lazy(async () => (await import('./purge/purge.ts')).purgeText),

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
  append(entries: readonly LogEntry[], { by = 'library' } = {}): readonly RawEntry[] {
    const context = { mint: () => this.#session.mint(), by }
    return this.#session.append(
      entries.flatMap((entry) => logEntryDrafts(entry, () => this.state(), context)),
    )
  }

  state(): SessionState {
    return this.#session.open()
  }

  close(): void {
    this.#session.close()
  }
}
