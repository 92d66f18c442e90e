import { existsSync, readdirSync } from 'node:fs'
import { basename, dirname, join, relative, sep } from 'node:path'
import { GitFailed } from '../../git/run-git.ts'
import { onceUnlocked } from '../../history/lock.ts'
import { blobsFolder, conversationsFolder } from '../../history/places.ts'
import { setAside } from '../../index/index-file.ts'
import { JournalMissing, StintError } from '../../journal/errors.ts'
import { moveFile, removeFile } from '../../journal/files.ts'
import { readOrUndefined, statOrUndefined } from '../../journal/look.ts'
import { stateHome } from '../../journal/state-home.ts'
import { isId, shortId } from '../../journal/ids.ts'
import type { LogPlace } from '../../journal/log.ts'
import { BACKLOG_ID } from '../../session/entries.ts'
import { isUntouched } from '../../backlog/task-file.ts'
import { openBacklog } from '../tasks/backlog.ts'
import { exportedFiles, isExport, noteChangedExport } from '../export/written.ts'
import { refuseInRun } from '../store/in-run.ts'
import { type Place, logIds, logPlace } from '../store/place.ts'
import { type HoldingCode, dropKeptCode, findKeptCode } from './kept-code.ts'
import { Needle } from './needle.ts'
import {
  countIn,
  filesUnder,
  holds,
  readTextOr,
  scrubBlobs,
  scrubFile,
  scrubFileName,
} from './other-files.ts'
import { isReplacedLog, rewriteLog } from './rewrite-log.ts'
import { runIds, runLogPlace, runProgram } from '../store/run-files.ts'
import type { Workspace } from '../store/workspace.ts'
import { isAlive } from '../../harness/process/spawn-guarded.ts'
import { readLog } from '../../journal/read.ts'
import { isRecord } from '../../backlog/task.ts'
import { randomBytes } from 'node:crypto'
import { checkpointCopies } from '../../document/checkpoint-copy.ts'
import { writeView } from '../store/documents.ts'
import type { LiveSession } from '../store/live-session.ts'

export interface PurgeOptions {
  readonly text: string
  readonly dryRun?: boolean
  /** Drop kept code that holds it. */
  readonly checkpoints?: boolean
}

export interface Purged {
  readonly isDryRun: boolean
  readonly replacements: number
  /** From the root of the project. */
  readonly files: readonly { readonly path: string; readonly replacements: number }[]
  readonly checkpoints: readonly (HoldingCode & { readonly isDropped: boolean })[]
  readonly isCodeSearched: boolean
  /** Files where the text is part of an id, a kind or a heading, or is written again. */
  readonly remaining: readonly string[]
  /** Refs of kept code that still holds it. */
  readonly remainingCode: readonly string[]
  readonly isComplete: boolean
}

// One round works, one finds nothing; more when the text is written again meanwhile.
const ROUNDS = 6

/** Records nothing about the text; a killed purge is finished by the next. */
export async function purgeText(workspace: Workspace, options: PurgeOptions): Promise<Purged> {
  const needle = new Needle(options.text)
  const isDryRun = options.dryRun === true
  if (!isDryRun) refuseInRun(workspace, 'rewriting journals')
  const purge = new Purge(workspace, needle)
  if (isDryRun) purge.look()
  else for (let round = 0; round < ROUNDS && (await purge.round(round === 0)) > 0;) round += 1
  if (workspace.config.share === 'git' && purge.found.size > 0) {
    workspace.say(
      'journals are shared through git here: what was committed of them holds it still, here and wherever it was pushed',
    )
  }
  if (!isDryRun && purge.found.size > 0) {
    for (const run of purge.goingOn) {
      workspace.say(
        `run ${shortId(run)} is going on and may write down again what it was told: purge once more when it has ended`,
      )
    }
  }
  const kept = searchCode(workspace, needle)
  const isDropped = !isDryRun && options.checkpoints === true
  if (isDropped && kept !== undefined) dropKeptCode(workspace.place.repository!, kept)
  const files = [...purge.found].map(([path, replacements]) => ({
    path: relative(workspace.place.root, path),
    replacements,
  }))
  const remaining = isDryRun
    ? []
    : purge.remaining().map((path) => relative(workspace.place.root, path))
  const remainingCode = isDropped ? [] : (kept ?? []).map(({ ref }) => ref)
  const isFound = remaining.length > 0 || remainingCode.length > 0 || (isDryRun && files.length > 0)
  return {
    isDryRun,
    replacements: files.reduce((sum, file) => sum + file.replacements, 0),
    files,
    checkpoints: (kept ?? []).map((code) => ({ ...code, isDropped })),
    isCodeSearched: kept !== undefined,
    remaining,
    remainingCode,
    isComplete: !isFound && kept !== undefined,
  }
}

