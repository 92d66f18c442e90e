import { join, relative } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { errnoOf } from '../../journal/errors.ts'
import {
  isTemporaryName,
  removeEmptyFolder,
  removeFile,
  sweepTemporaries,
} from '../../journal/write-files.ts'
import { listFolder, readOrUndefined, statOrUndefined } from '../../journal/read-files.ts'
import { shortId } from '../../journal/ids.ts'
import { abridge, fold } from '../../session/fold.ts'
import { BACKLOG_ID } from '../../session/entries.ts'
import { checkpointCopies } from '../../document/checkpoint-copy.ts'
import { renderProgress } from '../../document/progress-file.ts'
import { readCachedState, writeSnapshot } from '../../document/snapshot.ts'
import { renderStateJson, renderStateToon } from '../../document/state-files.ts'
import { documentBase, writeView } from '../store/refresh-document.ts'
import type { LiveSession, SessionReading } from '../store/live-session.ts'
import { openSessionsFolder } from '../store/open-session-files.ts'
import { type ProjectPaths, isRefusedJournal, logPaths } from '../store/project-paths.ts'
import type { Workspace } from '../store/workspace.ts'
import {
  type DoctorCheck,
  CheckFindings,
  type LogLinkStatus,
  describeRestoredLink,
  logLinkStatus,
  pluralOf,
} from './diagnosis.ts'
import { lstatSync } from 'node:fs'
import { Log, type LogPaths } from '../../journal/log.ts'
import { type LogContents, parseLog } from '../../journal/read-log.ts'
import { runFolder, runIds, runLogPaths, claimsPath, foreignRunIds } from '../store/run-files.ts'

/** Rendering a copy costs a fold: only the newest are compared. */
const MAX_COPIES_READ = 20

/** Checks one session at a time, to bound memory. */
export class SessionChecks {
  readonly totals = { logs: 0, links: 0, documents: 0, entries: 0, damagedLines: 0 }
  readonly #journals = new CheckFindings('journals')
  readonly #beginnings = new CheckFindings('beginnings')
  readonly #links = new CheckFindings('second names')
  readonly #snapshots = new CheckFindings('snapshots')
  readonly #documents = new CheckFindings('documents')
  readonly #views = new CheckFindings('other views')
  #unlinked = 0
  readonly #sizes = new Map<string, number>()

  constructor(
    readonly workspace: Workspace,
    readonly documents: ReadonlyMap<string, readonly string[]>,
    readonly options: { readonly repair: boolean },
  ) {}

  async checkSession(id: string): Promise<void> {
    const session = this.workspace.session(id)
    const name = id === BACKLOG_ID ? 'the backlog' : `session ${shortId(id)}`
    try {
      const before = logLinkStatus(logPaths(this.workspace.paths, id))
      if (before === 'no log') {
        if (this.#isUnbegun(session, name)) return
        const why = 'its journal is gone, and so is the second name of it; what is left are views'
        this.#journals.problem(
          `${name} (${relative(this.workspace.paths.root, session.folder)}): ${why}`,
        )
        return
      }
      // Opening restores a lost name and merges two different files.
      const contents = session.log.read()
      this.#sizes.set(id, session.log.identity().size)
      this.#checkLink(id, name, before)
      this.totals.entries += contents.records.length
      this.totals.damagedLines += contents.damage.length
      for (const line of describeDamage(this.workspace.paths, contents))
        this.#journals.problem(line)
      if (id === BACKLOG_ID) return
      if (contents.records.length === 0) {
        this.#beginnings.problem(`${name}: not one entry of it can be read`)
        return
      }
      this.totals.logs += 1
      await this.#checkViews(session, name)
    } catch (error) {
      if (errnoOf(error) === undefined) throw error
      this.#journals.problem(`${name} cannot be read: ${(error as Error).message}`)
    } finally {
      session.close()
    }
  }

