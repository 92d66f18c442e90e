import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import type {
  ConversationDatabase,
  DatabaseHistory,
  DatabaseSession,
  FileHistory,
  HarnessHistory,
  HistoryFile,
  HistoryHead,
} from '../../harness/contract/history.ts'
import { importedHarnesses, loadHistory } from '../../harness/registry.ts'
import { knownProjects, rememberProject } from '../../index/projects.ts'
import { statOrUndefined } from '../../journal/look.ts'
import { Workspace } from '../store/workspace.ts'
import { type ImportLock, ImportTarget, isUnchanged } from './target.ts'
import {
  type FileOutcome,
  cursorName,
  hasNews,
  importFile,
  importSession,
  sessionCursorName,
} from './import-file.ts'
import { type ThreadJob, inThreads, problemOf, threadProgram } from './threads.ts'

/** Below this, starting threads costs more than it saves. */
const MUCH = 64 * 1024 * 1024
/** Other writers wait for the index this long. */
const INDEXING_MS = 250

/** May be interrupted at any time; the next call continues. */
export function importHistories(
  workspace: Workspace,
  request: ImportRequest = {},
): Promise<ImportReport> {
  return new Import(workspace, request).run()
}

interface Job {
  readonly harness: string
  readonly path: string
  readonly conversation: string
  readonly target: ImportTarget
  readonly bytes: number
  /** Absent when only this thread can do it. */
  readonly file?: {
    readonly file: HistoryFile
    readonly head: HistoryHead
    readonly isAnew: boolean
  }
  /** A cursor that no longer holds. */
  readonly overCursor?: string
  run(read: (bytes: number) => void): FileOutcome | undefined
}

interface Found {
  readonly conversation: string
  readonly target: ImportTarget
  readonly isUnchanged: boolean
}

class Import {
  readonly #request: ImportRequest
  readonly #targets: readonly ImportTarget[]
  readonly #unread: { path: string; problem: string }[] = []
  readonly #databases: ConversationDatabase[] = []
  readonly #locks: ImportLock[] = []
  readonly #isDryRun: boolean
  #upToDate = 0
  #elsewhere = 0

