import type { OwnPrice } from '../../context/budget/prices.ts'
import { type BudgetSettings, DEFAULT_BUDGET, faultIn } from '../../context/budget/stages.ts'
import { defined } from '../../text/defined.ts'

/** Says what is wrong with a setting. */
export type Refuse = (reason: string) => Error

type Settings = Readonly<Record<string, unknown>>

const KEYS = ['stages', 'smart_zone', 'window']
const PRICE_KEYS = ['input', 'output', 'cache_read', 'cache_write', 'cache_write_hour']

/** `budget:`, with the stages as numbers: percent up to 100, tokens above. */
export function budgetFrom(settings: Settings, refuse: Refuse): BudgetSettings {
  const unknown = Object.keys(settings).find((key) => !KEYS.includes(key))
  if (unknown !== undefined)
    throw refuse(`there is no setting "budget.${unknown}"; there are ${KEYS.join(', ')}`)
  const window =
    settings['window'] === undefined
      ? undefined
      : tokens(settings['window'], 'budget.window', refuse)
  return {
    stages: stagesFrom(
      settings['stages'] ?? DEFAULT_BUDGET.stages.map((stage) => `${stage}%`),
      refuse,
    ),
    smartZone: tokens(
      settings['smart_zone'] ?? DEFAULT_BUDGET.smartZone,
      'budget.smart_zone',
      refuse,
    ),
    ...defined({ window }),
  }
}

/** `prices:`, dollars per million tokens by model. */
export function pricesFrom(settings: Settings, refuse: Refuse): readonly OwnPrice[] {
  return Object.entries(settings).map(([model, value]) => {
    if (typeof value !== 'object' || value === null)
      throw refuse(`"prices.${model}" must hold ${PRICE_KEYS.join(', ')}`)
    const fields = value as Settings
    const unknown = Object.keys(fields).find((key) => !PRICE_KEYS.includes(key))
    if (unknown !== undefined)
      throw refuse(`there is no price "${unknown}" of ${model}; there are ${PRICE_KEYS.join(', ')}`)
    const price = (key: string, otherwise?: number) =>
      dollars(fields[key] ?? otherwise, `prices.${model}.${key}`, refuse)
    const input = price('input')
    const cacheWrite = price('cache_write', input)
    return {
      model,
      input,
      output: price('output'),
      cacheRead: price('cache_read', input),
      cacheWrite,
      cacheWriteHour: price('cache_write_hour', cacheWrite),
    }
  })
}

function stagesFrom(value: unknown, refuse: Refuse): readonly number[] {
  if (!Array.isArray(value))
    throw refuse('"budget.stages" must be a list, as [75%, 85%, 90%] or [120000, 140000, 150000]')
  const stages = value.map((stage) => stageFrom(stage, refuse))
  const fault = faultIn(stages)
  if (fault !== undefined) throw refuse(`"budget.stages": ${fault}`)
  return stages
}

function stageFrom(value: unknown, refuse: Refuse): number {
  const [, percent] = /^(\d{1,3}(?:\.\d+)?)\s*%$/.exec(String(value)) ?? []
  if (percent !== undefined && Number(percent) > 0 && Number(percent) <= 100) return Number(percent)
  if (typeof value === 'number' && Number.isInteger(value) && value >= FEWEST) return value
  throw refuse(
    `"budget.stages": ${String(value)} is neither a percentage up to 100% nor at least ${FEWEST} tokens`,
  )
}

/** Fewer than any harness begins with; who writes 75 means 75%. */
const FEWEST = 1000

function tokens(value: unknown, key: string, refuse: Refuse): number {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < FEWEST) {
    throw refuse(`"${key}" must be a whole number of tokens, at least ${FEWEST}`)
  }
  return value
}

function dollars(value: unknown, key: string, refuse: Refuse): number {
  if (typeof value !== 'number' || !(value >= 0))
    throw refuse(`"${key}" must be dollars per million tokens`)
  return value
}
