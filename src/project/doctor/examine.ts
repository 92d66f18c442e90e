import { join } from 'node:path'
import { StintError } from '../../journal/errors.ts'
import { statOrUndefined } from '../../journal/look.ts'
import { configPath } from '../config/config.ts'
import { SessionChecks, listDocuments } from './session-check.ts'
import { checkHistory } from './history-check.ts'
import { checkHooks } from './hook-check.ts'
import { checkIndex, checkTasks } from './index-check.ts'
import { checkLeftovers } from './leftovers.ts'
import { checkFileSystem, checkSpace, checkVersions } from './machine.ts'
import { type Check, type Counts, type Diagnosis, Findings } from './report.ts'
import { checkRunLogs } from './run-log-check.ts'
import { logIds } from '../store/place.ts'
import type { Workspace } from '../store/workspace.ts'

export type { Check, Counts, Diagnosis } from './report.ts'

export interface DoctorOptions {
  /** Renders outdated views and removes half-written files of killed processes. */
  readonly repair?: boolean
}

/**
 * Restores lost names of logs and rebuilds a wrong index or snapshot; never repairs by deleting.
 */
export async function examine(
  workspace: Workspace,
  options: DoctorOptions = {},
): Promise<Diagnosis> {
  const { place } = workspace
  const repair = options.repair === true
  const config = checkConfig(workspace)
  const isIgnored = checkIgnored(workspace)
  const sessions = new SessionChecks(workspace, listDocuments(place.sessions), { repair })
  for (const id of logIds(place)) await sessions.look(id)
  const runs = checkRunLogs(place)
  const hasSessions = workspace.hasSessions()
  const index = hasSessions ? await checkIndex(workspace) : undefined
  const tasks =
    index?.check.status === 'problem' || !hasSessions
      ? undefined
      : await checkTasks(workspace, { repair })
  const { logs, links, documents, entries, damagedLines } = sessions.totals
  const counts: Counts = {
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
    ...checkLeftovers(place, { repair }),
    checkHooks(place),
    config,
    isIgnored,
    checkFileSystem(place),
    checkSpace(place),
    checkVersions(),
  ]
  return { isHealthy: checks.every(({ status }) => status !== 'problem'), checks, counts }
}

function checkCounts({ sessions, entries, grewMeanwhile }: Counts): Check {
  const findings = new Findings('counts')
  const say = (line: string) => {
    if (grewMeanwhile > 0) findings.note(`${line} (somebody is writing just now)`)
    else findings.problem(line)
  }
  if (sessions.logs !== sessions.index)
    say(`${sessions.logs} sessions in logs, ${sessions.index} in the index`)
  if (entries.read !== entries.indexed)
    say(`${entries.read} entries read, ${entries.indexed} indexed`)
  return findings.check('logs and index agree', () => 'logs and index do not agree')
}

function checkConfig(workspace: Workspace): Check {
  const findings = new Findings('configuration')
  const hasFile = statOrUndefined(configPath(workspace.place.sessions)) !== undefined
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

function checkIgnored(workspace: Workspace): Check {
  const { place, config } = workspace
  const findings = new Findings('ignored by git')
  if (place.repository === undefined) return findings.check('no git repository here')
  const isShared = config.share === 'git'
  const wanted = isShared ? ['.gitignore', '.gitattributes'] : ['.gitignore']
  const missing = wanted.filter((name) => statOrUndefined(join(place.sessions, name)) === undefined)
  if (statOrUndefined(place.sessions) !== undefined && missing.length > 0) {
    workspace.prepare()
    const why = isShared ? 'a merge could break a log' : 'journals could be committed by accident'
    findings.note(
      `${missing.join(' and ')} in .sessions/ was missing, so that ${why}; it is there again`,
    )
  }
  if (isShared)
    return findings.check('shared through git, as config.yaml says', () => 'shared through git')
  return findings.check('nothing of .sessions/ is committed', () => 'was not ignored')
}
