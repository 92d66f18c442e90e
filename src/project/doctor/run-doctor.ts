import { join, relative } from 'node:path'
import { StintError } from '../../journal/errors.ts'
import { statOrUndefined } from '../../journal/read-files.ts'
import { configPath } from '../config/config.ts'
import { SessionChecks, checkRunLogs } from './session-check.ts'
import { checkHookErrors, checkOrphanedFiles } from './orphaned-files.ts'
import { checkSavedCode } from './saved-code.ts'
import { checkFileSystem, checkSpace, checkVersions } from './machine.ts'
import { type DoctorCounts, type Diagnosis, CheckFindings, pluralOf } from './diagnosis.ts'
import {
  type ProjectPaths,
  documentsByShortId,
  isRefusedJournal,
  notIgnored,
  logIds,
  restrictAccess,
} from '../store/project-paths.ts'
import type { Workspace } from '../store/workspace.ts'
import type { SessionIndex, IndexVerification } from '../../index/open-index.ts'
import { quarantineIndex } from '../../index/index-file.ts'
import { shortId } from '../../journal/ids.ts'
import { foldBacklog } from '../../backlog/backlog.ts'
import { TaskFiles } from '../../backlog/task-files.ts'
import { isUntouched, renderTaskFile, hasSameContent } from '../../backlog/task-file-format.ts'
import { openBacklog } from '../tasks/project-backlog.ts'
import { formatSize } from '../../text/format-amounts.ts'
import { Blobs, listBlobs, blobHashesIn } from '../../history/blobs.ts'
import { blobsFolder } from '../../history/paths.ts'
import { openConversationStore, totalBytes } from '../history/history.ts'

export type { DoctorCheck, DoctorCounts, Diagnosis } from './diagnosis.ts'

export interface DoctorOptions {
  /** Renders outdated views, removes half-written files of killed processes, and references whose objects are gone. */
  readonly repair?: boolean
}

/**
 * Restores lost names of logs and rebuilds a wrong index or snapshot; never repairs a journal by deleting.
 */
export async function runDoctor(
  workspace: Workspace,
  options: DoctorOptions = {},
): Promise<Diagnosis> {
  const { paths } = workspace
  const repair = options.repair === true
  const config = checkConfig(workspace)
  const isIgnored = checkIgnored(workspace)
  const sessions = new SessionChecks(workspace, documentsByShortId(paths), { repair })
  for (const id of logIds(paths)) await sessions.checkSession(id)
  const runs = checkRunLogs(paths)
  const hasSessions = workspace.hasSessions()
  const index = hasSessions ? await checkIndex(workspace) : undefined
  const tasks =
    index?.check.status === 'problem' || !hasSessions
      ? undefined
      : await checkTasks(workspace, { repair })
  const { logs, links, documents, entries, damagedLines } = sessions.totals
  const counts: DoctorCounts = {
    sessions: { logs, links, index: index?.totals.sessions ?? 0, documents },
    entries: { read: entries, indexed: index?.totals.entries ?? 0 },
    tasks: { backlog: tasks?.backlog ?? 0, files: tasks?.files ?? 0 },
    damagedLines: damagedLines + runs.damagedLines,
    grewMeanwhile: sessions.grewMeanwhile(),
  }
  const checks = [
    ...sessions.results(),
    ...(index === undefined ? [] : [index.check]),
    ...(tasks === undefined ? [] : [tasks.check]),
    checkCounts(counts),
    runs.check,
    checkHistory(workspace),
    checkSavedCode(paths, { repair }),
    ...checkOrphanedFiles(paths, { repair }),
    checkHookErrors(paths),
    config,
    checkTrust(workspace),
    isIgnored,
    checkAccess(paths, repair),
    checkFileSystem(paths),
    checkSpace(paths),
    checkVersions(),
  ]
  return { isHealthy: checks.every(({ status }) => status !== 'problem'), checks, counts }
}

function checkCounts({ sessions, entries, grewMeanwhile }: DoctorCounts) {
  const findings = new CheckFindings('counts')
  const report = (line: string) => {
    if (grewMeanwhile > 0) findings.note(`${line} (somebody is writing just now)`)
    else findings.problem(line)
  }
  if (sessions.logs !== sessions.index)
    report(`${sessions.logs} sessions in logs, ${sessions.index} in the index`)
  if (entries.read !== entries.indexed)
    report(`${entries.read} entries read, ${entries.indexed} indexed`)
  return findings.check('logs and index agree', () => 'logs and index do not agree')
}

