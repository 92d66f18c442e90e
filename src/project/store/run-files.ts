import { join } from 'node:path'
import { isId } from '../../journal/ids.ts'
import type { LogPaths } from '../../journal/log.ts'
import type { ProjectPaths } from './project-paths.ts'
import { listFolder } from '../../journal/read-files.ts'

export function runsFolder({ sessions }: Pick<ProjectPaths, 'sessions'>): string {
  return join(sessions, 'runs')
}

export function runFolder(place: Pick<ProjectPaths, 'sessions'>, run: string): string {
  return join(runsFolder(place), run)
}

/** Its second name survives `git clean`. */
export function runLogPaths(place: ProjectPaths, run: string): LogPaths {
  const link =
    place.repository === undefined
      ? undefined
      : join(linkFolder(place.repository.commonDir), `${run}.jsonl`)
  return { path: join(runFolder(place, run), 'log.jsonl'), link }
}

/** The `stint` on the PATH of a run's agents. */
export function runProgramPath(place: Pick<ProjectPaths, 'sessions'>, run: string): string {
  return join(runFolder(place, run), 'bin', 'stint')
}

/** The latest last. */
export function runIds(place: ProjectPaths): readonly string[] {
  const linked =
    place.repository === undefined ? [] : listFolder(linkFolder(place.repository.commonDir))
  const ids = [
    ...listFolder(runsFolder(place)),
    ...linked.map((name) => name.replace(/\.jsonl$/, '')),
  ].filter(isId)
  return [...new Set(ids)].toSorted()
}

function linkFolder(commonDir: string) {
  return join(commonDir, 'stint', 'runs')
}
