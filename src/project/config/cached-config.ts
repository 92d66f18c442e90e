import { join } from 'node:path'
import { createFolder, replaceUnsynced } from '../../journal/files.ts'
import { readOrUndefined, statOrUndefined } from '../../journal/look.ts'
import { type Config, DEFAULTS, configFrom, configPath } from './config.ts'
import { errnoOf } from '../../journal/errors.ts'

const NAME = 'config-as-read'

interface Remembered {
  readonly of: string
  readonly settings: unknown
}

/** Keeps the parsed settings with the file's identity, so that hooks load no YAML reader. */
export async function readConfigOnce(sessions: string, stateFolder: string): Promise<Config> {
  const path = configPath(sessions)
  const of = identityOf(path)
  const known = knownConfig(path, of, stateFolder)
  if (known !== undefined) return known
  const { readSettings } = await import('./read-config.ts')
  const settings = readSettings(path) ?? {}
  const config = configFrom(settings, path)
  remember(stateFolder, { of: of ?? '', settings })
  return config
}

/** Undefined when the YAML has to be read. */
export function rememberedConfig(sessions: string, stateFolder: string): Config | undefined {
  const path = configPath(sessions)
  return knownConfig(path, identityOf(path), stateFolder)
}

function identityOf(path: string): string | undefined {
  const stat = statOrUndefined(path)
  return stat === undefined ? undefined : `${stat.ino}:${stat.size}:${stat.mtimeMs}:${stat.ctimeMs}`
}

function knownConfig(
  path: string,
  identity: string | undefined,
  stateFolder: string,
): Config | undefined {
  if (identity === undefined) return DEFAULTS
  const known = remembered(stateFolder)
  return known?.of === identity ? configFrom(known.settings, path) : undefined
}

function remembered(stateFolder: string): Remembered | undefined {
  try {
    const bytes = readOrUndefined(join(stateFolder, NAME))
    return bytes === undefined ? undefined : (JSON.parse(bytes.toString('utf8')) as Remembered)
  } catch {
    // Truncated or unreadable: the YAML is read instead.
    return undefined
  }
}

function remember(stateFolder: string, value: Remembered): void {
  try {
    createFolder(stateFolder)
    replaceUnsynced(join(stateFolder, NAME), JSON.stringify(value))
  } catch (error) {
    if (errnoOf(error) === undefined) throw error
  }
}
