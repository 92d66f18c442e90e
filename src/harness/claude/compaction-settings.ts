import { readOrUndefined } from '../../journal/look.ts'
import { errnoOf } from '../../journal/errors.ts'
import { type Json, countOf, nameOf, objectOf, parseJson } from '../../text/json-fields.ts'
import type { CompactionSettings } from './compaction-point.ts'
import { type Surroundings, managedSettings, setupPlace } from './setup/places.ts'
import { defined } from '../../text/defined.ts'

/** The smallest and the largest window that the client lets a person set. */
const SMALLEST = 100_000
const LARGEST = 1_000_000

/**
 * What is set about compaction, where Claude Code looks for it. Its own environment is not to be seen from another
 * process; a hook and a command that it runs have the same.
 */
export function readCompactionSettings(
  around: Pick<Surroundings, 'root' | 'env'>,
): CompactionSettings {
  const files = settingsFiles(around)
  const said: string[] = []
  const env = (name: string): string | undefined => {
    const file = files.find(
      ({ settings }) => nameOf(objectOf(settings['env'])?.[name]) !== undefined,
    )
    const value =
      around.env[name] ||
      (file === undefined ? undefined : nameOf(objectOf(file.settings['env'])?.[name]))
    if (value !== undefined) said.push(name)
    return value
  }
  const setting = (name: string): unknown => {
    const value = files.find(({ settings }) => settings[name] !== undefined)?.settings[name]
    if (value !== undefined) said.push(name)
    return value
  }
  const isOff =
    isTrue(env('DISABLE_COMPACT')) ||
    isTrue(env('DISABLE_AUTO_COMPACT')) ||
    setting('autoCompactEnabled') === false
  const window =
    sizeOf(env('CLAUDE_CODE_AUTO_COMPACT_WINDOW')) ?? sizeOf(setting('autoCompactWindow'))
  const percent = Number.parseFloat(env('CLAUDE_AUTOCOMPACT_PCT_OVERRIDE') ?? '')
  const maxOutput = countOf(Number.parseInt(env('CLAUDE_CODE_MAX_OUTPUT_TOKENS') ?? '', 10))
  return {
    isAutomatic: !isOff,
    ...defined({ window }),
    ...(percent > 0 && percent <= 100 ? { percent } : {}),
    ...(maxOutput === undefined || maxOutput === 0 ? {} : { maxOutput }),
    said,
  }
}

/** The most binding first. */
function settingsFiles(
  around: Pick<Surroundings, 'root' | 'env'>,
): readonly { readonly settings: Json }[] {
  const places = { ...around, gitCommonDir: undefined }
  const paths = [
    ...managedSettings(),
    ...(['local', 'shared', 'user'] as const).map((scope) => setupPlace(scope, places).settings),
  ]
  return paths.flatMap((path) => {
    const settings = settingsIn(path)
    return settings === undefined ? [] : [{ settings }]
  })
}

function settingsIn(path: string): Json | undefined {
  try {
    const text = readOrUndefined(path)?.toString('utf8')
    return text === undefined ? undefined : objectOf(parseJson(text.replace(/^\uFEFF/, '')))
  } catch (error) {
    // A file that may not be read, or is a folder, sets nothing.
    if (errnoOf(error) === undefined) throw error
    return undefined
  }
}

function isTrue(value: string | undefined): boolean {
  return value !== undefined && /^(?:1|true|yes|on)$/i.test(value.trim())
}

/** `200000`, `200k`, `1m`, as the client reads them: what is too small or too large is the nearest it takes. */
function sizeOf(value: unknown): number | undefined {
  const [, digits, unit = ''] = /^\s*(\d+(?:\.\d+)?)\s*([km]?)\s*$/i.exec(String(value ?? '')) ?? []
  if (digits === undefined) return undefined
  const tokens = Number(digits) * ({ k: 1000, m: 1_000_000 }[unit.toLowerCase()] ?? 1)
  return tokens > 0 ? Math.min(LARGEST, Math.max(SMALLEST, tokens)) : undefined
}
