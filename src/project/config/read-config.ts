import { parseDocument } from 'yaml'
import { readOrUndefined } from '../../journal/read-files.ts'
import { type Config, DEFAULT_CONFIG, configPath } from './config.ts'
import { parseConfig, invalidConfig } from './parse-config.ts'

export function readConfigYaml(path: string): unknown {
  const text = readOrUndefined(path)?.toString('utf8')
  if (text === undefined) return undefined
  const document = parseDocument(text)
  const problem = document.errors[0]
  if (problem !== undefined) throw invalidConfig(path, problem.message.split('\n')[0]!)
  return document.toJS() ?? {}
}

export function readConfig(sessions: string): Config {
  const path = configPath(sessions)
  const settings = readConfigYaml(path)
  return settings === undefined ? DEFAULT_CONFIG : parseConfig(settings, path)
}
