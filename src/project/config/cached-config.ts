import { join } from 'node:path'
import { createFolder, replaceUnsynced } from '../../journal/write-files.ts'
import { readJson, statOrUndefined } from '../../journal/read-files.ts'
import { type Config, DEFAULT_CONFIG, type Nudge, configPath } from './config.ts'
import { type StintError, ignoreIoErrors } from '../../journal/errors.ts'
import { THIS_BUILD } from './this-build.ts'
import type { ConfigFolders } from './read-config.ts'
import { consentPath } from './consent.ts'

const NAME = 'config-as-read'

/** JSON holds neither patterns nor sets. */
interface CachedConfig {
  readonly of: string
  readonly config: Config
  readonly patterns: readonly string[]
  readonly nudges: readonly Nudge[]
}

/** Caches the parsed configuration with the file's identity, so that hooks load neither YAML nor rules. */
export async function readConfigWithCache(
  folders: ConfigFolders,
  stateFolder: string,
): Promise<Config> {
  const identity = identityOf(folders)
  const cached = cachedConfig(identity, stateFolder)
  if (cached !== undefined) return cached
  const { readConfig } = await import('./read-config.ts')
  const config = readConfig(folders)
  const patterns = config.redact.patterns.map(({ source }) => source)
  writeCache(stateFolder, { of: identity ?? '', config, patterns, nudges: [...config.nudges] })
  return config
}

/** Undefined when the YAML has to be read. */
export function readCachedConfig(folders: ConfigFolders, stateFolder: string): Config | undefined {
  return cachedConfig(identityOf(folders), stateFolder)
}

/** Not by class: `read-config.ts` is bundled into a file of its own, with a StintError of its own. */
export function isInvalidConfig(error: unknown): error is StintError {
  return error instanceof Error && 'code' in error && error.code === 'CONFIG_INVALID'
}

/** Of the file and of the user's consent, which decides how much of it holds. */
function identityOf({ root, sessions }: ConfigFolders) {
  const file = stampOf(configPath(sessions))
  return file === undefined ? undefined : `${THIS_BUILD}:${file}:${stampOf(consentPath(root))}`
}

function stampOf(path: string) {
  const stat = statOrUndefined(path)
  return stat && `${stat.ino}:${stat.size}:${stat.mtimeMs}:${stat.ctimeMs}`
}

function cachedConfig(identity: string | undefined, stateFolder: string): Config | undefined {
  if (identity === undefined) return DEFAULT_CONFIG
  const cached = ignoreIoErrors(() => readJson(join(stateFolder, NAME)) as CachedConfig | undefined)
  if (cached?.of !== identity) return undefined
  const { config, patterns, nudges } = cached
  return {
    ...config,
    redact: { ...config.redact, patterns: patterns.map((source) => new RegExp(source, 'g')) },
    nudges: new Set(nudges),
  }
}

function writeCache(stateFolder: string, value: CachedConfig) {
  ignoreIoErrors(() => {
    createFolder(stateFolder)
    replaceUnsynced(join(stateFolder, NAME), JSON.stringify(value))
  })
}
