// The rules of config.yaml. Apart from config.ts, because hooks load only what was parsed before.
import { isAbsolute, join, normalize } from 'node:path'
import type { ConfiguredPrice } from '../../context/budget/prices.ts'
import { DEFAULT_BUDGET, findStageError } from '../../context/budget/stages.ts'
import { StintError } from '../../journal/errors.ts'
import { apiSettings } from './api-config.ts'
import { type Config, DEFAULT_CONFIG, NUDGES, type Nudge } from './config.ts'
import {
  type ConfigRule,
  textListOf,
  mapOf,
  oneOf,
  positive,
  refine,
  rule,
  section,
  textRule,
  textLike,
  textListRule,
  wholeNumberFrom,
} from './validators.ts'
import {
  DEFAULT_DELEGATES,
  DEFAULT_PLAN,
  DEFAULT_RUN,
  type DelegateSettings,
  type RunSettings,
} from './run-config.ts'

const patterns = refine(textListRule, (list, _key, refuse) =>
  list.map((pattern) => {
    let found: RegExp
    try {
      found = new RegExp(pattern, 'g')
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause)
      throw refuse(`"${pattern}" is not a regular expression (${reason})`)
    }
    // It needs no consent, so a clone could have every text that is recorded replaced.
    if (ORDINARY_TEXTS.every((text) => text.replaceAll(found, '').trim() === ''))
      throw refuse(`"${pattern}" matches all of any text, so nothing would be left to record`)
    return found
  }),
)

/** Short, so that no pattern takes long on them. */
const ORDINARY_TEXTS = ['a', 'Hello world']

const onOff = oneOf('on', 'off')
const nudgeSection = section(
  Object.fromEntries(NUDGES.map((name) => [name, onOff])) as Record<Nudge, typeof onOff>,
  'nudge',
)

/** `on`, `off`, or the ones that are turned off: `{ edits: off }`. */
const nudges: ConfigRule<ReadonlySet<Nudge>> = (value, key, refuse) => {
  if (typeof value !== 'object') return new Set(onOff(value, key, refuse) === 'on' ? NUDGES : [])
  const set = nudgeSection(value, key, refuse)
  return new Set(NUDGES.filter((name) => set[name] !== 'off'))
}

/** `on`, `off`, or a folder. It may come with a clone, so it must stay inside the project. */
const workflowLog: ConfigRule<string | undefined> = (value, key, refuse) => {
  if (value === 'off') return undefined
  if (value === 'on') return join('log', 'workflow')
  const folder = normalize(textLike('is on, off or a folder')(value, key, refuse))
  const [first] = folder.split(/[/\\]/)
  if (isAbsolute(folder) || first === '..') throw refuse(`"${key}" must be a folder of the project`)
  if (['.git', '.sessions', '.tasks'].includes(first ?? ''))
    throw refuse(`"${key}" must not be in ${first}`)
  return folder
}

/** Below it, 75 would pass for tokens where 75% is meant. */
const MIN_TOKENS = 1000
const tokens = wholeNumberFrom(
  MIN_TOKENS,
  `must be a whole number of tokens, at least ${MIN_TOKENS}`,
)

/** Percent up to 100, tokens above. */
const stages: ConfigRule<readonly number[]> = (value, key, refuse) => {
  if (!Array.isArray(value))
    throw refuse(`"${key}" must be a list, as [75%, 85%, 90%] or [120000, 140000, 150000]`)
  const parsed = value.map((stage: unknown) => {
    const [, percent] = /^(\d{1,3}(?:\.\d+)?)\s*%$/.exec(String(stage)) ?? []
    if (percent !== undefined && Number(percent) > 0 && Number(percent) <= 100)
      return Number(percent)
    if (Number.isInteger(stage) && (stage as number) >= MIN_TOKENS) return stage as number
    throw refuse(
      `"${key}": ${String(stage)} is neither a percentage up to 100% nor at least ${MIN_TOKENS} tokens`,
    )
  })
  const problem = findStageError(parsed)
  if (problem !== undefined) throw refuse(`"${key}": ${problem}`)
  return parsed
}

const dollars = rule<number>(
  (value) => typeof value === 'number' && value >= 0,
  'must be dollars per million tokens',
)
const PRICES = {
  input: dollars,
  output: dollars,
  cache_read: dollars,
  cache_write: dollars,
  cache_write_hour: dollars,
}

