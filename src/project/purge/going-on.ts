import { isAlive } from '../../harness/process/strays.ts'
import { statOrUndefined } from '../../journal/look.ts'
import { readLog } from '../../journal/read.ts'
import { isRecord } from '../../backlog/canonical.ts'
import type { Place } from '../store/place.ts'
import { runIds, runLogPlace } from '../store/run-files.ts'

/** The runs that somebody runs now. Only looks: no name is given back to a log that lost one. */
export function runsGoingOn(place: Place): readonly string[] {
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
