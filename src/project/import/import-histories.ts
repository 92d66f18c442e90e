import { StintError } from '../../journal/errors.ts'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import type {
  ConversationDatabase,
  DatabaseHistory,
  FileHistory,
  HarnessHistory,
  HistoryFile,
  HistoryHead,
} from '../../harness/contract/history.ts'
import { importableHarnesses, loadHistory } from '../../harness/registry.ts'
import { knownProjects, rememberProject } from '../../index/projects.ts'
import { statOrUndefined } from '../../journal/read-files.ts'
import { Workspace } from '../store/workspace.ts'
import { type ImportLock, ImportTarget, isFileUnchanged } from './import-target.ts'
import {
  type FileOutcome,
  cursorName,
  hasNews,
  importFile,
  importSession,
  sessionCursorName,
} from './import-file.ts'
import { type ThreadJob, importInThreads, importProblem, threadProgram } from './import-threads.ts'

/** Below this, starting threads costs more than it saves. */
const THREADED_BYTES = 64 * 1024 * 1024
/** Other writers of the index wait this long. */
const INDEXING_MS = 250

/** May be interrupted at any time; the next call continues. */
export function importHistories(
  workspace: Workspace,
  request: ImportRequest = {},
): Promise<ImportReport> {
  return new HistoryImport(workspace, request).run()
}

/** A conversation in a file or database. */
interface ImportSource {
  readonly harness: string
  readonly path: string
  readonly conversation: string
  readonly target: ImportTarget
  readonly isUnchanged: boolean
  readonly cursor: string
  /** Absent when only this thread can read it. */
  readonly file?: { readonly file: HistoryFile; readonly head: HistoryHead }
  bytes(isFromStart: boolean): number
  run(isFromStart: boolean, read: (bytes: number) => void): FileOutcome | undefined
}

type ImportJob = ImportSource & { readonly isFromStart: boolean; readonly size: number }
type OnRead = (bytes: number) => void
type OnDone = (job: ImportJob, outcome: FileOutcome | undefined) => void

