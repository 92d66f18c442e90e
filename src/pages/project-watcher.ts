// Reports changes as they happen. Writers leave a marker per session in one folder, so only
// recently marked journals are watched.
import { basename, join } from 'node:path'
import { conversationsFolder } from '../history/paths.ts'
import { listTouched, touchMarkFolder } from '../index/touch-marks.ts'
import { isId } from '../journal/ids.ts'
import { statOrUndefined } from '../journal/read-files.ts'
import { journalFolder, logPaths } from '../project/store/project-paths.ts'
import { runFolder, runIds, runLogPaths, runsFolder } from '../project/store/run-files.ts'
import { readRun } from '../run/run-log.ts'
import { foldRun } from '../run/run-state.ts'
import { BACKLOG_ID } from '../session/entries.ts'
import type { LiveEvent } from './contract.ts'
import { endOfLog, toPublicEntries, recordsFrom } from './session-page.ts'
import { StintError, errnoOf } from '../journal/errors.ts'
import type { OpenedProject } from './project-pool.ts'
import { type FSWatcher, watch } from 'node:fs'

type Tell = (event: LiveEvent) => void

/** Changes within this time are reported together. */
const GATHER_MS = 40
/** Polling interval without watches. */
const LOOK_MS = 5_000
const MOST_JOURNALS = 64
const MOST_RUNS = 50
const MOST_ENTRIES = 200
const MOST_BYTES = 256 * 1024

/** What else changes with such entries. */
const ALSO: readonly (readonly [prefix: string, type: 'tasks' | 'handoffs' | 'workflows'])[] = [
  ['task.', 'tasks'],
  ['handoff.', 'handoffs'],
  ['workflow.', 'workflows'],
  ['phase.', 'workflows'],
  ['focus.', 'workflows'],
  ['deliverable.', 'workflows'],
]

export class ProjectWatcher {
  readonly #project: OpenedProject
  readonly #tell: Tell
  readonly #folders = new FolderWatcher()
  /** How far each journal was reported. */
  readonly #journals = new Map<string, { end: number; inode: number }>()
  readonly #watched = new Map<string, string>()
  readonly #runs = new Map<string, { size: number; readonly types: readonly LiveEvent[] }>()
  readonly #totals = new Map<string, number>()
  /** Keys such as `session ID`. */
  readonly #changed = new Set<string>()
  #gathering: NodeJS.Timeout | undefined
  #looking: NodeJS.Timeout | undefined
  #work: Promise<void> = Promise.resolve()
  #isStopped = false

  constructor(project: OpenedProject, tell: Tell) {
    this.#project = project
    this.#tell = tell
  }