const price: ConfigRule<Omit<ConfiguredPrice, 'model'>> = (value, key, refuse) => {
  if (typeof value !== 'object')
    throw refuse(`"${key}" must hold ${Object.keys(PRICES).join(', ')}`)
  const parsed = section(PRICES, 'price')(value, key, refuse)
  const input = dollars(parsed.input, `${key}.input`, refuse)
  const { cacheRead = input, cacheWrite = input, cacheWriteHour = cacheWrite } = parsed
  const output = dollars(parsed.output, `${key}.output`, refuse)
  return { input, output, cacheRead, cacheWrite, cacheWriteHour }
}

export const RUN_RULES = {
  harness: textRule,
  model: textRule,
  permissions: oneOf('ask', 'edits', 'all'),
  on_failure: oneOf('retry', 'continue', 'stop'),
  on_limit: oneOf('wait', 'end'),
  batch: oneOf('forecast', 'fixed', 'one'),
  setup: textRule,
  files: textListRule,
  allow: textListRule,
  silence_minutes: positive,
  task_minutes: positive,
  verify_minutes: positive,
  idle_turns: positive,
  small_up_to: positive,
  large_from: positive,
  batch_places: positive,
  batch_small: positive,
  batch_medium: positive,
  batch_leave_above: positive,
}

const runSettings: ConfigRule<RunSettings> = refine(section(RUN_RULES), (parsed, key, refuse) => {
  const { length, batch } = DEFAULT_PLAN
  const {
    smallUpTo = length.smallUpTo,
    largeFrom = length.largeFrom,
    batchPlaces: places = batch.places,
    batchSmall: small = batch.small,
    batchMedium: medium = batch.medium,
    batchLeaveAbove = batch.leaveAbove * 100,
    ...plain
  } = parsed
  if (smallUpTo >= largeFrom) throw refuse(`"${key}.small_up_to" must be below "${key}.large_from"`)
  const plan = {
    length: { smallUpTo, largeFrom },
    batch: { places, small, medium, leaveAbove: batchLeaveAbove / 100 },
  }
  return { ...DEFAULT_RUN, ...plain, plan }
})

const assignments = textListOf(
  (value) => typeof value === 'string' && /^[A-Za-z_]\w*=/.test(value),
  'must be a list of NAME=value',
)

export const DELEGATE_RULES = {
  most: wholeNumberFrom(1),
  send_back: wholeNumberFrom(0),
  setup: textRule,
  env: assignments,
  port_base: wholeNumberFrom(1),
  ports: wholeNumberFrom(1),
  wrap: textRule,
}

const delegateSettings: ConfigRule<DelegateSettings> = refine(
  section(DELEGATE_RULES),
  (parsed) => ({
    ...DEFAULT_DELEGATES,
    ...parsed,
  }),
)

const settings = section({
  share: oneOf('none', 'git'),
  redact: section({ patterns, allow: textListRule }),
  checkpoint: section({
    code: rule<boolean>((value) => typeof value === 'boolean', 'is true or false'),
    max_file_mb: positive,
  }),
  auto: oneOf('on', 'ask', 'off'),
  nudges,
  workflow_log: workflowLog,
  budget: section({ stages, smart_zone: tokens, window: tokens }),
  prices: mapOf(price),
  verify: textLike('must be a command'),
  run: runSettings,
  delegates: delegateSettings,
  api: apiSettings,
})

/** A mistake is an error and never a default: it may be about secrets. */
export function parseConfig(value: unknown, path: string): Config {
  const parsed = settings(value, '', (reason) => invalidConfig(path, reason))
  const { redact, checkpoint, workflowLog: folder, budget, prices = {}, ...plain } = parsed
  const { code, maxFileMb } = { ...checkpoint }
  return {
    ...DEFAULT_CONFIG,
    ...plain,
    redact: { ...DEFAULT_CONFIG.redact, ...redact },
    checkpoint: {
      code: code ?? DEFAULT_CONFIG.checkpoint.code,
      maxFileMegabytes: maxFileMb ?? DEFAULT_CONFIG.checkpoint.maxFileMegabytes,
    },
    ...(folder === undefined ? {} : { workflowLog: folder }),
    budget: { ...DEFAULT_BUDGET, ...budget },
    prices: Object.entries(prices).map(([model, costs]) => ({ model, ...costs })),
  }
}

export function invalidConfig(path: string, reason: string): StintError {
  return new StintError(
    'CONFIG_INVALID',
    `${path}: ${reason}`,
    'mend the file, or move it away to use the defaults',
  )
}
