import { managedSettingsPaths, setupPaths } from './setup/paths.ts'
import { type SourcedValue, estimated, measured } from '../../context/budget/budget.ts'
import { estimateWindow } from '../../context/budget/prices.ts'
import { errnoOf } from '../../journal/errors.ts'
import { readOrUndefined } from '../../journal/read-files.ts'
import { defined } from '../../text/defined.ts'
import { asCount, asName, asObject, parseJson } from '../../text/json-fields.ts'
import type { HarnessLimits, CompactionPointInput } from '../contract/limits.ts'
import type { ProjectEnvironment } from '../contract/setup.ts'

export const claudeLimits: HarnessLimits = {
  windowOf: (model) => estimateWindow(model, undefined),
  compactionPoint: (project) => {
    const settings = readCompactionSettings(project)
    return (evidence) => compactionPoint({ ...evidence, settings })
  },
}

// Claude Code does not report its compaction point; this computes it as the client does.

interface CompactionSettings {
  readonly isAutomatic: boolean
  readonly window?: number
  readonly percent?: number
  readonly maxOutput?: number
  readonly said: readonly string[]
}

export interface ClaudeCompactionPointInput extends CompactionPointInput {
  readonly settings: CompactionSettings
}

const COMPACTION_MARGIN = 13_000
const SUMMARY_TOKENS = 20_000
const DEFAULT_MAX_OUTPUT = 32_000

/**
 * A compaction up to this far above the rule still shows the point; one reply may overshoot much
 * further.
 */
const OVERSHOOT = 1.05

export function compactionPoint(evidence: ClaudeCompactionPointInput): SourcedValue | undefined {
  const computed = computePoint(evidence)
  const { lastAutomatic: seen, tokens, settings } = evidence
  if (seen === undefined || !settings.isAutomatic) return computed
  // It has more tokens now and did not compact, so the settings have changed since.
  if (tokens !== undefined && tokens > seen.tokens) return computed
  if (computed !== undefined && seen.tokens > computed.value * OVERSHOOT) return computed
  return measured(seen.tokens, 'transcript: it compacted there', seen.at)
}

function computePoint({ window, settings, version }: ClaudeCompactionPointInput) {
  if (window === undefined) return undefined
  const { isAutomatic, percent } = settings
  const sources = settings.said.length === 0 ? '' : ` (${settings.said.join(', ')})`
  if (!isAutomatic)
    return { ...window, from: `the whole window, since compaction is off${sources}` }
  const isOld = isOldClient(version)
  // Old versions know only the model's window.
  const size = isOld ? window.value : Math.min(window.value, settings.window ?? Infinity)
  const output = settings.maxOutput ?? DEFAULT_MAX_OUTPUT
  const usable = size - (isOld ? output : Math.min(output, SUMMARY_TOKENS))
  const normal = usable - COMPACTION_MARGIN
  const value =
    percent === undefined ? normal : Math.min(normal, Math.floor((usable * percent) / 100))
  if (value <= 0) return undefined
  const rule =
    percent === undefined || value === normal
      ? `window less ${thousands(size - normal)}`
      : `${percent}% of the window`
  return estimated(value, `${rule}${sources}`, window.at)
}

/** Before 2.1 room for the longest possible reply was kept free. */
function isOldClient(version: string | undefined) {
  const [, major = '', minor = ''] = /^(\d+)\.(\d+)\./.exec(version ?? '') ?? []
  return major !== '' && (Number(major) < 2 || (Number(major) === 2 && Number(minor) < 1))
}

function thousands(tokens: number) {
  return `${tokens / 1000}k`
}

const MIN_WINDOW = 100_000
const MAX_WINDOW = 1_000_000

/** Hooks, and commands that Claude Code runs, have the same environment. */
export function readCompactionSettings(
  project: Pick<ProjectEnvironment, 'root' | 'env'>,
): CompactionSettings {
  const files = settingsFiles(project)
  const sources: string[] = []
  const env = (name: string): string | undefined => {
    const file = files.find(({ settings }) => asName(asObject(settings.env)?.[name]) !== undefined)
    const value =
      project.env[name] ||
      (file === undefined ? undefined : asName(asObject(file.settings.env)?.[name]))
    if (value !== undefined) sources.push(name)
    return value
  }
  const setting = (name: string): unknown => {
    const value = files.find(({ settings }) => settings[name] !== undefined)?.settings[name]
    if (value !== undefined) sources.push(name)
    return value
  }
  const isOff =
    isTrue(env('DISABLE_COMPACT')) ||
    isTrue(env('DISABLE_AUTO_COMPACT')) ||
    setting('autoCompactEnabled') === false
  const window =
    parseSize(env('CLAUDE_CODE_AUTO_COMPACT_WINDOW')) ?? parseSize(setting('autoCompactWindow'))
  const percent = Number.parseFloat(env('CLAUDE_AUTOCOMPACT_PCT_OVERRIDE') ?? '')
  const maxOutput = asCount(Number.parseInt(env('CLAUDE_CODE_MAX_OUTPUT_TOKENS') ?? '', 10))
  return {
    isAutomatic: !isOff,
    ...defined({ window }),
    ...(percent > 0 && percent <= 100 ? { percent } : {}),
    ...(maxOutput === undefined || maxOutput === 0 ? {} : { maxOutput }),
    said: sources,
  }
}

/** In order of precedence. */
function settingsFiles(project: Pick<ProjectEnvironment, 'root' | 'env'>) {
  const environment = { ...project, gitCommonDir: undefined }
  const paths = [
    ...managedSettingsPaths(),
    ...(['local', 'shared', 'user'] as const).map(
      (scope) => setupPaths(scope, environment).settings,
    ),
  ]
  return paths.flatMap((path) => {
    const settings = settingsIn(path)
    return settings === undefined ? [] : [{ settings }]
  })
}

function settingsIn(path: string) {
  try {
    const text = readOrUndefined(path)?.toString('utf8')
    return text === undefined ? undefined : asObject(parseJson(text.replace(/^\uFEFF/, '')))
  } catch (error) {
    // A file that may not be read, or is a folder, sets nothing.
    if (errnoOf(error) === undefined) throw error
    return undefined
  }
}

function isTrue(value: string | undefined) {
  return value !== undefined && /^(?:1|true|yes|on)$/i.test(value.trim())
}

/** `200000`, `200k`, `1m`, clamped as Claude Code does. */
function parseSize(value: unknown) {
  const [, digits, unit = ''] = /^\s*(\d+(?:\.\d+)?)\s*([km]?)\s*$/i.exec(String(value ?? '')) ?? []
  if (digits === undefined) return undefined
  const tokens = Number(digits) * ({ k: 1000, m: 1_000_000 }[unit.toLowerCase()] ?? 1)
  return tokens > 0 ? Math.min(MAX_WINDOW, Math.max(MIN_WINDOW, tokens)) : undefined
}