  start(): void {
    this.#followFolders()
    for (const { id } of listTouched(this.#sessions)) this.follow(id)
    for (const run of runIds(this.#project.workspace.paths).slice(-MOST_RUNS)) this.#followRun(run)
    this.#looking = setInterval(() => this.#look(), LOOK_MS).unref()
  }

  follow(session: string): void {
    if (this.#isStopped) return
    const { paths: place } = this.#project.workspace
    const folder =
      session === BACKLOG_ID ? join(place.sessions, 'backlog') : journalFolder(place, session)
    this.#folders.watch(folder, (name) => {
      if (name === '' || name === 'log.jsonl') this.#gather(`session ${session}`)
    })
    this.#watched.delete(session)
    this.#watched.set(session, folder)
    for (const [old, itsFolder] of [...this.#watched].slice(0, -MOST_JOURNALS)) {
      this.#watched.delete(old)
      this.#folders.unwatch(itsFolder)
    }
    // After the watch is set, so that no append is missed.
    const end = this.#endOf(session)
    if (end !== undefined && !this.#journals.has(session)) this.#journals.set(session, end)
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#gathering)
    clearInterval(this.#looking)
    this.#folders.close()
    await this.#work
  }

  /** For tests: everything noticed so far was reported. */
  async whenIdle(): Promise<void> {
    this.#look()
    clearTimeout(this.#gathering)
    this.#flush()
    await this.#work
  }

  get #sessions(): string {
    return this.#project.workspace.paths.sessions
  }

  #followFolders(): void {
    const { paths: place } = this.#project.workspace
    // Later folders are found through their parent.
    this.#folders.watch(place.sessions, (name) => {
      if (!['touched', 'runs', 'conversations'].includes(name)) return
      this.#look()
      if (name === 'conversations') this.#gather('conversations ')
    })
    this.#folders.watch(touchMarkFolder(place.sessions), (name) => {
      const id = name.replace(/\.taken$/, '')
      if (isId(id)) this.#gather(`session ${id}`)
    })
    this.#folders.watch(runsFolder(place), (name) => {
      if (isId(name)) this.#gather(`run ${name}`)
    })
    this.#folders.watch(conversationsFolder(place.sessions), (name) => {
      if (name.endsWith('.jsonl')) this.#gather(`conversation ${name.slice(0, -'.jsonl'.length)}`)
    })
    for (const part of ['active', 'archive'])
      this.#folders.watch(join(place.tasks, part), () => this.#gather('tasks '))
  }

  #followRun(run: string): void {
    if (this.#runs.has(run)) return
    const { paths: place } = this.#project.workspace
    this.#folders.watch(runFolder(place, run), (name) => {
      if (name === '' || name === 'log.jsonl') this.#gather(`run ${run}`)
    })
    this.#runs.set(run, { size: this.#sizeOfRun(run), types: [] })
    for (const old of [...this.#runs.keys()].slice(0, -2 * MOST_RUNS)) {
      this.#runs.delete(old)
      this.#folders.unwatch(runFolder(place, old))
    }
  }

  /** Polls for what no watch reported. */
  #look(): void {
    try {
      this.#lookEverywhere()
    } catch (error) {
      this.#project.workspace.say(error instanceof Error ? error.message : String(error))
    }
  }

  #lookEverywhere(): void {
    this.#followFolders()
    for (const { id } of listTouched(this.#sessions)) this.#gather(`session ${id}`)
    for (const id of this.#watched.keys()) this.#gather(`session ${id}`)
    const runs = runIds(this.#project.workspace.paths).slice(-MOST_RUNS)
    for (const run of new Set([...this.#runs.keys(), ...runs])) this.#gather(`run ${run}`)
  }

  #gather(what: string): void {
    if (this.#isStopped) return
    this.#changed.add(what)
    this.#gathering ??= setTimeout(() => this.#flush(), GATHER_MS).unref()
  }

  #flush(): void {
    this.#gathering = undefined
    const changed = [...this.#changed]
    this.#changed.clear()
    // In order.
    this.#work = this.#work.then(async () => {
      for (const what of changed) {
        if (this.#isStopped) return
        try {
          await this.#tellOf(what)
        } catch (error) {
          // Read again when it changes; followers stay connected.
          this.#project.workspace.say(error instanceof Error ? error.message : String(error))
        }
      }
    })
  }

  async #tellOf(what: string): Promise<void> {
    const [kind, id] = [what.slice(0, what.indexOf(' ')), what.slice(what.indexOf(' ') + 1)]
    const project = this.#project.key
    if (kind === 'tasks') this.#tell({ type: 'tasks', project })
    else if (kind === 'conversations')
      for (const stored of this.#project.conversations.stored())
        await this.#tellConversation(stored.id)
    else if (kind === 'run') this.#tellRun(id)
    else if (kind === 'conversation') await this.#tellConversation(id)
    else await this.#tellSession(id)
  }

  async #tellSession(session: string): Promise<void> {
    const { workspace, key: project } = this.#project
    const now = this.#endOf(session)
    const known = this.#journals.get(session)
    if (now === undefined) return
    if (known?.end === now.end && known.inode === now.inode) return
    if (known !== undefined && (known.inode !== now.inode || now.end < known.end)) {
      // Rewritten, as by a purge: cursors are void.
      this.#journals.set(session, now)
      this.#tell({ type: 'reset' })
      return
    }
    this.follow(session)
    if (session === BACKLOG_ID) {
      this.#journals.set(session, now)
      this.#tell({ type: 'tasks', project })
      return
    }
    const index = await workspace.index()
    const from = known?.end ?? now.end
    const slice = recordsFrom(logPaths(workspace.paths, session), from, MOST_ENTRIES)
    // A follower that is behind asks for large amounts.
    const isTooMuch = slice.records.length >= MOST_ENTRIES || slice.end - from > MOST_BYTES
    const end = isTooMuch ? now.end : slice.end
    const entries = isTooMuch ? [] : toPublicEntries(slice.records, session, index)
    this.#journals.set(session, { end, inode: now.inode })
    this.#tell({
      type: 'entries',
      project,
      session,
      from: isTooMuch ? end : from,
      cursor: end,
      entries,
    })
    const row = index.session(session)
    if (row !== undefined) this.#tell({ type: 'session', project, row })
    const kinds = slice.records.map(({ kind }) => kind)
    const also = ALSO.filter(([prefix]) => kinds.some((kind) => kind.startsWith(prefix))).map(
      ([, type]) => type,
    )
    for (const type of new Set(also)) this.#tell({ type, project })
  }

  #tellRun(run: string): void {
    const isNew = !this.#runs.has(run)
    this.#followRun(run)
    const known = this.#runs.get(run)!
    const size = this.#sizeOfRun(run)
    if (!isNew && size === known.size) return
    const types = known.types.length > 0 ? known.types : this.#eventsOf(run)
    this.#runs.set(run, { size, types })
    for (const event of types) this.#tell(event)
  }

  /** A delegate is a run, and part of the run that created it. */
  #eventsOf(run: string): readonly LiveEvent[] {
    const { key: project, workspace } = this.#project
    const state = foldRun(readRun(workspace.paths, run))
    if (state === undefined) return []
    const { delegate } = state.started
    if (delegate === undefined) return [{ type: 'run', project, id: run }]
    const parent: LiveEvent[] =
      delegate.run === undefined ? [] : [{ type: 'run', project, id: delegate.run }]
    return [{ type: 'delegate', project, id: run }, ...parent]
  }

  async #tellConversation(conversation: string): Promise<void> {
    const { key: project, conversations } = this.#project
    if (!conversations.has(conversation)) return
    const { total } = await conversations.read(conversation)
    if (this.#totals.get(conversation) === total) return
    this.#totals.set(conversation, total)
    this.#tell({ type: 'conversation', project, conversation, total })
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

// Watches folders while they exist; without inotify watches the caller polls.

export class FolderWatcher {
  readonly #watchers = new Map<string, { readonly watcher: FSWatcher; readonly inode: number }>()

  /** Reports the changed name, empty if unknown. */
  watch(folder: string, changed: (name: string) => void): void {
    const inode = statOrUndefined(folder)?.ino
    const known = this.#watchers.get(folder)
    if (known !== undefined && known.inode === inode) return
    // The watch is on a folder that is gone.
    this.unwatch(folder)
    if (inode === undefined) return
    try {
      const watcher = watch(folder, { persistent: false }, (event, name) => {
        // The folder itself was removed; a new one may get its inode, but not the watch.
        if (event === 'rename' && name === basename(folder)) this.unwatch(folder)
        changed(name ?? '')
      })
      watcher.on('error', () => this.unwatch(folder))
      this.#watchers.set(folder, { watcher, inode })
    } catch (error) {
      // Missing, or no watch available: polling has to do.
      if (errnoOf(error) === undefined) throw error
    }
  }

  unwatch(folder: string): void {
    this.#watchers.get(folder)?.watcher.close()
    this.#watchers.delete(folder)
  }

  close(): void {
    for (const { watcher } of this.#watchers.values()) watcher.close()
    this.#watchers.clear()
  }
}