  constructor(workspace: Workspace, request: ImportRequest) {
    this.#request = request
    this.#isDryRun = request.isDryRun === true
    const others =
      request.allProjects === true
        ? knownProjects().filter((root) => root !== workspace.place.root)
        : []
    this.#targets = [workspace, ...others.map((root) => new Workspace(root))].map(
      (each) => new ImportTarget(each),
    )
  }

  async run(): Promise<ImportReport> {
    try {
      const wanted = this.#request.harnesses ?? importedHarnesses()
      const jobs: Job[] = []
      for (const name of importedHarnesses().filter((each) => wanted.includes(each)))
        jobs.push(...this.#jobs(await loadHistory(name)))
      if (!this.#isDryRun) this.#prepare(jobs)
      const report = await this.#work(jobs)
      // Indexing needs no lock.
      this.#release()
      if (!this.#isDryRun)
        await this.#index(new Set([this.#targets[0]!, ...jobs.map((job) => job.target)]))
      return report
    } finally {
      for (const database of this.#databases) database.close()
      this.#release()
    }
  }

  #release(): void {
    for (const lock of this.#locks.splice(0)) lock.release()
  }

  #prepare(jobs: readonly Job[]): void {
    for (const target of new Set(jobs.map((job) => job.target))) {
      target.workspace.prepare()
      this.#locks.push(target.lock())
      rememberProject(target.project)
    }
    // Before anything is stored, so that an interrupted import continues correctly.
    for (const { target, overCursor } of jobs)
      if (overCursor !== undefined) target.cursors.forget(overCursor)
  }

  /** Also indexes what an interrupted import left; a search reads the rest. */
  async #index(targets: ReadonlySet<ImportTarget>): Promise<void> {
    for (const target of targets) {
      const { workspace } = target
      if (!workspace.hasConversations()) continue
      const index = await workspace.index()
      const totalBytes = index.syncSaid(0).bytesLeft
      let before = Infinity
      // Stop where other processes store faster than this reads.
      for (let left = totalBytes; left > 0 && left < before;) {
        this.#request.tell?.({
          bytes: totalBytes - left,
          totalBytes,
          files: 0,
          totalFiles: 0,
          isIndexing: true,
        })
        await new Promise((resolve) => setImmediate(resolve))
        before = left
        left = index.syncSaid(INDEXING_MS).bytesLeft
      }
      if (target !== this.#targets[0]) workspace.close()
    }
  }

  async #work(jobs: readonly Job[]): Promise<ImportReport> {
    const added = new Map<string, ImportedConversation>()
    const fresh = new Set(
      jobs.filter(({ target, conversation }) => !target.store.has(conversation)),
    )
    const totalBytes = jobs.reduce((sum, job) => sum + job.bytes, 0)
    let [bytes, files, damaged] = [0, 0, 0]
    const tell = () => {
      for (const lock of this.#locks) lock.move()
      this.#request.tell?.({ bytes, totalBytes, files, totalFiles: jobs.length })
    }
    const read = (more: number) => {
      bytes += more
      tell()
    }
    const done = (job: Job, outcome: FileOutcome | undefined) => {
      files += 1
      tell()
      if (outcome === undefined) return
      damaged += outcome.damaged
      if (outcome.messages + outcome.compactions === 0) this.#upToDate += 1
      else add(added, job, outcome, fresh.has(job))
    }
    tell()
    for (const job of await this.#inThreads(jobs, read, done)) this.#doHere(job, read, done)
    const conversations = [...added.values()]
    return {
      isDryRun: this.#isDryRun,
      conversations,
      upToDate: this.#upToDate,
      elsewhere: this.#elsewhere,
      bytes,
      messages: conversations.reduce((sum, { messages }) => sum + messages, 0),
      damaged,
      unread: this.#unread,
    }
  }

  #doHere(
    job: Job,
    read: (bytes: number) => void,
    done: (job: Job, outcome: FileOutcome | undefined) => void,
  ): void {
    const outcome = this.#reading(job.path, () => job.run(read))
    done(job, outcome)
  }

  /** Returns the jobs left for this thread. */
  async #inThreads(
    jobs: readonly Job[],
    read: (bytes: number) => void,
    done: (job: Job, outcome: FileOutcome | undefined) => void,
  ): Promise<readonly Job[]> {
    const able = jobs.filter(({ file }) => file !== undefined)
    const isMuch = able.reduce((sum, job) => sum + job.bytes, 0) >= MUCH
    const count = this.#request.threads ?? (isMuch ? availableParallelism() : 1)
    const program = count > 1 ? threadProgram() : undefined
    if (program === undefined) return jobs
    const groups = new Map<string, ThreadJob[]>()
    for (const [number, { harness, file, conversation, target }] of able.entries()) {
      const key = keyOf({ conversation, target })
      const job = { number, harness, ...file!, project: target.project, isDryRun: this.#isDryRun }
      groups.set(key, [...(groups.get(key) ?? []), job])
    }
    await inThreads(program, count, [...groups.values()], {
      read,
      done: (outcome) => {
        const job = able[outcome.number]!
        if (outcome.type === 'unread')
          this.#unread.push({ path: job.path, problem: outcome.problem })
        done(job, outcome.type === 'done' ? outcome.outcome : undefined)
      },
      doHere: (number) => this.#doHere(able[number]!, read, done),
    })
    return jobs.filter(({ file }) => file === undefined)
  }

  #jobs(history: HarnessHistory): Iterable<Job> {
    return history.form === 'files' ? this.#jobsOfFiles(history) : this.#jobsOfDatabases(history)
  }

  *#jobsOfFiles(harness: FileHistory): Generator<Job> {
    const found: (Found & { file: HistoryFile; head: HistoryHead; size: number; done: number })[] =
      []
    for (const file of this.#files(harness)) {
      const stat = statOrUndefined(file.path)
      if (stat === undefined || this.#isBefore(stat.mtimeMs)) continue
      const head = this.#reading(file.path, () => harness.head(file))
      if (head === undefined) continue
      const target = this.#targetFor(head)
      if (target === undefined) continue
      const cursor = target.cursors.read(cursorName(harness, file))
      const done = Number(cursor?.['offset'] ?? 0)
      found.push({
        file,
        head,
        target,
        conversation: head.conversation,
        size: stat.size,
        done,
        isUnchanged: isUnchanged(cursor, stat),
      })
    }
    for (const { file, head, target, conversation, size, done, isAnew } of this.#news(found)) {
      yield {
        harness: harness.name,
        path: file.path,
        conversation,
        target,
        bytes: isAnew ? size : Math.max(0, size - done),
        file: { file, head, isAnew },
        ...(isAnew ? { overCursor: cursorName(harness, file) } : {}),
        run: (read) =>
          importFile({ harness, file, head, target, isAnew }, { isDryRun: this.#isDryRun, read }),
      }
    }
  }

  *#jobsOfDatabases(harness: DatabaseHistory): Generator<Job> {
    for (const { path } of this.#files(harness)) {
      const database = this.#reading(path, () => harness.open(path))
      if (database === undefined) continue
      this.#databases.push(database)
      const found: (Found & { session: DatabaseSession })[] = []
      for (const session of this.#reading(path, () => database.sessions()) ?? []) {
        if (this.#isBefore(session.updatedAt)) continue
        const target = this.#targetFor(session)
        if (target === undefined) continue
        found.push({
          session,
          target,
          conversation: session.conversation,
          isUnchanged: !hasNews(harness, target, session),
        })
      }
      for (const { session, target, conversation, isAnew } of this.#news(found)) {
        yield {
          harness: harness.name,
          path,
          conversation,
          target,
          ...(isAnew ? { overCursor: sessionCursorName(harness, session) } : {}),
          bytes: this.#reading(path, () => database.bytesOf(session)) ?? 0,
          run: (read) =>
            importSession(harness, database, session, target, {
              isDryRun: this.#isDryRun,
              isAnew,
              read,
            }),
        }
      }
    }
  }

  /** A pruned conversation stays pruned until it grows; then all of it is imported again. */
  #news<T extends Found>(found: readonly T[]): readonly (T & { readonly isAnew: boolean })[] {
    const grown = new Set(found.filter((each) => !each.isUnchanged).map(keyOf))
    const news = found
      .map((each) => ({ ...each, isAnew: !each.target.store.has(each.conversation) }))
      .filter((each) => !each.isUnchanged || (each.isAnew && grown.has(keyOf(each))))
    this.#upToDate += found.length - news.length
    return news
  }

  *#files(history: HarnessHistory): Generator<HistoryFile> {
    const { paths, env = process.env } = this.#request
    if (paths === undefined || paths.length === 0) yield* history.files(env)
    else
      for (const path of paths)
        yield* history.filesAt(resolve(this.#targets[0]!.workspace.cwd, path))
  }

  #targetFor(head: HistoryHead): ImportTarget | undefined {
    const isNamed = (this.#request.paths ?? []).length > 0
    const target = isNamed ? this.#targets[0] : this.#targets.find((each) => each.owns(head))
    if (target === undefined) this.#elsewhere += 1
    return target
  }

  #isBefore(millis: number): boolean {
    const { since } = this.#request
    return since !== undefined && millis < Date.parse(since)
  }

  /** An unreadable file does not stop the import. */
  #reading<T>(path: string, work: () => T): T | undefined {
    try {
      return work()
    } catch (error) {
      const problem = problemOf(error)
      if (problem === undefined) throw error
      this.#unread.push({ path, problem })
      return undefined
    }
  }
}

function keyOf({
  conversation,
  target,
}: {
  readonly conversation: string
  readonly target: ImportTarget
}): string {
  return `${target.project}\0${conversation}`
}

function add(
  added: Map<string, ImportedConversation>,
  job: Job,
  outcome: FileOutcome,
  isNew: boolean,
): void {
  const { conversation, harness, target } = job
  const key = keyOf(job)
  const before = added.get(key)
  added.set(key, {
    conversation,
    harness,
    project: target.project,
    isNew: before?.isNew ?? isNew,
    messages: (before?.messages ?? 0) + outcome.messages,
    compactions: (before?.compactions ?? 0) + outcome.compactions,
  })
}

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
