import { randomBytes } from 'node:crypto'
import { existsSync, lstatSync } from 'node:fs'
import { basename, dirname, join, relative, sep } from 'node:path'
import { withLock } from '../../history/lock.ts'
import { blobsFolder, conversationsFolder } from '../../history/paths.ts'
import { quarantineIndex } from '../../index/index-file.ts'
import { JournalMissing, StintError } from '../../journal/errors.ts'
import { moveFile, removeFile } from '../../journal/write-files.ts'
import { listFolder, readOrUndefined, statOrUndefined } from '../../journal/read-files.ts'
import { stateHome } from '../../journal/state-home.ts'
import { shortId } from '../../journal/ids.ts'
import type { LogPaths } from '../../journal/log.ts'
import { readLog } from '../../journal/read-log.ts'
import { BACKLOG_ID } from '../../session/entries.ts'
import { isUntouched } from '../../backlog/task-file-format.ts'
import { isRecord } from '../../backlog/task.ts'
import { checkpointCopies } from '../../document/checkpoint-copy.ts'
import { isAlive } from '../../harness/process/spawn-guarded.ts'
import { openBacklog } from '../tasks/project-backlog.ts'
import { exportedFiles, isExport, recordChangedExport } from '../export/written-exports.ts'
import { writeView } from '../store/refresh-document.ts'
import { refuseInRun } from '../store/run-environment.ts'
import type { LiveSession } from '../store/live-session.ts'
import {
  type ProjectPaths,
  documentsByShortId,
  logIds,
  logPaths,
  ownFolders,
} from '../store/project-paths.ts'
import { runIds, runLogPaths, runProgramPath } from '../store/run-files.ts'
import type { Workspace } from '../store/workspace.ts'
import { type SavedCodeMatch, dropSavedCode, findSavedCode } from './saved-code.ts'
import { PurgeMatcher } from './purge-matcher.ts'
import {
  countInFile,
  filesUnder,
  fileContains,
  readTextOr,
  scrubBlobs,
  scrubFile,
  scrubFileName,
} from './scrub-files.ts'
import { isReplacedLog, rewriteLog } from './rewrite-log.ts'

export interface PurgeOptions {
  readonly text: string
  readonly dryRun?: boolean
  /** Drop saved code that holds it. */
  readonly checkpoints?: boolean
}

export interface Purged {
  readonly isDryRun: boolean
  readonly replacements: number
  /** Relative to the project root. */
  readonly files: readonly { readonly path: string; readonly replacements: number }[]
  readonly checkpoints: readonly (SavedCodeMatch & { readonly isDropped: boolean })[]
  readonly isCodeSearched: boolean
  /** Files where the text is part of an id, a kind or a heading, or is written again. */
  readonly remaining: readonly string[]
  /** Refs of saved code that still holds it. */
  readonly remainingCode: readonly string[]
  readonly isComplete: boolean
}

// One round works, one finds nothing; more when the text is written again meanwhile.
const MAX_ROUNDS = 6

/** Records nothing about the text; a killed purge is finished by the next. */
export async function purgeText(
  workspace: Workspace,
  { text, dryRun: isDryRun = false, checkpoints = false }: PurgeOptions,
): Promise<Purged> {
  const needle = new PurgeMatcher(text)
  if (!isDryRun) refuseInRun(workspace, 'rewriting journals')
  const { paths } = workspace
  const purge = new Purge(workspace, needle)
  if (isDryRun) purge.look()
  else for (let round = 0; round < MAX_ROUNDS && (await purge.round(round === 0)) > 0;) round += 1
  if (purge.found.size > 0) {
    if (workspace.config.share === 'git')
      workspace.say(
        'journals are shared through git here: what was committed of them holds it still, here and wherever it was pushed',
      )
    for (const run of isDryRun ? [] : purge.activeRuns)
      workspace.say(
        `run ${shortId(run)} is going on and may write down again what it was told: purge once more when it has ended`,
      )
  }
  const { repository } = paths
  const saved =
    repository === undefined
      ? []
      : workspace.unlessGitFails('the code of checkpoints could not be searched', () =>
          findSavedCode(repository, needle),
        )
  const isDropped = !isDryRun && checkpoints
  if (isDropped && repository !== undefined) dropSavedCode(repository, saved ?? [])
  const relativeToRoot = (path: string) => relative(paths.root, path)
  const files = [...purge.found].map(([path, replacements]) => ({
    path: relativeToRoot(path),
    replacements,
  }))
  const remaining = isDryRun ? [] : purge.remaining().map(relativeToRoot)
  const remainingCode = isDropped ? [] : (saved ?? []).map(({ ref }) => ref)
  const isFound = remaining.length > 0 || remainingCode.length > 0 || (isDryRun && files.length > 0)
  return {
    isDryRun,
    replacements: files.reduce((sum, file) => sum + file.replacements, 0),
    files,
    checkpoints: (saved ?? []).map((code) => ({ ...code, isDropped })),
    isCodeSearched: saved !== undefined,
    remaining,
    remainingCode,
    isComplete: !isFound && saved !== undefined,
  }
}

