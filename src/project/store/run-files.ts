import { join } from 'node:path'
import { isId } from '../../journal/ids.ts'
import type { LogPlace } from '../../journal/log.ts'
import type { Place } from './place.ts'
import { namesIn } from '../../journal/look.ts'

export function runsFolder({ sessions }: Pick<Place, 'sessions'>): string {
  return join(sessions, 'runs')
}

export function runFolder(place: Pick<Place, 'sessions'>, run: string): string {
  return join(runsFolder(place), run)
}

/** Its second name survives `git clean`. */
export function runLogPlace(place: Place, run: string): LogPlace {
  const link =
    place.repository === undefined
      ? undefined
      : join(linkFolder(place.repository.commonDir), `${run}.jsonl`)
  return { path: join(runFolder(place, run), 'log.jsonl'), link }
}

/** The `stint` on the PATH of a run's agents. */
export function runProgram(place: Pick<Place, 'sessions'>, run: string): string {
  return join(runFolder(place, run), 'bin', 'stint')
}

/** The latest last. */
export function runIds(place: Place): readonly string[] {
  const linked =
    place.repository === undefined ? [] : namesIn(linkFolder(place.repository.commonDir))
  const ids = [
    ...namesIn(runsFolder(place)),
    ...linked.map((name) => name.replace(/\.jsonl$/, '')),
  ].filter(isId)
  return [...new Set(ids)].toSorted()
}

function linkFolder(commonDir: string) {
  return join(commonDir, 'stint', 'runs')
}
