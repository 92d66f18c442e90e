import { parseDocument } from 'yaml'
import { readOrUndefined } from '../../journal/look.ts'
import { type Config, DEFAULTS, configFrom, configPath, invalid } from './config.ts'

/** The settings in the file, as plain data that the same program can read back. */
export function readSettings(path: string): unknown {
  const text = readOrUndefined(path)?.toString('utf8')
  if (text === undefined) return undefined
  const document = parseDocument(text)
  const problem = document.errors[0]
  if (problem !== undefined) throw invalid(path, problem.message.split('\n')[0]!)
  return document.toJS() ?? {}
}

/** Reads the configuration of a project. */
export function readConfig(sessions: string): Config {
  const path = configPath(sessions)
  const settings = readSettings(path)
  return settings === undefined ? DEFAULTS : configFrom(settings, path)
}
