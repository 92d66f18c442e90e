import { join } from 'node:path'
import { createFolder, replaceUnsynced } from '../journal/files.ts'
import { readOrUndefined, statOrUndefined } from '../journal/look.ts'
import { type Config, DEFAULTS, configFrom, configPath } from '../project/config.ts'
import { errnoOf } from '../journal/errors.ts'

interface Remembered {
  readonly of: string
  readonly settings: unknown
}

/**
 * The configuration, without loading a YAML reader on every event: what the file said is remembered
 * together with the file's identity, and read again only when that is another.
 */
export async function quickConfig(sessions: string, notes: string): Promise<Config> {
  const path = configPath(sessions)
  const stat = statOrUndefined(path)
  if (stat === undefined) return DEFAULTS
  const identity = `${stat.ino}:${stat.size}:${stat.mtimeMs}:${stat.ctimeMs}`
  const cache = join(notes, 'config-as-read')
  const known = remembered(cache)
  if (known?.of === identity) return configFrom(known.settings, path)
  const { readSettings } = await import('../project/read-config.ts')
  const settings = readSettings(path) ?? {}
  const config = configFrom(settings, path)
  remember(notes, cache, { of: identity, settings })
  return config
}

function remembered(path: string): Remembered | undefined {
  try {
    const bytes = readOrUndefined(path)
    return bytes === undefined ? undefined : (JSON.parse(bytes.toString('utf8')) as Remembered)
  } catch {
    // Cut off by a power cut, or not to be read: the file itself is read then.
    return undefined
  }
}

function remember(notes: string, path: string, value: Remembered): void {
  try {
    createFolder(notes)
    replaceUnsynced(path, JSON.stringify(value))
  } catch (error) {
    if (errnoOf(error) === undefined) throw error
  }
}
