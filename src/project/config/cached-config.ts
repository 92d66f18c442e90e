import { join } from 'node:path'
import { createFolder, replaceUnsynced } from '../../journal/files.ts'
import { readJson, statOrUndefined } from '../../journal/look.ts'
import { type Config, DEFAULTS, configFrom, configPath } from './config.ts'
import { ifPossible } from '../../journal/errors.ts'

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

function identityOf(path: string) {
  const stat = statOrUndefined(path)
  return stat === undefined ? undefined : `${stat.ino}:${stat.size}:${stat.mtimeMs}:${stat.ctimeMs}`
}

function knownConfig(path: string, identity: string | undefined, stateFolder: string) {
  if (identity === undefined) return DEFAULTS
  const known = ifPossible(() => readJson(join(stateFolder, NAME)) as Remembered | undefined)
  return known?.of === identity ? configFrom(known.settings, path) : undefined
}

function remember(stateFolder: string, value: Remembered) {
  ifPossible(() => {
    createFolder(stateFolder)
    replaceUnsynced(join(stateFolder, NAME), JSON.stringify(value))
  })
}