function checkConfig(workspace: Workspace) {
  const findings = new CheckFindings('configuration')
  const hasFile = statOrUndefined(configPath(workspace.paths.sessions)) !== undefined
  try {
    void workspace.config
  } catch (error) {
    if (!(error instanceof StintError)) throw error
    findings.problem(`${error.message}; ${error.hint ?? ''}`)
    workspace.assumeDefaults()
  }
  return findings.check(
    hasFile ? 'config.yaml is in order' : 'no config.yaml, so the defaults hold',
    () => 'config.yaml cannot be used',
  )
}

/** What is left out until the user agrees is no defect, but explains why it has no effect. */
function checkTrust({ paths, config: { withheld } }: Workspace) {
  const findings = new CheckFindings('trust')
  const foreign = [...logIds(paths)].filter((id) => isRefusedJournal(paths, id)).length
  if (withheld.length > 0) findings.note(`not used until you agree: ${withheld.join(', ')}`)
  if (foreign > 0)
    findings.note(`${pluralOf(foreign, 'journal')} from elsewhere, not used until you agree`)
  return findings.check(
    'nothing here waits for your agreement',
    () => 'something here waits for your agreement: stint trust shows it and asks',
  )
}

/** The folders themselves are private whenever a command has run; a checkout may open a file in them again. */
function checkAccess(paths: ProjectPaths, repair: boolean) {
  const findings = new CheckFindings('permissions')
  const changed = repair ? restrictAccess(paths, true) : 0
  if (changed > 0)
    findings.note(
      `${pluralOf(changed, 'file or folder', 'files or folders')} could be read by others`,
    )
  return findings.check('only you can read the journals', () => 'closed to other users again')
}

function checkIgnored(workspace: Workspace) {
  const { paths, config } = workspace
  const findings = new CheckFindings('ignored by git')
  if (paths.repository === undefined) return findings.check('no git repository here')
  const isShared = config.share === 'git'
  const wanted = isShared ? ['.gitignore', '.gitattributes'] : ['.gitignore']
  const missing = wanted.filter((name) => statOrUndefined(join(paths.sessions, name)) === undefined)
  if (statOrUndefined(paths.sessions) !== undefined && missing.length > 0) {
    workspace.prepare()
    const why = isShared ? 'a merge could break a log' : 'journals could be committed by accident'
    findings.note(
      `${missing.join(' and ')} in .sessions/ was missing, so that ${why}; it is there again`,
    )
  }
  if (!isShared && statOrUndefined(paths.sessions) !== undefined) {
    const open = notIgnored(paths)
    workspace.prepare()
    const left = notIgnored(paths)
    if (open.length > left.length)
      findings.note(
        '.sessions/.gitignore did not keep journals out of git; it was replaced with the one of Stint',
      )
    if (left.length > 0)
      findings.problem(`git would add ${left.join(', ')}: another ignore rule allows it`)
  }
  if (isShared)
    return findings.check('shared through git, as config.yaml says', () => 'shared through git')
  return findings.check('nothing of .sessions/ is committed', () => 'was not ignored')
}

async function checkIndex(workspace: Workspace) {
  const findings = new CheckFindings('index')
  try {
    let index = await workspace.index()
    let found = verifyTwice(index)
    if (!isCorrect(found)) {
      for (const line of describe(found)) findings.note(line)
      const path = join(workspace.paths.sessions, 'index.db')
      workspace.close()
      const aside = quarantineIndex(path, statOrUndefined(path)?.ino)
      if (aside !== undefined)
        findings.note(`the old one is ${relative(workspace.paths.root, aside)}`)
      index = await workspace.index()
      found = verifyTwice(index)
      if (!isCorrect(found))
        for (const line of describe(found))
          findings.problem(`still, after it was built anew: ${line}`)
    }
    const totals = index.counts()
    const check = findings.check(
      `${pluralOf(found.checked, 'log')} compared, every entry is there`,
      () => 'differed and was built anew',
    )
    return { check, totals }
  } catch (error) {
    if (!(error instanceof StintError)) throw error
    findings.problem(error.message)
    return {
      check: findings.check('', () => 'could not be opened'),
      totals: { sessions: 0, entries: 0 },
    }
  }
}