function searchCode(workspace: Workspace, needle: Needle): readonly HoldingCode[] | undefined {
  const { repository } = workspace.place
  if (repository === undefined) return []
  try {
    return findKeptCode(repository, needle)
  } catch (error) {
    if (!(error instanceof GitFailed)) throw error
    workspace.say(`the code of checkpoints could not be searched: ${error.message}`)
    return undefined
  }
}

class Purge {
  /** Occurrences by file. */
  readonly found = new Map<string, number>()
  readonly goingOn: readonly string[]
  readonly #rendered = new Set<string>()

  constructor(
    readonly workspace: Workspace,
    readonly needle: Needle,
  ) {
    this.goingOn = runsGoingOn(workspace.place)
  }

  look(): void {
    const { place } = this.workspace
    for (const log of [
      ...[...logIds(place)].map((id) => logPlace(place, id)),
      ...this.#runLogs(),
    ]) {
      this.#note(log.path, rewriteLog(log, this.needle, { dryRun: true }))
    }
    for (const [path, count] of scrubBlobs(this.workspace, this.needle, { dryRun: true }))
      this.#note(path, count)
    for (const path of this.#otherFiles())
      this.#note(path, scrubFile(path, this.needle, { dryRun: true }))
  }

  async round(isFirst: boolean): Promise<number> {
    const taskFiles = this.#taskFiles().filter((path) => holds(path, this.needle))
    const before = new Map(taskFiles.map((path) => [path, countIn(path, this.needle)]))
    // Edits become entries first, and are purged with the journals.
    if (taskFiles.length > 0) await this.#tasks()
    let done = 0
    const documents = this.#documents()
    for (const id of logIds(this.workspace.place))
      done += await this.#session(id, documents.get(shortId(id)) ?? [])
    if (isFirst || done > 0 || taskFiles.length > 0) {
      await this.#rebuildIndex()
      await this.#tasks()
    }
    for (const log of this.#runLogs())
      done += this.#note(log.path, rewriteLog(log, this.needle, { dryRun: false }))
    for (const [path, count] of before)
      if (!holds(path, this.needle)) done += this.#note(path, count)
    for (const [path, count] of scrubBlobs(this.workspace, this.needle, { dryRun: false }))
      done += this.#note(path, count)
    for (const path of this.#otherFiles()) done += this.#otherFile(path)
    return done
  }

  remaining(): readonly string[] {
    const own = this.#folders().flatMap((folder) =>
      [...filesUnder(folder)].filter((path) => !isIndex(path)),
    )
    return [...own, ...exportedFiles(this.workspace)].filter((path) => holds(path, this.needle))
  }

  async #session(id: string, documents: readonly string[]): Promise<number> {
    const { workspace, needle } = this
    const { path } = logPlace(workspace.place, id)
    if (id === BACKLOG_ID) return this.#note(path, this.#inLog(id, false))
    const session = workspace.session(id)
    try {
      const views = [...viewsOf(session).filter((view) => holds(view, needle)), ...documents]
      if (views.length === 0 && this.#inLog(id, true) === 0) return 0
      const counts = new Map(views.map((view) => [view, countIn(view, needle)]))
      const isReadable = await withdrawDocument(workspace, session)
      let done = this.#note(path, this.#inLog(id, false))
      if (isReadable)
        for (const view of await renderAnew(workspace, session, needle)) this.#rendered.add(view)
      for (const [view, count] of counts) if (!holds(view, needle)) done += this.#note(view, count)
      return done
    } finally {
      session.close()
    }
  }

  #inLog(id: string, dryRun: boolean): number {
    return rewriteLog(logPlace(this.workspace.place, id), this.needle, { dryRun })
  }

  #otherFile(path: string): number {
    if (this.#rendered.has(path) || this.#isProgramInUse(path)) return 0
    // A task file as rendered: the text left there is not of the task.
    if (this.#isTaskFile(path) && isUntouched(readTextOr(path, ''))) return 0
    const done = this.#note(path, this.#scrub(path))
    if (done > 0) noteChangedExport(this.workspace, path)
    const isNamedByText = path.endsWith('.md') && NAMED_AFTER_TEXT.has(basename(dirname(path)))
    return isNamedByText && scrubFileName(path, this.needle) !== undefined ? done + 1 : done
  }

  #scrub(path: string): number {
    const scrub = () => ({ count: scrubFile(path, this.needle, { dryRun: false }) })
    // A copier does not check whether its file was replaced.
    const isConversation = dirname(path) === conversationsFolder(this.workspace.place.sessions)
    return (isConversation ? onceUnlocked(path, scrub) : scrub()).count
  }

  /** Not logs, rewritten with their links; not blobs, named by content; not the index, rebuilt. */
  *#otherFiles(): Iterable<string> {
    const runLogs = new Set(this.#runLogs().flatMap(({ path, link }) => [path, link]))
    for (const folder of this.#folders()) {
      for (const path of filesUnder(folder)) {
        const isDoneElsewhere = runLogs.has(path) || this.#isSessionLog(path) || this.#isBlob(path)
        if (!isDoneElsewhere && !isIndex(path) && !isReplacedLog(basename(path))) yield path
      }
    }
    // An edited export belongs to the user, and is only reported.
    const { workspace } = this
    yield* exportedFiles(workspace).filter((path) =>
      isExport(workspace, path, readOrUndefined(path) ?? Buffer.alloc(0)),
    )
  }

  /** Includes outputs of commands run outside any project. */
  #folders(): readonly string[] {
    const { sessions, tasks, repository } = this.workspace.place
    const machine = join(stateHome(), 'artifacts')
    return [
      sessions,
      tasks,
      machine,
      ...(repository === undefined ? [] : [join(repository.commonDir, 'stint')]),
    ]
  }

