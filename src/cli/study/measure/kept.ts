import { dirname, join } from 'node:path'
import { StintError } from '../../../journal/errors.ts'
import { createFolder, replaceFile } from '../../../journal/files.ts'
import { readOrUndefined } from '../../../journal/look.ts'
import { stateHome } from '../../../journal/state-home.ts'
import { countOf, objectOf, parseJson } from '../../../text/json-fields.ts'
import type { Measurement } from '../contract.ts'

function keptPath(env: NodeJS.ProcessEnv): string {
  return join(stateHome(env), 'measured.json')
}

/** What was measured on this machine, if anything was. */
export function readMeasured(env: NodeJS.ProcessEnv = process.env): Measurement | undefined {
  const path = keptPath(env)
  const bytes = readOrUndefined(path)
  if (bytes === undefined) return undefined
  const value = parseJson(bytes.toString('utf8'))
  if (isMeasurement(value)) return value
  throw new StintError(
    'MEASUREMENT_DAMAGED',
    `${path} is not what a measurement left there`,
    `remove it: rm ${path}`,
  )
}

export function saveMeasured(measurement: Measurement, env: NodeJS.ProcessEnv = process.env): void {
  const path = keptPath(env)
  createFolder(dirname(path))
  replaceFile(path, `${JSON.stringify(measurement, null, 2)}\n`)
}

/** Whether everything is there that is reckoned with, each figure a number. */
export function isMeasurement(value: unknown): value is Measurement {
  const fields = objectOf(value)
  const sessions = objectOf(fields?.['sessions'])
  return (
    ['at', 'version', 'machine'].every((name) => typeof fields?.[name] === 'string') &&
    hasFailures(fields) &&
    hasFailures(fields?.['control']) &&
    ['simple', 'medium', 'complex'].every((complexity) => isSessions(sessions?.[complexity]))
  )
}

function hasFailures(value: unknown): boolean {
  const fields = objectOf(value)
  return ['stale', 'conflicts', 'unreadable'].every((name) => isRate(fields?.[name]))
}

function isSessions(value: unknown): boolean {
  const fields = objectOf(value)
  const areNumbers = ['sessions', 'tasks', 'writes', 'bytes', 'commands', 'tokens'].every(
    (name) => countOf(fields?.[name]) !== undefined,
  )
  return areNumbers && isRate(fields?.['givenBack']) && isRate(fields?.['shownOnDemand'])
}

function isRate(value: unknown): boolean {
  const [happened, trials] = [
    countOf(objectOf(value)?.['happened']),
    countOf(objectOf(value)?.['trials']),
  ]
  return happened !== undefined && trials !== undefined && happened <= trials
}
