import { parseDocument } from 'yaml'
import { readOrUndefined } from '../../journal/look.ts'
import { type Config, DEFAULTS, configPath } from './config.ts'
import { configFrom, invalid } from './parse-config.ts'

export function readSettings(path: string): unknown {
  const text = readOrUndefined(path)?.toString('utf8')
  if (text === undefined) return undefined
  const document = parseDocument(text)
  const problem = document.errors[0]
  if (problem !== undefined) throw invalid(path, problem.message.split('\n')[0]!)
  return document.toJS() ?? {}
}

export function readConfig(sessions: string): Config {
  const path = configPath(sessions)
  const settings = readSettings(path)
  return settings === undefined ? DEFAULTS : configFrom(settings, path)
}