  #documents(): ReadonlyMap<string, readonly string[]> {
    const found = new Map<string, string[]>()
    for (const path of ['active', 'archive'].flatMap((name) => [
      ...filesUnder(join(this.workspace.place.sessions, name)),
    ])) {
      const id = /-([0-9a-f]{6})\.md$/.exec(path)?.[1]
      if (id !== undefined && holds(path, this.needle))
        found.set(id, [...(found.get(id) ?? []), path])
    }
    return found
  }

  #isSessionLog(path: string): boolean {
    const id = basename(path) === 'log.jsonl' ? basename(dirname(path)) : basename(path, '.jsonl')
    const { path: log, link } = logPlace(this.workspace.place, id === 'backlog' ? BACKLOG_ID : id)
    return (path === log || path === link) && (id === 'backlog' || isId(id))
  }

  #isBlob(path: string): boolean {
    return path.startsWith(blobsFolder(this.workspace.place.sessions) + sep)
  }

  #runLogs(): readonly LogPlace[] {
    const { place } = this.workspace
    return runIds(place).map((run) => runLogPlace(place, run))
  }

  /** It holds paths of this machine; without them a running agent could not report. */
  #isProgramInUse(path: string): boolean {
    return this.goingOn.some((run) => runProgram(this.workspace.place, run) === path)
  }

  #isTaskFile(path: string): boolean {
    return dirname(dirname(path)) === this.workspace.place.tasks && !path.includes('set-aside')
  }

  #taskFiles(): readonly string[] {
    return [...filesUnder(this.workspace.place.tasks)].filter((path) => this.#isTaskFile(path))
  }

  /** SQLite keeps the text on freed pages, so the index is a new file. */
  async #rebuildIndex(): Promise<void> {
    const { sessions } = this.workspace.place
    const path = join(sessions, 'index.db')
    this.workspace.close()
    if (statOrUndefined(sessions) === undefined) return
    // Moved away first: other processes may be about to open it.
    await this.#withIndex(() => setAside(path, statOrUndefined(path)?.ino))
    for (const name of readdirSync(sessions))
      if (isIndex(name) && !name.endsWith('.lock')) removeFile(join(sessions, name))
    await this.#withIndex(() => this.workspace.index())
  }

  async #tasks(): Promise<void> {
    if (statOrUndefined(this.workspace.place.tasks) !== undefined)
      await this.#withIndex(() => openBacklog(this.workspace))
  }

  /** Without SQLite there is no index or backlog; files are scrubbed all the same. */
  async #withIndex(work: () => unknown): Promise<void> {
    try {
      await work()
    } catch (error) {
      if (!(error instanceof StintError && error.code === 'NO_SQLITE')) throw error
      this.workspace.say(error.message)
    }
  }

  #note(path: string, count: number): number {
    if (count > 0) this.found.set(path, (this.found.get(path) ?? 0) + count)
    return count
  }
}

