import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseDocument } from 'yaml'
import { StintError, isMissing } from '../journal/errors.ts'

/** What `.sessions/config.yaml` may say. */
export interface Config {
  /** `git` commits journals and documents; `none` keeps them out of the repository. */
  readonly share: 'none' | 'git'
  readonly redact: {
    /** Further patterns that are secrets here. */
    readonly patterns: readonly RegExp[]
    /** Texts that look like secrets and are none. */
    readonly allow: readonly string[]
  }
  readonly checkpoint: {
    /** Whether a checkpoint keeps the working tree. */
    readonly code: boolean
    readonly maxFileMegabytes: number
  }
}

export const DEFAULTS: Config = {
  share: 'none',
  redact: { patterns: [], allow: [] },
  checkpoint: { code: true, maxFileMegabytes: 50 },
}

const KEYS = ['share', 'redact', 'checkpoint']

export function configPath(sessions: string): string {
  return join(sessions, 'config.yaml')
}

/** Reads the configuration. A mistake in it is an error and not a default, because it may be about secrets. */
export function readConfig(sessions: string): Config {
  const path = configPath(sessions)
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if (isMissing(error)) return DEFAULTS
    throw error
  }
  const document = parseDocument(text)
  const problem = document.errors[0]
  if (problem !== undefined) throw invalid(path, problem.message.split('\n')[0]!)
  const value: unknown = document.toJS() ?? {}
  if (!isObject(value)) throw invalid(path, 'it must be a list of settings')
  const unknown = Object.keys(value).find((key) => !KEYS.includes(key))
  if (unknown !== undefined) throw invalid(path, `there is no setting "${unknown}"; there are ${KEYS.join(', ')}`)
  const redact = section(value, 'redact', path)
  const checkpoint = section(value, 'checkpoint', path)
  return {
    share: oneOf(value.share ?? DEFAULTS.share, ['none', 'git'], 'share', path),
    redact: {
      patterns: strings(redact.patterns, 'redact.patterns', path).map((pattern) => regExp(pattern, path)),
      allow: strings(redact.allow, 'redact.allow', path),
    },
    checkpoint: {
      code: checkpoint.code !== false,
      maxFileMegabytes: positive(checkpoint.max_file_mb ?? DEFAULTS.checkpoint.maxFileMegabytes, 'checkpoint.max_file_mb', path),
    },
  }
}

function invalid(path: string, reason: string): StintError {
  return new StintError('CONFIG_INVALID', `${path}: ${reason}`, 'mend the file, or move it away to use the defaults')
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function section(value: Record<string, unknown>, key: string, path: string): Record<string, unknown> {
  const found = value[key] ?? {}
  if (!isObject(found)) throw invalid(path, `"${key}" must hold settings`)
  return found
}

function oneOf<T extends string>(value: unknown, allowed: readonly T[], key: string, path: string): T {
  const found = allowed.find((candidate) => candidate === value)
  if (found === undefined) throw invalid(path, `"${key}" is one of ${allowed.join(', ')}`)
  return found
}

function strings(value: unknown, key: string, path: string): readonly string[] {
  const list = value ?? []
  if (!Array.isArray(list) || list.some((item) => typeof item !== 'string'))
    throw invalid(path, `"${key}" must be a list of texts`)
  return list as string[]
}

function positive(value: unknown, key: string, path: string): number {
  if (typeof value !== 'number' || !(value > 0)) throw invalid(path, `"${key}" must be a number above 0`)
  return value
}

function regExp(pattern: string, path: string): RegExp {
  try {
    return new RegExp(pattern, 'g')
  } catch (cause) {
    throw invalid(path, `"${pattern}" is not a regular expression (${cause instanceof Error ? cause.message : String(cause)})`)
  }
}
