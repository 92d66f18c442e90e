import { join } from 'node:path'
import { createFolder, replaceUnsynced } from '../journal/files.ts'
import { readOrUndefined, statOrUndefined } from '../journal/look.ts'
import { type Config, DEFAULTS, configFrom, configPath } from '../project/config/config.ts'
import { errnoOf } from '../journal/errors.ts'

const NAME = 'config-as-read'

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
  const of = identityOf(path)
  const known = knownConfig(path, of, notes)
  if (known !== undefined) return known
  const { readSettings } = await import('../project/config/read-config.ts')
  const settings = readSettings(path) ?? {}
  const config = configFrom(settings, path)
  remember(notes, { of: of ?? '', settings })
  return config
}

/** The configuration where there is none, or it is remembered. */
export function rememberedConfig(sessions: string, notes: string): Config | undefined {
  const path = configPath(sessions)
  return knownConfig(path, identityOf(path), notes)
}

function identityOf(path: string): string | undefined {
  const stat = statOrUndefined(path)
  return stat === undefined ? undefined : `${stat.ino}:${stat.size}:${stat.mtimeMs}:${stat.ctimeMs}`
}

function knownConfig(
  path: string,
  identity: string | undefined,
  notes: string,
): Config | undefined {
  if (identity === undefined) return DEFAULTS
  const known = remembered(notes)
  return known?.of === identity ? configFrom(known.settings, path) : undefined
}

function remembered(notes: string): Remembered | undefined {
  try {
    const bytes = readOrUndefined(join(notes, NAME))
    return bytes === undefined ? undefined : (JSON.parse(bytes.toString('utf8')) as Remembered)
  } catch {
    // Cut off by a power cut, or not to be read: the file itself is read then.
    return undefined
  }
}

function remember(notes: string, value: Remembered): void {
  try {
    createFolder(notes)
    replaceUnsynced(join(notes, NAME), JSON.stringify(value))
  } catch (error) {
    if (errnoOf(error) === undefined) throw error
  }
}
