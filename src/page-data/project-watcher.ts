// Reports changes as they happen. Writers leave a marker per session in one folder, so only
// recently marked journals are watched.
import { join } from 'node:path'
import { conversationsFolder } from '../history/paths.ts'
import { listTouched, touchMarkFolder } from '../index/touch-marks.ts'
import { isId } from '../journal/ids.ts'
import { statOrUndefined } from '../journal/read-files.ts'
import { journalFolder, logPaths } from '../project/store/project-paths.ts'
import { runFolder, runIds, runLogPaths, runsFolder } from '../project/store/run-files.ts'
import { readRun } from '../run/run-log.ts'
import { foldRun } from '../run/run-state.ts'
import { BACKLOG_ID } from '../session/entries.ts'
import type { LiveEvent } from './page-types.ts'
import { endOfLog, recordsFrom } from './log-slices.ts'
import { toPublicEntries } from './session-page.ts'
import { StintError, messageOf } from '../journal/errors.ts'
import type { OpenedProject } from './project-pool.ts'
import { FolderWatcher } from './folder-watcher.ts'

type Publish = (event: LiveEvent) => void

/** Changes within this time are reported together. */
const BATCH_MS = 40
/** Polling interval without watches. */
const POLL_MS = 5_000
const MAX_JOURNALS = 64
const MAX_RUNS = 50
const MAX_ENTRIES = 200
const MAX_BYTES = 256 * 1024

/** The other views that such entries change. */
const EVENT_TYPES_BY_KIND: readonly (readonly [
  prefix: string,
  type: 'tasks' | 'handoffs' | 'workflows',
])[] = [
  ['task.', 'tasks'],
  ['handoff.', 'handoffs'],
  ['workflow.', 'workflows'],
  ['phase.', 'workflows'],
  ['focus.', 'workflows'],
  ['deliverable.', 'workflows'],
]

export class ProjectWatcher {
  readonly #project: OpenedProject
  readonly #publish: Publish
  readonly #folders = new FolderWatcher()
  /** How far each journal was reported. */
  readonly #journals = new Map<string, { end: number; inode: number }>()
  readonly #watched = new Map<string, string>()
  readonly #runs = new Map<string, { size: number; readonly events: readonly LiveEvent[] }>()
  readonly #conversationTotals = new Map<string, number>()
  /** Keys such as `session ID`. */
  readonly #changed = new Set<string>()
  #flushTimer: NodeJS.Timeout | undefined
  #pollTimer: NodeJS.Timeout | undefined
  #work: Promise<void> = Promise.resolve()
  #isStopped = false

  constructor(project: OpenedProject, publish: Publish) {
    this.#project = project
    this.#publish = publish
  }

