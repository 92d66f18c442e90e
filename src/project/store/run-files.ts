import { join } from 'node:path'
import { isId } from '../../journal/ids.ts'
import type { LogPaths } from '../../journal/log.ts'
import type { ProjectPaths } from './project-paths.ts'
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
  return { path: join(runFolder(paths, run), 'log.jsonl'), link }
}

/** The `stint` on the PATH of a run's agents. */
export function runProgramPath(paths: Pick<ProjectPaths, 'sessions'>, run: string): string {
  return join(runFolder(paths, run), 'bin', 'stint')
}

/** Oldest first. */
export function runIds(paths: ProjectPaths): readonly string[] {
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