class HistoryImport {
  readonly #request: ImportRequest
  readonly #here: ImportTarget
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
        ? knownProjects().filter((root) => root !== workspace.paths.root)
        : []
    this.#here = new ImportTarget(workspace)
    this.#targets = [this.#here, ...others.flatMap((root) => this.#targetAt(root))]
  }

  async run(): Promise<ImportReport> {
    try {
      const harnesses = this.#request.harnesses ?? importableHarnesses()
      const jobs: ImportJob[] = []
      for (const name of importableHarnesses().filter((each) => harnesses.includes(each))) {
        const history = await loadHistory(name)
        const sources =
          history.form === 'files' ? this.#fileSources(history) : this.#sessionSources(history)
        jobs.push(...this.#findNew([...sources]))
      }
      if (!this.#isDryRun) this.#prepare(jobs)
      const report = await this.#runJobs(jobs)
      // Indexing needs no lock.
      this.#release()
      if (!this.#isDryRun)
        await this.#index(new Set([this.#here, ...jobs.map(({ target }) => target)]))
      return report
    } finally {
      for (const database of this.#databases) database.close()
      this.#release()
    }
  }

  #targetAt(root: string) {
    try {
      return [new ImportTarget(new Workspace(root))]
    } catch (error) {
      if (!(error instanceof StintError)) throw error
      this.#unread.push({ path: root, problem: error.message })
      return []
    }
  }

  #release() {
    for (const lock of this.#locks.splice(0)) lock.release()
  }

  #prepare(jobs: readonly ImportJob[]) {
    for (const target of new Set(jobs.map((job) => job.target))) {
      target.workspace.prepare()
      this.#locks.push(target.lock())
      rememberProject(target.project)
    }
    // Before anything is stored, so that an interrupted import continues correctly.
    for (const { target, cursor, isFromStart } of jobs)
      if (isFromStart) target.cursors.forget(cursor)
  }

  /** Also indexes what an interrupted import left; a search reads the rest. */
  async #index(targets: ReadonlySet<ImportTarget>) {
    for (const target of targets) {
      const { workspace } = target
      if (!workspace.hasConversations()) continue
      const index = await workspace.index()
      const totalBytes = index.syncMessages(0).bytesLeft
      let before = Infinity
      // Stop where other processes store faster than this reads.
      for (let left = totalBytes; left > 0 && left < before;) {
        const bytes = totalBytes - left
        this.#request.tell?.({ bytes, totalBytes, files: 0, totalFiles: 0, isIndexing: true })
        await new Promise((resolve) => setImmediate(resolve))
        before = left
        left = index.syncMessages(INDEXING_MS).bytesLeft
      }
      if (target !== this.#here) workspace.close()
    }
  }

  async #runJobs(jobs: readonly ImportJob[]) {
    const added = new Map<string, ImportedConversation>()
    const newJobs = new Set(
      jobs.filter(({ target, conversation }) => !target.store.has(conversation)),
    )
    const totalBytes = jobs.reduce((sum, job) => sum + job.size, 0)
    let [bytes, files, damaged] = [0, 0, 0]
    const reportProgress = () => {
      for (const lock of this.#locks) lock.touch()
      this.#request.tell?.({ bytes, totalBytes, files, totalFiles: jobs.length })
    }
    const read = (more: number) => {
      bytes += more
      reportProgress()
    }
    const done: OnDone = (job, outcome) => {
      files += 1
      reportProgress()
      if (outcome === undefined) return
      damaged += outcome.damaged
      if (outcome.messages + outcome.compactions === 0) this.#upToDate += 1
      else addOutcome(added, job, outcome, newJobs.has(job))
    }
    reportProgress()
    for (const job of await this.#runInThreads(jobs, read, done)) this.#importHere(job, read, done)
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

  #importHere(job: ImportJob, read: OnRead, done: OnDone) {
    done(
      job,
      this.#tryRead(job.path, () => job.run(job.isFromStart, read)),
    )
  }

  /** Returns the jobs left for this thread. */
  async #runInThreads(jobs: readonly ImportJob[], read: OnRead, done: OnDone) {
    const threadable = jobs.filter(({ file }) => file !== undefined)
    const isLarge = threadable.reduce((sum, job) => sum + job.size, 0) >= THREADED_BYTES
    const count = this.#request.threads ?? (isLarge ? availableParallelism() : 1)
    const program = count > 1 ? threadProgram() : undefined
    if (program === undefined) return jobs
    const groups = new Map<string, ThreadJob[]>()
    for (const [number, job] of threadable.entries()) {
      const { harness, file, isFromStart, target } = job
      const { project } = target
      const key = keyOf(job)
      const forThread = {
        number,
        harness,
        ...file!,
        isFromStart,
        project,
        isDryRun: this.#isDryRun,
      }
      groups.set(key, [...(groups.get(key) ?? []), forThread])
    }
    await importInThreads(program, count, [...groups.values()], {
      read,
      done: (outcome) => {
        const job = threadable[outcome.number]!
        if (outcome.type === 'unread')
          this.#unread.push({ path: job.path, problem: outcome.problem })
        done(job, outcome.type === 'done' ? outcome.outcome : undefined)
      },
      importHere: (number) => this.#importHere(threadable[number]!, read, done),
    })
    return jobs.filter(({ file }) => file === undefined)
  }

  *#fileSources(harness: FileHistory): Generator<ImportSource> {
    for (const file of this.#files(harness)) {
      const { path } = file
      const stat = statOrUndefined(path)
      if (stat === undefined || this.#isBefore(stat.mtimeMs)) continue
      const head = this.#tryRead(path, () => harness.head(file))
      const target = head && this.#targetFor(head)
      if (head === undefined || target === undefined) continue
      const cursor = cursorName(harness, file)
      const known = target.cursors.read(cursor)
      const done = Number(known?.['offset'] ?? 0)
      yield {
        harness: harness.name,
        path,
        conversation: head.conversation,
        target,
        isUnchanged: isFileUnchanged(known, stat),
        cursor,
        file: { file, head },
        bytes: (isFromStart) => (isFromStart ? stat.size : Math.max(0, stat.size - done)),
        run: (isFromStart, read) =>
          importFile(
            { harness, file, head, target, isFromStart },
            { isDryRun: this.#isDryRun, read },
          ),
      }
    }
  }

  *#sessionSources(harness: DatabaseHistory): Generator<ImportSource> {
    for (const { path } of this.#files(harness)) {
      const database = this.#tryRead(path, () => harness.open(path))
      if (database === undefined) continue
      this.#databases.push(database)
      for (const session of this.#tryRead(path, () => database.sessions()) ?? []) {
        if (this.#isBefore(session.updatedAt)) continue
        const target = this.#targetFor(session)
        if (target === undefined) continue
        yield {
          harness: harness.name,
          path,
          conversation: session.conversation,
          target,
          isUnchanged: !hasNews(harness, target, session),
          cursor: sessionCursorName(harness, session),
          bytes: () => this.#tryRead(path, () => database.bytesOf(session)) ?? 0,
          run: (isFromStart, read) =>
            importSession(harness, database, session, target, {
              isDryRun: this.#isDryRun,
              isFromStart,
              read,
            }),
        }
      }
    }
  }

  /** A pruned conversation stays pruned until it grows; then all of it is imported again. */
  #findNew(found: readonly ImportSource[]) {
    const grown = new Set(found.filter((each) => !each.isUnchanged).map(keyOf))
    const news = found.flatMap((each) => {
      const isFromStart = !each.target.store.has(each.conversation)
      const isNews = !each.isUnchanged || (isFromStart && grown.has(keyOf(each)))
      return isNews ? [{ ...each, isFromStart, size: each.bytes(isFromStart) }] : []
    })
    this.#upToDate += found.length - news.length
    return news
  }

  *#files(history: HarnessHistory): Generator<HistoryFile> {
    const { paths = [], env = process.env } = this.#request
    if (paths.length === 0) yield* history.files(env)
    for (const path of paths) yield* history.filesAt(resolve(this.#here.workspace.cwd, path))
  }

  #targetFor(head: HistoryHead) {
    const isNamed = (this.#request.paths ?? []).length > 0
    const target = isNamed ? this.#here : this.#targets.find((each) => each.owns(head))
    if (target === undefined) this.#elsewhere += 1
    return target
  }

  #isBefore(millis: number) {
    const { since } = this.#request
    return since !== undefined && millis < Date.parse(since)
  }

  /** An unreadable file does not stop the import. */
  #tryRead<T>(path: string, work: () => T) {
    try {
      return work()
    } catch (error) {
      const problem = importProblem(error)
      if (problem === undefined) throw error
      this.#unread.push({ path, problem })
      return undefined
    }
  }
}

function keyOf({ conversation, target }: ImportSource) {
  return `${target.project}\0${conversation}`
}

function addOutcome(
  added: Map<string, ImportedConversation>,
  job: ImportJob,
  outcome: FileOutcome,
  isNew: boolean,
) {
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
  /** Default: all. */
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