/** Another process may append during the first check. */
function verifyTwice(index: SessionIndex) {
  index.sync({ full: true })
  const first = index.verify()
  if (isCorrect(first)) return first
  index.sync({ full: true })
  return index.verify()
}

function isCorrect({ differing, damage }: IndexVerification) {
  return differing.length === 0 && damage.length === 0
}

function describe({ differing, damage }: IndexVerification) {
  const counts = differing.map(
    ({ id, indexed, inLog }) => `session ${shortId(id)}: ${indexed} indexed, ${inLog} in the log`,
  )
  return [...counts, ...damage]
}

async function checkTasks(workspace: Workspace, options: { repair: boolean }) {
  const findings = new CheckFindings('tasks')
  const store = new TaskFiles(workspace.paths.tasks)
  const backlog = foldBacklog([...(await workspace.index()).taskEntries()])
  const files = store.read()
  const name = (path: string) => relative(workspace.paths.root, path)
  for (const file of files) {
    if (file.damage !== undefined)
      findings.note(`${name(file.path)}: ${file.damage}; the next task command sets it aside`)
    else if (!isUntouched(file.text))
      findings.note(`${name(file.path)}: edited, will be absorbed by the next task command`)
  }
  let isOutdated = false
  for (const task of backlog.tasks) {
    const path = store.pathOf(task)
    const own = files.filter((file) => file.id === task.id && !file.isCopy)
    const file = own.find((one) => one.path === path)
    if (
      own.some((one) => !isUntouched(one.text)) ||
      (file !== undefined && hasSameContent(file.text, renderTaskFile(task, backlog)))
    )
      continue
    isOutdated = true
    findings.note(`${name(path)}: ${file === undefined ? 'missing' : 'behind'}`)
  }
  if (options.repair && isOutdated) await openBacklog(workspace)
  const outcome =
    options.repair && isOutdated ? 'written again' : 'the next task command settles it'
  const hasTasks = backlog.tasks.length > 0 || statOrUndefined(workspace.paths.tasks) !== undefined
  const ok = hasTasks
    ? `${pluralOf(backlog.tasks.length, 'task')}, every file shows its own`
    : 'none yet'
  return {
    check: findings.check(
      ok,
      (count) => `${pluralOf(count, 'task file')} edited, behind or missing; ${outcome}`,
    ),
    backlog: backlog.tasks.length,
    files: files.length,
  }
}

function checkHistory(workspace: Workspace) {
  const { paths } = workspace
  const findings = new CheckFindings('conversations')
  const stored = openConversationStore(workspace).list()
  const blobFiles = listBlobs(paths.sessions)
  const blobs = new Blobs(blobsFolder(paths.sessions))
  for (const { hash, path } of blobFiles) {
    if ('placeholder' in blobs.get({ hash, length: 0 }))
      findings.problem(`${relative(paths.root, path)} is damaged; a text stands in for it`)
  }
  const present = new Set(blobFiles.map(({ hash }) => hash))
  const referenced = new Set<string>()
  for (const { id, path } of stored) {
    let unreadable = 0
    const names = new Set(blobHashesIn(path, () => (unreadable += 1)))
    // Not a problem: a truncated line was written again after it.
    if (unreadable > 0)
      findings.note(
        `${relative(paths.root, path)}: ${pluralOf(unreadable, 'line')} of it cannot be read, and ${unreadable === 1 ? 'is' : 'are'} passed over`,
      )
    const missing = [...names].filter((hash) => !present.has(hash)).length
    // Also after `stint history prune --outputs`.
    if (missing > 0)
      findings.note(`${id}: ${pluralOf(missing, 'large output')} of it not here any more`)
    for (const hash of names) referenced.add(hash)
  }
  const unreferenced = blobFiles.filter(({ hash }) => !referenced.has(hash))
  if (unreferenced.length > 0)
    findings.note(
      `${pluralOf(unreferenced.length, 'large output')} of no conversation, ${formatSize(totalBytes(unreferenced))}; stint history prune frees them`,
    )
  const ok =
    stored.length === 0
      ? 'none is stored yet'
      : `${pluralOf(stored.length, 'conversation')}, ${formatSize(totalBytes(stored) + totalBytes(blobFiles))}, all whole`
  return findings.check(ok, (count) => pluralOf(count, 'remark'))
}