  start(): void {
    this.#followFolders()
    for (const { id } of listTouched(this.#sessions)) this.follow(id)
    for (const run of runIds(this.#project.workspace.paths).slice(-MAX_RUNS)) this.#followRun(run)
    this.#pollTimer = setInterval(() => this.#poll(), POLL_MS).unref()
  }

  follow(session: string): void {
    if (this.#isStopped) return
    const { paths } = this.#project.workspace
    const folder =
      session === BACKLOG_ID ? join(paths.sessions, 'backlog') : journalFolder(paths, session)
    this.#folders.watch(folder, (name) => {
      if (name === '' || name === 'log.jsonl') this.#queue(`session ${session}`)
    })
    this.#watched.delete(session)
    this.#watched.set(session, folder)
    for (const [old, oldFolder] of [...this.#watched].slice(0, -MAX_JOURNALS)) {
      this.#watched.delete(old)
      this.#folders.unwatch(oldFolder)
    }
    // After the watch is set, so that no append is missed.
    const end = this.#endOf(session)
    if (end !== undefined && !this.#journals.has(session)) this.#journals.set(session, end)
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#flushTimer)
    clearInterval(this.#pollTimer)
    this.#folders.close()
    await this.#work
  }

  /** For tests: resolves when all changes so far were published. */
  async whenIdle(): Promise<void> {
    this.#poll()
    clearTimeout(this.#flushTimer)
    this.#flush()
    await this.#work
  }

  get #sessions(): string {
    return this.#project.workspace.paths.sessions
  }

  #followFolders(): void {
    const { paths } = this.#project.workspace
    // Later folders are found through their parent.
    this.#folders.watch(paths.sessions, (name) => {
      if (!['touched', 'runs', 'conversations'].includes(name)) return
      this.#poll()
      if (name === 'conversations') this.#queue('conversations ')
    })
    this.#folders.watch(touchMarkFolder(paths.sessions), (name) => {
      const id = name.replace(/\.taken$/, '')
      if (isId(id)) this.#queue(`session ${id}`)
    })
    this.#folders.watch(runsFolder(paths), (name) => {
      if (isId(name)) this.#queue(`run ${name}`)
    })
    this.#folders.watch(conversationsFolder(paths.sessions), (name) => {
      if (name.endsWith('.jsonl')) this.#queue(`conversation ${name.slice(0, -'.jsonl'.length)}`)
    })
    for (const part of ['active', 'archive'])
      this.#folders.watch(join(paths.tasks, part), () => this.#queue('tasks '))
  }

  #followRun(run: string): void {
    if (this.#runs.has(run)) return
    const { paths } = this.#project.workspace
    this.#folders.watch(runFolder(paths, run), (name) => {
      if (name === '' || name === 'log.jsonl') this.#queue(`run ${run}`)
    })
    this.#runs.set(run, { size: this.#sizeOfRun(run), events: [] })
    for (const old of [...this.#runs.keys()].slice(0, -2 * MAX_RUNS)) {
      this.#runs.delete(old)
      this.#folders.unwatch(runFolder(paths, old))
    }
  }

  /** Polls for what no watch reported. */
  #poll(): void {
    try {
      this.#pollAll()
    } catch (error) {
      this.#project.workspace.say(messageOf(error))
    }
  }

  #pollAll(): void {
    this.#followFolders()
    for (const { id } of listTouched(this.#sessions)) this.#queue(`session ${id}`)
    for (const id of this.#watched.keys()) this.#queue(`session ${id}`)
    const runs = runIds(this.#project.workspace.paths).slice(-MAX_RUNS)
    for (const run of new Set([...this.#runs.keys(), ...runs])) this.#queue(`run ${run}`)
  }

  #queue(change: string): void {
    if (this.#isStopped) return
    this.#changed.add(change)
    this.#flushTimer ??= setTimeout(() => this.#flush(), BATCH_MS).unref()
  }

  #flush(): void {
    this.#flushTimer = undefined
    const changed = [...this.#changed]
    this.#changed.clear()
    this.#work = this.#work.then(async () => {
      for (const change of changed) {
        if (this.#isStopped) return
        try {
          await this.#publishChange(change)
        } catch (error) {
          // Read again when it changes; subscribers stay connected.
          this.#project.workspace.say(messageOf(error))
        }
      }
    })
  }

  async #publishChange(change: string): Promise<void> {
    const [kind, id] = [change.slice(0, change.indexOf(' ')), change.slice(change.indexOf(' ') + 1)]
    const project = this.#project.key
    if (kind === 'tasks') this.#publish({ type: 'tasks', project })
    else if (kind === 'conversations')
      for (const stored of this.#project.conversations.stored())
        await this.#publishConversation(stored.id)
    else if (kind === 'run') this.#publishRun(id)
    else if (kind === 'conversation') await this.#publishConversation(id)
    else await this.#publishSession(id)
  }

  async #publishSession(session: string): Promise<void> {
    const { workspace, key: project } = this.#project
    const now = this.#endOf(session)
    const reported = this.#journals.get(session)
    if (now === undefined) return
    if (reported?.end === now.end && reported.inode === now.inode) return
    if (reported !== undefined && (reported.inode !== now.inode || now.end < reported.end)) {
      // Rewritten, as by a purge: cursors are void.
      this.#journals.set(session, now)
      this.#publish({ type: 'reset' })
      return
    }
    this.follow(session)
    if (session === BACKLOG_ID) {
      this.#journals.set(session, now)
      this.#publish({ type: 'tasks', project })
      return
    }
    const index = await workspace.index()
    const from = reported?.end ?? now.end
    const slice = recordsFrom(logPaths(workspace.paths, session), from, MAX_ENTRIES)
    // Large amounts are not pushed; the page requests them.
    const isTooLarge = slice.records.length >= MAX_ENTRIES || slice.end - from > MAX_BYTES
    const end = isTooLarge ? now.end : slice.end
    const entries = isTooLarge ? [] : toPublicEntries(slice.records, session, index)
    this.#journals.set(session, { end, inode: now.inode })
    this.#publish({
      type: 'entries',
      project,
      session,
      from: isTooLarge ? end : from,
      cursor: end,
      entries,
    })
    const row = index.session(session)
    if (row !== undefined) this.#publish({ type: 'session', project, row })
    const kinds = slice.records.map(({ kind }) => kind)
    const types = EVENT_TYPES_BY_KIND.filter(([prefix]) =>
      kinds.some((kind) => kind.startsWith(prefix)),
    ).map(([, type]) => type)
    for (const type of new Set(types)) this.#publish({ type, project })
  }

  #publishRun(run: string): void {
    const isNew = !this.#runs.has(run)
    this.#followRun(run)
    const reported = this.#runs.get(run)!
    const size = this.#sizeOfRun(run)
    if (!isNew && size === reported.size) return
    const events = reported.events.length > 0 ? reported.events : this.#runEvents(run)
    this.#runs.set(run, { size, events })
    for (const event of events) this.#publish(event)
  }

  /** A delegate is a run, and part of the run that created it. */
  #runEvents(run: string): readonly LiveEvent[] {
    const { key: project, workspace } = this.#project
    const state = foldRun(readRun(workspace.paths, run))
    if (state === undefined) return []
    const { delegate } = state.started
    if (delegate === undefined) return [{ type: 'run', project, id: run }]
    const parent: LiveEvent[] =
      delegate.run === undefined ? [] : [{ type: 'run', project, id: delegate.run }]
    return [{ type: 'delegate', project, id: run }, ...parent]
  }

  async #publishConversation(conversation: string): Promise<void> {
    const { key: project, conversations } = this.#project
    if (!conversations.has(conversation)) return
    const { total } = await conversations.read(conversation)
    if (this.#conversationTotals.get(conversation) === total) return
    this.#conversationTotals.set(conversation, total)
    this.#publish({ type: 'conversation', project, conversation, total })
  }

  #endOf(session: string): { end: number; inode: number } | undefined {
    try {
      return endOfLog(logPaths(this.#project.workspace.paths, session))
    } catch (error) {
      // Gone, or not created yet.
      if (error instanceof StintError && error.code === 'NOT_THERE') return undefined
      throw error
    }
  }

  #sizeOfRun(run: string): number {
    return statOrUndefined(runLogPaths(this.#project.workspace.paths, run).path)?.size ?? 0
  }
}
