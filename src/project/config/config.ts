import { isAbsolute, join, normalize } from 'node:path'
import type { OwnPrice } from '../../context/budget/prices.ts'
import { type BudgetSettings, DEFAULT_BUDGET } from '../../context/budget/stages.ts'
import { StintError } from '../../journal/errors.ts'
import { type ApiConfig, apiConfigFrom } from './api-config.ts'
import { budgetFrom, pricesFrom } from './budget-config.ts'
import {
  DEFAULT_DELEGATES,
  type DelegateSettings,
  delegateSettingsFrom,
} from './delegate-config.ts'
import { DEFAULT_RUN, type RunSettings, runSettingsFrom } from './run-config.ts'

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
  /** The command that shows whether the project is well. Shown to whoever takes the work over; only a run runs it. */
  readonly verify?: string
  /** Whether the first edit of a conversation opens a session, is asked about, or is let be. */
  readonly auto: 'on' | 'ask' | 'off'
  /** The moments at which an agent is reminded of its journal. */
  readonly nudges: ReadonlySet<Nudge>
  /** The folder of the project that gets a log of each session that is closed. None without it. */
  readonly workflowLog?: string
  /** When to warn of a context that fills up. */
  readonly budget: BudgetSettings
  /** What models cost, before the list that comes with Stint. */
  readonly prices: readonly OwnPrice[]
  readonly run: RunSettings
  readonly delegates: DelegateSettings
  /** The models that are driven without a harness of their own. */
  readonly api: ApiConfig
}

export const NUDGES = [
  'switching',
  'ending',
  'compaction',
  'question',
  'decision',
  'edits',
  'unrelated',
  'output',
] as const
export type Nudge = (typeof NUDGES)[number]

export const DEFAULTS: Config = {
  share: 'none',
  redact: { patterns: [], allow: [] },
  checkpoint: { code: true, maxFileMegabytes: 50 },
  auto: 'on',
  nudges: new Set(NUDGES),
  budget: DEFAULT_BUDGET,
  prices: [],
  run: DEFAULT_RUN,
  delegates: DEFAULT_DELEGATES,
  api: { providers: {} },
}

const KEYS = [
  'share',
  'redact',
  'checkpoint',
  'auto',
  'nudges',
  'workflow_log',
  'budget',
  'prices',
  'verify',
  'run',
  'delegates',
  'api',
]

export function configPath(sessions: string): string {
  return join(sessions, 'config.yaml')
}

/** What the settings in a file amount to. A mistake in them is an error and not a default, because it may be about secrets. */
export function configFrom(value: unknown, path: string): Config {
  if (!isObject(value)) throw invalid(path, 'it must be a list of settings')
  const unknown = Object.keys(value).find((key) => !KEYS.includes(key))
  if (unknown !== undefined)
    throw invalid(path, `there is no setting "${unknown}"; there are ${KEYS.join(', ')}`)
  const redact = section(value, 'redact', path)
  const checkpoint = section(value, 'checkpoint', path)
  const refuse = (reason: string) => invalid(path, reason)
  return {
    share: oneOf(value.share ?? DEFAULTS.share, ['none', 'git'], 'share', path),
    redact: {
      patterns: strings(redact.patterns, 'redact.patterns', path).map((pattern) =>
        regExp(pattern, path),
      ),
      allow: strings(redact.allow, 'redact.allow', path),
    },
    checkpoint: {
      code: checkpoint.code !== false,
      maxFileMegabytes: positive(
        checkpoint.max_file_mb ?? DEFAULTS.checkpoint.maxFileMegabytes,
        'checkpoint.max_file_mb',
        path,
      ),
    },
    ...(value.verify === undefined ? {} : { verify: command(value.verify, 'verify', path) }),
    auto: oneOf(value.auto ?? DEFAULTS.auto, ['on', 'ask', 'off'], 'auto', path),
    nudges: nudges(value.nudges ?? 'on', path),
    ...workflowLog(value.workflow_log ?? 'off', path),
    budget: budgetFrom(section(value, 'budget', path), refuse),
    prices: pricesFrom(section(value, 'prices', path), refuse),
    run: runSettingsFrom(section(value, 'run', path), refuse),
    delegates: delegateSettingsFrom(section(value, 'delegates', path), refuse),
    api: apiConfigFrom(section(value, 'api', path), refuse),
  }
}

/** `on`, `off`, or a folder. It may come with a clone, so it must not lead to other files of the user. */
function workflowLog(value: unknown, path: string): { workflowLog?: string } {
  if (value === 'off') return {}
  if (value === 'on') return { workflowLog: join('log', 'workflow') }
  if (typeof value !== 'string' || value.trim() === '')
    throw invalid(path, '"workflow_log" is on, off or a folder')
  const folder = normalize(value)
  const [first] = folder.split(/[/\\]/)
  if (isAbsolute(folder) || first === '..')
    throw invalid(path, '"workflow_log" must be a folder of the project')
  if (['.git', '.sessions', '.tasks'].includes(first ?? '')) {
    throw invalid(path, `"workflow_log" must not be in ${first}`)
  }
  return { workflowLog: folder }
}

/** `on`, `off`, or the ones that are turned off: `{ edits: off }`. */
function nudges(value: unknown, path: string): ReadonlySet<Nudge> {
  if (!isObject(value))
    return new Set(oneOf(value, ['on', 'off'], 'nudges', path) === 'on' ? NUDGES : [])
  const unknown = Object.keys(value).find((key) => !NUDGES.some((name) => name === key))
  if (unknown !== undefined)
    throw invalid(path, `there is no nudge "${unknown}"; there are ${NUDGES.join(', ')}`)
  return new Set(
    NUDGES.filter(
      (name) => oneOf(value[name] ?? 'on', ['on', 'off'], `nudges.${name}`, path) === 'on',
    ),
  )
}

export function invalid(path: string, reason: string): StintError {
  return new StintError(
    'CONFIG_INVALID',
    `${path}: ${reason}`,
    'mend the file, or move it away to use the defaults',
  )
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function section(
  value: Record<string, unknown>,
  key: string,
  path: string,
): Record<string, unknown> {
  const found = value[key] ?? {}
  if (!isObject(found)) throw invalid(path, `"${key}" must hold settings`)
  return found
}

function oneOf<T extends string>(
  value: unknown,
  allowed: readonly T[],
  key: string,
  path: string,
): T {
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

function command(value: unknown, key: string, path: string): string {
  if (typeof value !== 'string' || value.trim() === '')
    throw invalid(path, `"${key}" must be a command`)
  return value.trim()
}

function positive(value: unknown, key: string, path: string): number {
  if (typeof value !== 'number' || !(value > 0))
    throw invalid(path, `"${key}" must be a number above 0`)
  return value
}

function regExp(pattern: string, path: string): RegExp {
  try {
    return new RegExp(pattern, 'g')
  } catch (cause) {
    throw invalid(
      path,
      `"${pattern}" is not a regular expression (${cause instanceof Error ? cause.message : String(cause)})`,
    )
  }
}