class Purge {
  /** Occurrences by file. */
  readonly found = new Map<string, number>()
  readonly activeRuns: readonly string[]
  readonly #paths: ProjectPaths
  readonly #rendered = new Set<string>()

  constructor(
    readonly workspace: Workspace,
    readonly needle: PurgeMatcher,
  ) {
    this.#paths = workspace.paths
    this.activeRuns = runIds(this.#paths).filter((run) => isRunActive(this.#paths, run))
  }

  look(): void {
    const logs = [...logIds(this.#paths)].map((id) => logPaths(this.#paths, id))
    for (const log of [...logs, ...this.#runLogs()]) this.#rewrite(log, true)
    this.#blobs(true)
    for (const path of this.#otherFiles())
      this.#count(path, scrubFile(path, this.needle, { dryRun: true }))
  }

  /** Returns the number of replacements. */
  async round(isFirst: boolean): Promise<number> {
    const { needle } = this
    const taskFiles = [...filesUnder(this.#paths.tasks)].filter(
      (path) => this.#isTaskFile(path) && fileContains(path, needle),
    )
    const before = new Map(taskFiles.map((path) => [path, countInFile(path, needle)]))
    // Edits become entries first, and are purged with the journals.
    if (taskFiles.length > 0) await this.#tasks()
    let done = 0
    const documents = documentsByShortId(this.#paths)
    for (const id of logIds(this.#paths))
      done += await this.#session(id, documents.get(shortId(id)) ?? [])
    if (isFirst || done > 0 || taskFiles.length > 0) {
      await this.#rebuildIndex()
      await this.#tasks()
    }
    for (const log of this.#runLogs()) done += this.#rewrite(log, false)
    for (const [path, count] of before)
      if (!fileContains(path, needle)) done += this.#count(path, count)
    done += this.#blobs(false)
    for (const path of this.#otherFiles()) done += this.#otherFile(path)
    return done
  }

  remaining(): readonly string[] {
    const files = this.#folders().flatMap((folder) =>
      [...filesUnder(folder)].filter((path) => !isIndex(path)),
    )
    return [...files, ...exportedFiles(this.workspace)].filter((path) =>
      fileContains(path, this.needle),
    )
  }

  async #session(id: string, documents: readonly string[]) {
    const { workspace, needle } = this
    const log = logPaths(this.#paths, id)
    if (id === BACKLOG_ID) return this.#rewrite(log, false)
    return workspace.withSession(id, async (session) => {
      const regular = documents.filter((path) => lstatSync(path).isFile())
      const views = [...viewsOf(session), ...regular].filter((view) => fileContains(view, needle))
      if (views.length === 0 && rewriteLog(log, needle, { dryRun: true }) === 0) return 0
      const counts = new Map(views.map((view) => [view, countInFile(view, needle)]))
      const isReadable = await withdrawDocument(workspace, session)
      let done = this.#rewrite(log, false)
      if (isReadable)
        for (const view of await renderAgain(workspace, session, needle)) this.#rendered.add(view)
      for (const [view, count] of counts)
        if (!fileContains(view, needle)) done += this.#count(view, count)
      return done
    })
  }

  #rewrite(log: LogPaths, dryRun: boolean) {
    return this.#count(log.path, rewriteLog(log, this.needle, { dryRun }))
  }

  #blobs(dryRun: boolean) {
    let done = 0
    for (const [path, count] of scrubBlobs(this.workspace, this.needle, { dryRun }))
      done += this.#count(path, count)
    return done
  }

  #otherFile(path: string) {
    // A running agent's program holds paths of this machine, without which it could not report.
    const isInUse = this.activeRuns.some((run) => runProgramPath(this.#paths, run) === path)
    if (this.#rendered.has(path) || isInUse) return 0
    // What an unedited task file still shows is not part of the task.
    if (this.#isTaskFile(path) && isUntouched(readTextOr(path, ''))) return 0
    const scrub = () => ({ count: scrubFile(path, this.needle, { dryRun: false }) })
    // A copier does not check whether its file was replaced.
    const isConversation = dirname(path) === conversationsFolder(this.#paths.sessions)
    const done = this.#count(path, (isConversation ? withLock(path, scrub) : scrub()).count)
    if (done > 0) recordChangedExport(this.workspace, path)
    const isNamedByText = path.endsWith('.md') && NAMED_AFTER_TEXT.has(basename(dirname(path)))
    return isNamedByText && scrubFileName(path, this.needle) !== undefined ? done + 1 : done
  }

  /** Logs are rewritten with their links, blobs renamed, and the index is rebuilt. */
  *#otherFiles(): Iterable<string> {
    const logs = [...logIds(this.#paths)].map((id) => logPaths(this.#paths, id))
    const rewritten = new Set(
      [...logs, ...this.#runLogs()].flatMap(({ path, link }) => [path, link]),
    )
    const blobs = blobsFolder(this.#paths.sessions) + sep
    for (const folder of this.#folders())
      for (const path of filesUnder(folder)) {
        const isDoneElsewhere = rewritten.has(path) || path.startsWith(blobs) || isIndex(path)
        if (!isDoneElsewhere && !isReplacedLog(basename(path))) yield path
      }
    // An edited export belongs to the user, and is only reported.
    const { workspace } = this
    yield* exportedFiles(workspace).filter((path) =>
      isExport(workspace, path, readOrUndefined(path) ?? Buffer.alloc(0)),
    )
  }

  /** Includes outputs of commands run outside any project. */
  #folders() {
    return [...ownFolders(this.#paths), join(stateHome(), 'artifacts')]
  }

  #runLogs() {
    return runIds(this.#paths).map((run) => runLogPaths(this.#paths, run))
  }

  #isTaskFile(path: string) {
    return dirname(dirname(path)) === this.#paths.tasks && !path.includes('set-aside')
  }

  /** SQLite keeps the text on freed pages, so the index is a new file. */
  async #rebuildIndex() {
    const { sessions } = this.#paths
    const path = join(sessions, 'index.db')
    this.workspace.close()
    if (!existsSync(sessions)) return
    // Moved away first: other processes may be about to open it.
    await this.#withIndex(() => quarantineIndex(path, statOrUndefined(path)?.ino))
    for (const name of listFolder(sessions))
      if (isIndex(name) && !name.endsWith('.lock')) removeFile(join(sessions, name))
    await this.#withIndex(() => this.workspace.index())
  }

  async #tasks() {
    if (existsSync(this.#paths.tasks)) await this.#withIndex(() => openBacklog(this.workspace))
  }

  /** Without SQLite there is no index or backlog; files are scrubbed all the same. */
  async #withIndex(work: () => unknown) {
    try {
      await work()
    } catch (error) {
      if (!(error instanceof StintError && error.code === 'NO_SQLITE')) throw error
      this.workspace.say(error.message)
    }
  }

  #count(path: string, count: number) {
    if (count > 0) this.found.set(path, (this.found.get(path) ?? 0) + count)
    return count
  }
}

const NAMED_AFTER_TEXT = new Set(['active', 'archive', 'set-aside'])

function isIndex(path: string) {
  return basename(path).startsWith('index.db')
}

const RUNNER_ENTRIES = new Set(['run.started', 'run.resumed', 'run.ended'])

/** Only reads: opening the log would restore a lost name. */
function isRunActive(paths: ProjectPaths, run: string) {
  const { path, link } = runLogPaths(paths, run)
  const file = [path, link].find((name) => name !== undefined && existsSync(name))
  if (file === undefined) return false
  const { records } = readLog(file)
  const { runner } = records.findLast(({ kind }) => RUNNER_ENTRIES.has(kind))?.data ?? {}
  const { pid, startedAt, mark } = isRecord(runner) ? runner : {}
  return (
    typeof pid === 'number' &&
    typeof startedAt === 'string' &&
    typeof mark === 'string' &&
    isAlive({ pid, startedAt, mark })
  )
}

const MAX_WITHDRAWALS = 5
const VIEWS = ['progress.md', 'state.json', 'state.toon', 'state.kept', 'snapshot.json']

function viewsOf({ folder }: LiveSession) {
  const copies = join(folder, 'entries')
  return [
    ...VIEWS.map((name) => join(folder, name)).filter((path) => existsSync(path)),
    ...listFolder(copies).map((name) => join(copies, name)),
  ]
}

/**
 * Absorbs edits and removes the document: against the rewritten log its lines would look like edits
 * and bring the text back. False when the session is unreadable.
 */
async function withdrawDocument(workspace: Workspace, session: LiveSession) {
  for (let round = 0, isEdited = true; isEdited && round < MAX_WITHDRAWALS; round += 1) {
    let wanted: string
    try {
      wanted = session.document(await workspace.refresh(session))
    } catch (error) {
      const isEmpty = error instanceof StintError && error.code === 'SESSION_EMPTY'
      if (error instanceof JournalMissing || isEmpty) return false
      throw error
    }
    isEdited = false
    for (const document of documentsByShortId(session.paths).get(shortId(session.id)) ?? []) {
      // Named like the taken document of a killed command, so that it is read again.
      const name = `taken-${randomBytes(6).toString('hex')}-${basename(document)}`
      const taken = join(session.folder, name)
      moveFile(document, taken)
      if (readTextOr(taken, wanted) === wanted) removeFile(taken)
      else isEdited = true
    }
  }
  return true
}

/** Returns the rendered files. */
async function renderAgain(workspace: Workspace, session: LiveSession, needle: PurgeMatcher) {
  const { state, entries } = await workspace.refresh(session, { isDurable: true })
  // Precomputed for hooks; the next event computes it again.
  removeFile(join(session.folder, 'prepared.json'))
  const copies = [...checkpointCopies(session.id, entries)].map(([name, text]) => {
    const path = join(session.folder, 'entries', name)
    if (fileContains(path, needle)) writeView(path, text(), { isDurable: true })
    return path
  })
  const views = VIEWS.map((name) => join(session.folder, name))
  return [...views, ...copies, session.documentPath(state)]
}
