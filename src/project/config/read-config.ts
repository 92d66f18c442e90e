import { isTooLarge, readOrUndefined, statOrUndefined } from '../../journal/read-files.ts'
import { readConsent } from './consent.ts'
import { type EffectValues, effectValues, notAgreed, withoutSections } from './effects.ts'
import { type Config, DEFAULT_CONFIG, configPath } from './config.ts'
import { parseYaml, yamlMistake } from '../../text/parse-yaml.ts'
import { parseConfig, invalidConfig } from './config-schema.ts'

export interface ConfigFolders {
  readonly root: string
  readonly sessions: string
}

/** Without the settings that can cause an effect and that the user has not agreed to. */
export function readConfig({ root, sessions }: ConfigFolders): Config {
  const settings = readSettings(sessions)
  if (settings === undefined) return DEFAULT_CONFIG
  const path = configPath(sessions)
  const config = parseConfig(settings, path)
  const withheld = notAgreed(effectValues(settings), readConsent(root))
  return withheld.length === 0
    ? config
    : { ...parseConfig(withoutSections(settings, withheld), path), withheld }
}

/** The settings that need consent, as they are in the file. */
export function readEffectValues({ sessions }: Pick<ConfigFolders, 'sessions'>): EffectValues {
  return effectValues(readSettings(sessions))
}

function readSettings(sessions: string): unknown {
  const path = configPath(sessions)
  if (statOrUndefined(path) === undefined) return undefined
  const text = readConfigText(path)
  const parsed = parseYaml(text)
  if (!parsed.isValid) throw invalidConfig(path, yamlMistake(parsed))
  return parsed.value ?? {}
}

const MAX_BYTES = 64 * 1024

function readConfigText(path: string): string {
  try {
    const bytes = readOrUndefined(path, MAX_BYTES)
    if (bytes !== undefined) return bytes.toString('utf8')
  } catch (error) {
    if (!isTooLarge(error)) throw error
    throw invalidConfig(path, 'it has more than 64 KB, which is more than is read')
  }
  // A default would drop the patterns that redact.
  throw invalidConfig(path, 'it is no regular file')
}
