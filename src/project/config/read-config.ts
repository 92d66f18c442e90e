import { parseDocument } from 'yaml'
import { readOrUndefined } from '../../journal/read-files.ts'
import { type Config, DEFAULT_CONFIG, configPath } from './config.ts'
import { parseConfig, invalidConfig } from './config-schema.ts'

export function readConfig(sessions: string): Config {
  const path = configPath(sessions)
  const text = readOrUndefined(path)?.toString('utf8')
  if (text === undefined) return DEFAULT_CONFIG
  const document = parseDocument(text)
  const problem = document.errors[0]
  if (problem !== undefined) throw invalidConfig(path, problem.message.split('\n')[0]!)
  return parseConfig(document.toJS() ?? {}, path)
}