const NAMED_AFTER_TEXT = new Set(['active', 'archive', 'set-aside'])

function isIndex(path: string): boolean {
  return basename(path).startsWith('index.db')
}

/** Reads only: a log that lost a name does not get it back here. */
function runsGoingOn(place: Place): readonly string[] {
  return runIds(place).filter((run) => isGoingOn(place, run))
}

const ABOUT_THE_RUNNER = new Set(['run.started', 'run.resumed', 'run.ended'])

function isGoingOn(place: Place, run: string): boolean {
  const { path, link } = runLogPlace(place, run)
  const file = [path, link].find(
    (name) => name !== undefined && statOrUndefined(name) !== undefined,
  )
  if (file === undefined) return false
  const { runner } =
    readLog(file).records.findLast(({ kind }) => ABOUT_THE_RUNNER.has(kind))?.data ?? {}
  if (!isRecord(runner)) return false
  const { pid, startedAt, mark } = runner
  return (
    typeof pid === 'number' &&
    typeof startedAt === 'string' &&
    typeof mark === 'string' &&
    isAlive({ pid, startedAt, mark })
  )
}

const WITHDRAWALS = 5
const VIEWS = ['progress.md', 'state.json', 'state.toon', 'state.kept', 'snapshot.json']

export function viewsOf(session: LiveSession): readonly string[] {
  const inFolder = VIEWS.map((name) => join(session.folder, name)).filter((path) =>
    existsSync(path),
  )
  return [...inFolder, ...namesIn(join(session.folder, 'entries'))]
}

/**
 * Absorbs edits and removes the document: against the rewritten log its lines would look like
 * edits and bring the text back. False when the session is unreadable.
 */
export async function withdrawDocument(
  workspace: Workspace,
  session: LiveSession,
): Promise<boolean> {
  for (let round = 0, isEdited = true; isEdited && round < WITHDRAWALS; round += 1) {
    let wanted: string
    try {
      const reading = await workspace.refresh(session)
      wanted = session.document(reading)
    } catch (error) {
      if (
        error instanceof JournalMissing ||
        (error instanceof StintError && error.code === 'SESSION_EMPTY')
      )
        return false
      throw error
    }
    isEdited = false
    for (const document of documentsOf(session)) {
      // Named like a document that a killed command had taken, so that it is read again.
      const taken = join(
        session.folder,
        `taken-${randomBytes(6).toString('hex')}-${basename(document)}`,
      )
      moveFile(document, taken)
      if (readTextOr(taken, wanted) === wanted) removeFile(taken)
      else isEdited = true
    }
  }
  return true
}

/** Returns the rendered files. */
export async function renderAnew(
  workspace: Workspace,
  session: LiveSession,
  needle: Needle,
): Promise<readonly string[]> {
  const { state, entries } = await workspace.refresh(session, { isDurable: true })
  // Precomputed for hooks; the next event makes it again.
  removeFile(join(session.folder, 'prepared.json'))
  const copies: string[] = []
  for (const [name, text] of checkpointCopies(session.id, entries)) {
    const path = join(session.folder, 'entries', name)
    if (holds(path, needle)) writeView(path, text(), { isDurable: true })
    copies.push(path)
  }
  return [
    ...VIEWS.map((name) => join(session.folder, name)),
    ...copies,
    session.documentPath(state),
  ]
}

function documentsOf(session: LiveSession): readonly string[] {
  const suffix = `-${shortId(session.id)}.md`
  const folders = ['active', 'archive'].map((name) => join(session.place.sessions, name))
  return folders.flatMap(namesIn).filter((path) => path.endsWith(suffix))
}

function namesIn(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : []
}
