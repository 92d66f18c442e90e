import { join } from 'node:path'
import { isId } from '../../journal/ids.ts'
import { Log, type LogPaths, isOwnLog } from '../../journal/log.ts'
import type { ProjectPaths } from './project-paths.ts'
import { ownMarkPath } from '../config/consent.ts'
import { listFolder } from '../../journal/read-files.ts'

export function runsFolder({ sessions }: Pick<ProjectPaths, 'sessions'>): string {
  return join(sessions, 'runs')
}

export function runFolder(paths: Pick<ProjectPaths, 'sessions'>, run: string): string {
  return join(runsFolder(paths), run)
}

/** Its second name survives `git clean`. */
export function runLogPaths(paths: ProjectPaths, run: string): LogPaths {
  const link =
    paths.repository === undefined
      ? undefined
      : join(linkFolder(paths.repository.commonDir), `${run}.jsonl`)
  return {
    path: join(runFolder(paths, run), 'log.jsonl'),
    link,
    ownMark: ownMarkPath(paths.root, run),
  }
}

/** The `stint` on the PATH of a run's agents. */
export function runProgramPath(paths: Pick<ProjectPaths, 'sessions'>, run: string): string {
  return join(runFolder(paths, run), 'bin', 'stint')
}

/** In the git directory, which no clone carries: a claim decides what waits and which process is ended. */
export function claimsPath(paths: ProjectPaths): string {
  const { repository } = paths
  const folder = repository === undefined ? runsFolder(paths) : linkFolder(repository.commonDir)
  return join(folder, 'claims.jsonl')
}

/** The runs of this machine, oldest first. */
export function runIds(paths: ProjectPaths): readonly string[] {
  return allRunIds(paths).filter((run) => !isForeignRun(paths, run))
}

/** Runs whose logs came with the repository. Nothing reads them, as a log names folders and processes. */
export function foreignRunIds(paths: ProjectPaths): readonly string[] {
  return allRunIds(paths).filter((run) => isForeignRun(paths, run))
}

export function isForeignRun(paths: ProjectPaths, run: string): boolean {
  if (!isId(run)) return true
  const log = runLogPaths(paths, run)
  return !isOwnLog(log) && new Log(log).exists()
}

function allRunIds(paths: ProjectPaths): readonly string[] {
  const linked =
    paths.repository === undefined ? [] : listFolder(linkFolder(paths.repository.commonDir))
  const ids = [
    ...listFolder(runsFolder(paths)),
    ...linked.map((name) => name.replace(/\.jsonl$/, '')),
  ].filter(isId)
  return [...new Set(ids)].toSorted()
}

function linkFolder(commonDir: string) {
  return join(commonDir, 'stint', 'runs')
}
