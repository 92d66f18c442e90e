import { existsSync, readdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import { errnoOf } from '../../journal/errors.ts'
import { shortId } from '../../journal/ids.ts'
import { Log, type LogPlace } from '../../journal/log.ts'
import type { LogContents } from '../../journal/read.ts'
import type { Place } from '../store/place.ts'
import { runFolder, runIds, runLogPlace, runsFolder } from '../store/run-files.ts'
import { type Check, Findings, namesMended, namesOf, plural } from './report.ts'

export function checkRunLogs(place: Place): {
  readonly check: Check
  readonly damagedLines: number
} {
  const findings = new Findings('run logs')
  const runs = runIds(place)
  let damagedLines = 0
  for (const run of runs) damagedLines += lookAtRun(place, run, findings)
  const claims = { path: join(runsFolder(place), 'claims.jsonl') }
  if (namesOf(claims) !== 'no log') {
    const damage = linesDamaged(place, readWhole(claims))
    // Claims matter only while their process lives.
    for (const line of damage) findings.note(`${line}; no task is lost by it`)
    damagedLines += damage.length
  }
  const ok =
    runs.length === 0
      ? 'there was no run yet'
      : `${plural(runs.length, 'log')} read whole, none damaged`
  return { check: findings.check(ok, (count) => plural(count, 'remark')), damagedLines }
}

function lookAtRun(place: Place, run: string, findings: Findings): number {
  const name = `run ${shortId(run)}`
  const log = runLogPlace(place, run)
  const before = namesOf(log)
  if (before === 'no log') {
    // A process killed before its first entry leaves an empty folder.
    if (!isEmpty(runFolder(place, run)))
      findings.problem(`${name}: its log is gone, and so is the second name of it`)
    return 0
  }
  try {
    // Opening restores a lost name and merges two different files.
    const contents = readWhole(log)
    const mended = namesMended(before, namesOf(log))
    if (mended !== undefined) findings.note(`${name}: ${mended}`)
    const damage = linesDamaged(place, contents)
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

function readWhole(place: LogPlace): LogContents {
  const log = new Log(place)
  try {
    return log.read()
  } finally {
    log.close()
  }
}

function linesDamaged(place: Place, { damage }: LogContents): readonly string[] {
  return damage.map(
    ({ file, line, reason, preview }) =>
      `${relative(place.root, file)}:${line} ${reason}: ${preview}`,
  )
}

function isEmpty(folder: string): boolean {
  return !existsSync(folder) || readdirSync(folder).length === 0
}