  /** A process killed before the first entry leaves a folder with nothing of a session in it. */
  #isUnbegun({ id, folder }: LiveSession, name: string): boolean {
    const names = listFolder(folder)
    if (id === BACKLOG_ID || names.some((file) => !isTemporaryName(file))) return false
    if (this.options.repair) {
      sweepTemporaries(folder)
      removeFile(join(openSessionsFolder(this.workspace.paths), id))
    }
    const isRemoved = this.options.repair && removeEmptyFolder(folder)
    const outcome = isRemoved ? 'its folder is removed' : '--repair removes its folder'
    this.#beginnings.note(`${name}: a process ended before its first entry; ${outcome}`)
    return true
  }

  grewMeanwhile(): number {
    return [...this.#sizes].filter(([id, size]) => {
      const { path, link } = logPaths(this.workspace.paths, id)
      const stat = statOrUndefined(path) ?? (link === undefined ? undefined : statOrUndefined(link))
      return stat !== undefined && stat.size > size
    }).length
  }

  results(): readonly DoctorCheck[] {
    const { logs, entries } = this.totals
    const hasGit = this.workspace.paths.repository !== undefined
    if (this.#unlinked > 0) {
      const why = hasGit
        ? 'this file system gives them no second name under the git directory'
        : 'there is no git repository here'
      this.#links.note(
        `${pluralOf(this.#unlinked, 'log')} would not survive rm -r .sessions: ${why}`,
      )
    }
    const outcome = this.options.repair
      ? 'rendered again'
      : 'the next command on it renders it again, and so does --repair'
    return [
      this.#journals.check(
        `${pluralOf(logs, 'session')} read whole, ${pluralOf(entries, 'entry', 'entries')}, none damaged`,
        (count) =>
          `${pluralOf(count, 'place')} cannot be read; every other entry can, and nothing was removed`,
      ),
      this.#beginnings.check(
        'every session has its beginning',
        (count) => `${pluralOf(count, 'session')} without a beginning`,
      ),
      this.#links.check('every log has its second name under the git directory', (count) =>
        pluralOf(count, 'remark'),
      ),
      this.#snapshots.check(
        'every snapshot agrees with its journal',
        (count) => `${pluralOf(count, 'snapshot')} written again`,
      ),
      this.#documents.check(
        'every document is as rendered',
        (count) => `${pluralOf(count, 'document')} edited, behind or missing; ${outcome}`,
      ),
      this.#views.check(
        'progress, state files and checkpoint copies are as rendered',
        (count) => `${pluralOf(count, 'view')} missing or not as rendered; ${outcome}`,
      ),
    ]
  }

  #checkLink(id: string, name: string, before: LogLinkStatus): void {
    const after = logLinkStatus(logPaths(this.workspace.paths, id))
    if (after === 'both' && id !== BACKLOG_ID) this.totals.links += 1
    if (after !== 'both' && !isRefusedJournal(this.workspace.paths, id)) this.#unlinked += 1
    const restored = describeRestoredLink(before, after)
    if (restored !== undefined) this.#links.note(`${name}: ${restored}`)
  }

  async #checkViews(session: LiveSession, name: string): Promise<void> {
    const reading = session.read()
    if (!reading.entries.some(({ kind }) => kind === 'session.opened')) {
      this.#beginnings.problem(
        `${name}: the entry that began it, with its name and goal, cannot be read`,
      )
    }
    const label = `${reading.state.name} (${shortId(session.id)})`
    this.#checkSnapshot(session, reading, label)
    const document = documentStatus(session, reading, this.documents)
    const exists = document !== 'missing' && document !== 'no file'
    if (exists) this.totals.documents += 1
    if (document === 'edited')
      this.#documents.note(`${label}: edited, will be absorbed by the next command on it`)
    else if (document === 'no file')
      this.#documents.note(`${label}: no file stands there but something else, to be set aside`)
    else if (document !== 'as rendered') this.#documents.note(`${label}: ${document}`)
    const outdated = outdatedViews(session, reading)
    for (const { name: view, problem } of outdated) this.#views.note(`${label}: ${view} ${problem}`)
    const isAllRight = outdated.length === 0 && ['as rendered', 'edited'].includes(document)
    if (this.options.repair && !isAllRight) {
      await this.workspace.refresh(session)
      // Refreshing leaves existing copies alone.
      for (const { name: view, text } of outdated)
        if (view.startsWith('entries')) writeView(join(session.folder, view), text())
      if (!exists) this.totals.documents += 1
    }
  }

  /** A wrong snapshot would mislead every command. */
  #checkSnapshot(session: LiveSession, { state, contents }: SessionReading, label: string): void {
    const snapshot = session.open()
    if (
      snapshot.lastId === state.lastId &&
      !isDeepStrictEqual(plain(snapshot), plain(abridge(state)))
    ) {
      writeSnapshot(session.snapshotPath, session.log, contents.end, state)
      this.#snapshots.note(`${label}: disagreed with the journal`)
    }
    const cached = readCachedState(session.cachedStatePath)
    if (cached === undefined) return
    const { records } = parseLog(contents.bytes.subarray(0, cached.beginning.end), '')
    if (isDeepStrictEqual(cached.state, plain(fold(session.id, records)))) return
    // The next command caches the state again.
    removeFile(session.cachedStatePath)
    this.#snapshots.note(`${label}: the kept state disagreed with the journal and is removed`)
  }
}

