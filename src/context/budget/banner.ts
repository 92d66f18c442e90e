import { formatInteger } from '../../text/format-amounts.ts'
import { safeLine } from '../../text/safe-text.ts'
import { shorten } from '../../text/clean.ts'
import type { Budget, SourcedValue } from './budget.ts'
import { type BudgetThreshold, SMART_ZONE, compactionPercent } from './stages.ts'

const RULE = '━'.repeat(57)
const MAX_LENGTH = 200

export interface BannerText {
  /** For example "Phase 5b - TDD GREEN (62% complete)". */
  readonly progress?: string
  readonly advice: readonly string[]
  /** Without the rules, which cost more tokens than the rest. */
  readonly isCompact?: boolean
}

export function banner(
  threshold: BudgetThreshold,
  budget: Budget,
  { progress, advice, isCompact: isBare = false }: BannerText,
): string {
  const percent = percentUsed(budget)
  const used = percent === undefined ? 'Context Used' : `${percent}% Context Used`
  const rule = isBare ? [] : [RULE]
  return [
    ...rule,
    `⚠️  TOKEN WARNING - ${threshold === SMART_ZONE ? 'Past the Smart Zone' : used}`,
    ...rule,
    ...(isBare ? [] : ['']),
    sizeLine(budget),
    ...(progress === undefined ? [] : ['', `📍 Progress: ${safeText(progress)}`]),
    ...(advice.length === 0 ? [] : ['', ...advice.map((each) => `🔄 ${safeText(each)}`)]),
    ...rule,
  ].join('\n')
}

/** `ctx 75% · 125k/167k`; a `~` marks an estimate. */
export function budgetLine(budget: Budget): string {
  const { tokens, point } = budget
  if (tokens === undefined) return 'ctx ?'
  if (point === undefined) return `ctx ${thousands(tokens)}`
  return `ctx ${percentUsed(budget)}% · ${thousands(tokens)}/${thousands(point)}`
}

function sizeLine({ tokens, point, window }: Budget) {
  const share =
    tokens === undefined || window === undefined
      ? ''
      : ` (${Math.floor((tokens.value / window.value) * 100)}% of it)`
  return [
    `Current: ${roughly(tokens)}${tokens === undefined ? '' : ' tokens'}`,
    `Compacts at: ${roughly(point)}`,
    `Window: ${window === undefined ? 'unknown' : `${formatInteger(window.value)}${share}`}`,
  ].join(' | ')
}

function percentUsed({ tokens, point }: Budget) {
  return compactionPercent({ tokens: tokens?.value, point: point?.value })
}

function roughly(amount: SourcedValue | undefined) {
  return amount === undefined
    ? 'unknown'
    : `~${formatInteger(Math.round(amount.value / 1000) * 1000)}`
}

function safeText(text: string) {
  return shorten(safeLine(text), MAX_LENGTH)
}

function thousands({ value, known }: SourcedValue) {
  const rounded = value < 10_000 ? Math.round(value / 100) / 10 : Math.round(value / 1000)
  return `${known === 'estimated' ? '~' : ''}${rounded}k`
}
