// What agents have said on this machine, brought into the project it was said in.
import { resolve } from 'node:path'
import { claudeHistory } from '../harness/claude/history.ts'
import { codexHistory } from '../harness/codex/history.ts'
import { geminiHistory } from '../harness/gemini/history.ts'
import type { HistoryFile, HistoryHarness, HistoryHead } from '../harness/history.ts'
import { OpencodeHistory, opencodeFiles, opencodeFilesAt } from '../harness/opencode/history.ts'
import { knownProjects } from '../index/projects.ts'
import { isBusy, isCorrupt, isUnwritable } from '../index/sqlite.ts'
import { StintError, errnoOf } from '../journal/errors.ts'
import { statOrUndefined } from '../journal/look.ts'
import { Workspace } from '../project/workspace.ts'
import type { ImportReport, ImportRequest, ImportedConversation } from './contract.ts'
import { isUnchanged } from './cursor.ts'
import { hasNews, importSession } from './import-database.ts'
import { type FileOutcome, cursorName, importFile } from './import-file.ts'
import { ImportTarget } from './target.ts'

const OF_FILES: readonly HistoryHarness[] = [claudeHistory, codexHistory, geminiHistory]
export const IMPORTED_HARNESSES = [...OF_FILES.map(({ name }) => name), 'opencode']

/** Brings in what is new. May be ended at any time, and goes on from there when it is called again. */
export function importHistories(workspace: Workspace, request: ImportRequest = {}): ImportReport {
  return new Import(workspace, request).run()
}

/** Something to be read, with how much there is of it. */
interface Job {
  readonly harness: string
  readonly path: string
  readonly conversation: string
  readonly target: ImportTarget
  readonly bytes: number
  run(read: (bytes: number) => void): FileOutcome | undefined
}

class Import {
  readonly #request: ImportRequest
  readonly #targets: readonly ImportTarget[]
  readonly #unread: { path: string; problem: string }[] = []
  readonly #histories: OpencodeHistory[] = []
  readonly #isDryRun: boolean
  #upToDate = 0
  #elsewhere = 0

  constructor(workspace: Workspace, request: ImportRequest) {
    this.#request = request
    this.#isDryRun = request.isDryRun === true
    const others = request.allProjects === true ? knownProjects().filter((root) => root !== workspace.place.root) : []
    this.#targets = [workspace, ...others.map((root) => new Workspace(root))].map((each) => new ImportTarget(each))
  }

  run(): ImportReport {
    try {
      const jobs = [...this.#jobs()]
      const total = jobs.reduce((sum, job) => sum + job.bytes, 0)
      return this.#work(jobs, total)
    } finally {
      for (const history of this.#histories) history.close()
    }
  }

  #work(jobs: readonly Job[], totalBytes: number): ImportReport {
    const added = new Map<string, ImportedConversation>()
    let [bytes, files, damaged] = [0, 0, 0]
    const tell = () => this.#request.tell?.({ bytes, totalBytes, files, totalFiles: jobs.length })
    tell()
    for (const job of jobs) {
      const before = bytes
      if (!this.#isDryRun) job.target.workspace.prepare()
      const isNew = !job.target.store.has(job.conversation)
      const outcome = this.#reading(job.path, () =>
        job.run((read) => {
          bytes += read
          tell()
        }),
      )
      files += 1
      bytes = Math.max(bytes, before + (outcome?.bytes ?? 0))
      tell()
      if (outcome === undefined) continue
      damaged += outcome.damaged
      if (outcome.messages + outcome.compactions === 0) this.#upToDate += 1
      else add(added, job, outcome, isNew)
    }
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

  *#jobs(): Generator<Job> {
    const wanted = this.#request.harnesses ?? IMPORTED_HARNESSES
    for (const harness of OF_FILES) if (wanted.includes(harness.name)) yield* this.#jobsOfFiles(harness)
    if (wanted.includes('opencode')) yield* this.#jobsOfDatabases()
  }

  *#jobsOfFiles(harness: HistoryHarness): Generator<Job> {
    for (const file of this.#files(
      (env) => harness.files(env),
      (path) => harness.filesAt(path),
    )) {
      const stat = statOrUndefined(file.path)
      if (stat === undefined || this.#isBefore(stat.mtimeMs)) continue
      const head = this.#reading(file.path, () => harness.head(file))
      if (head === undefined) continue
      const target = this.#targetFor(head)
      if (target === undefined) continue
      const cursor = target.cursors.read(cursorName(harness, file))
      if (isUnchanged(cursor, stat)) {
        this.#upToDate += 1
        continue
      }
      const done = Number(cursor?.['offset'] ?? 0)
      yield {
        harness: harness.name,
        path: file.path,
        conversation: head.conversation,
        target,
        bytes: Math.max(0, stat.size - done),
        run: (read) => importFile({ harness, file, head, target }, { isDryRun: this.#isDryRun, read }),
      }
    }
  }

  *#jobsOfDatabases(): Generator<Job> {
    for (const { path } of this.#files(opencodeFiles, opencodeFilesAt)) {
      const history = this.#reading(path, () => new OpencodeHistory(path))
      if (history === undefined) continue
      this.#histories.push(history)
      for (const session of this.#reading(path, () => history.sessions()) ?? []) {
        if (this.#isBefore(session.updatedAt)) continue
        const target = this.#targetFor(session)
        if (target === undefined) continue
        if (!hasNews(target, session)) {
          this.#upToDate += 1
          continue
        }
        yield {
          harness: 'opencode',
          path,
          conversation: session.conversation,
          target,
          bytes: this.#reading(path, () => history.bytesOf(session)) ?? 0,
          run: (read) => importSession(history, session, target, { isDryRun: this.#isDryRun, read }),
        }
      }
    }
  }

  *#files(
    everywhere: (env: NodeJS.ProcessEnv) => Iterable<HistoryFile>,
    at: (path: string) => Iterable<HistoryFile>,
  ): Generator<HistoryFile> {
    const { paths, env = process.env } = this.#request
    if (paths === undefined || paths.length === 0) yield* everywhere(env)
    else for (const path of paths) yield* at(resolve(this.#targets[0]!.workspace.cwd, path))
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

  /** One file that cannot be read is no reason to import none. */
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

function add(added: Map<string, ImportedConversation>, job: Job, outcome: FileOutcome, isNew: boolean): void {
  const { conversation, harness, target } = job
  const key = `${target.project}\0${conversation}`
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

/** Why a history cannot be read now; undefined for what is no fault of it. */
function problemOf(error: unknown): string | undefined {
  if (isBusy(error)) return 'its harness is writing to it; import again later'
  if (isCorrupt(error)) return 'it is damaged'
  // What cannot be written is ours, and is no matter of one file.
  if (error instanceof StintError) return undefined
  const isOfDatabase = isUnwritable(error) || /no such (?:table|column)/.test(String((error as Error).message))
  return isOfDatabase || errnoOf(error) !== undefined ? (error as Error).message : undefined
}