/** A snapshot from a file has no undefined fields. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}

interface OutdatedView {
  readonly name: string
  readonly problem: 'is missing' | 'shows something else'
  readonly text: () => string
}

function outdatedViews(
  session: LiveSession,
  { state, entries }: SessionReading,
): readonly OutdatedView[] {
  const copies = [...checkpointCopies(session.id, entries)].map(([name, text]) => ({
    name: join('entries', name),
    text,
  }))
  const unread = new Set(copies.slice(0, -MAX_COPIES_READ).map(({ name }) => name))
  const views = [
    { name: 'progress.md', text: () => renderProgress(state) },
    { name: 'state.json', text: () => renderStateJson(state) },
    { name: 'state.toon', text: () => renderStateToon(state) },
    ...copies,
  ]
  return views.flatMap((view): readonly OutdatedView[] => {
    const found = readText(join(session.folder, view.name))
    if (found === undefined) return [{ ...view, problem: 'is missing' }]
    return unread.has(view.name) || found === view.text()
      ? []
      : [{ ...view, problem: 'shows something else' }]
  })
}

/** The next command absorbs `edited` and quarantines `no file`. */
type DocumentStatus = 'as rendered' | 'behind' | 'edited' | 'missing' | 'misplaced' | 'no file'

function documentStatus(
  session: LiveSession,
  reading: SessionReading,
  documents: ReadonlyMap<string, readonly string[]>,
): DocumentStatus {
  const wanted = session.documentPath(reading.state)
  const existing = documents.get(shortId(session.id)) ?? []
  const own = existing.find((path) => path === wanted)
  // A killed command left it under an older name or status.
  const path = own ?? existing[0]
  if (path !== undefined && lstatSync(path, { throwIfNoEntry: false })?.isFile() === false)
    return 'no file'
  const text = path === undefined ? undefined : readText(path)
  if (text === undefined) return 'missing'
  if (text === session.document(reading)) return own === undefined ? 'misplaced' : 'as rendered'
  return documentBase(session, reading, text).isUnedited ? 'behind' : 'edited'
}

function readText(path: string): string | undefined {
  return readOrUndefined(path)?.toString('utf8')
}

export function checkRunLogs(paths: ProjectPaths): {
  readonly check: DoctorCheck
  readonly damagedLines: number
} {
  const findings = new CheckFindings('run logs')
  const runs = runIds(paths)
  const foreign = foreignRunIds(paths).length
  if (foreign > 0)
    findings.note(
      `${pluralOf(foreign, 'run log')} in .sessions/runs/ not written on this machine, and ignored`,
    )
  let damagedLines = 0
  for (const run of runs) damagedLines += checkRun(paths, run, findings)
  const claims = { path: claimsPath(paths) }
  if (logLinkStatus(claims) !== 'no log') {
    const damage = describeDamage(paths, readLog(claims))
    // Claims matter only while their process lives.
    for (const line of damage) findings.note(`${line}; no task is lost by it`)
    damagedLines += damage.length
  }
  const ok =
    runs.length === 0
      ? 'there was no run yet'
      : `${pluralOf(runs.length, 'log')} read whole, none damaged`
  return { check: findings.check(ok, (count) => pluralOf(count, 'remark')), damagedLines }
}

function checkRun(paths: ProjectPaths, run: string, findings: CheckFindings): number {
  const name = `run ${shortId(run)}`
  const log = runLogPaths(paths, run)
  const before = logLinkStatus(log)
  if (before === 'no log') {
    // A process killed before its first entry leaves an empty folder.
    if (listFolder(runFolder(paths, run)).length > 0)
      findings.problem(`${name}: its log is gone, and so is the second name of it`)
    return 0
  }
  try {
    // Opening restores a lost name and merges two different files.
    const contents = readLog(log)
    const restored = describeRestoredLink(before, logLinkStatus(log))
    if (restored !== undefined) findings.note(`${name}: ${restored}`)
    const damage = describeDamage(paths, contents)
    for (const line of damage) findings.problem(line)
    if (!contents.records.some(({ kind }) => kind === 'run.started')) {
      findings.problem(
        `${name}: the entry that began it cannot be read; what it did is in the journals of its sessions`,
      )
    }
    return damage.length
  } catch (error) {
    if (errnoOf(error) === undefined) throw error
    findings.problem(`${name} cannot be read: ${(error as Error).message}`)
    return 0
  }
}

function readLog(paths: LogPaths): LogContents {
  const log = new Log(paths)
  try {
    return log.read()
  } finally {
    log.close()
  }
}

function describeDamage(paths: ProjectPaths, { damage }: LogContents): readonly string[] {
  return damage.map(
    ({ file, line, reason, preview }) =>
      `${relative(paths.root, file)}:${line} ${reason}: ${preview}`,
  )
}
