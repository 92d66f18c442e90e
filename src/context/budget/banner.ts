import { formatInteger } from '../../text/format-amounts.ts'
import { safeLine } from '../../text/safe-text.ts'
import { shorten } from '../../text/clean.ts'
import type { Budget, SourcedValue } from './budget.ts'
import { type BudgetThreshold, SMART_ZONE, compactionPercent } from './stages.ts'

const RULE = '━'.repeat(57)
const LONGEST = 200

export interface BannerText {
  /** Where the work stands, as "Phase 5b - TDD GREEN (62% complete)". */
  readonly progress?: string
  readonly advice: readonly string[]
  /** Without the lines around it, which cost more than the rest. */
  readonly isCompact?: boolean
}

export function banner(
  line: BudgetThreshold,
  budget: Budget,
  { progress, advice, isCompact: isBare = false }: BannerText,
): string {
  const percent = wayOf(budget)
  const used = percent === undefined ? 'Context Used' : `${percent}% Context Used`
  const rule = isBare ? [] : [RULE]
  return [
    ...rule,
    `⚠️  TOKEN WARNING - ${line === SMART_ZONE ? 'Past the Smart Zone' : used}`,
    ...rule,
    ...(isBare ? [] : ['']),
    standingLine(budget),
    ...(progress === undefined ? [] : ['', `📍 Progress: ${told(progress)}`]),
    ...(advice.length === 0 ? [] : ['', ...advice.map((each) => `🔄 ${told(each)}`)]),
    ...rule,
  ].join('\n')
}

/** `ctx 75% · 125k/167k`; a `~` stands before an estimate. */
export function budgetLine(budget: Budget): string {
  const { tokens, point } = budget
  if (tokens === undefined) return 'ctx ?'
  if (point === undefined) return `ctx ${thousands(tokens)}`
  return `ctx ${wayOf(budget)}% · ${thousands(tokens)}/${thousands(point)}`
}

function standingLine({ tokens, point, window }: Budget) {
  const share =
    tokens === undefined || window === undefined
      ? ''
      : ` (${Math.floor((tokens.value / window.value) * 100)}% of it)`
  return [
    `Current: ${about(tokens)}${tokens === undefined ? '' : ' tokens'}`,
    `Compacts at: ${about(point)}`,
    `Window: ${window === undefined ? 'unknown' : `${formatInteger(window.value)}${share}`}`,
  ].join(' | ')
}

function wayOf({ tokens, point }: Budget) {
  return compactionPercent({ tokens: tokens?.value, point: point?.value })
}

function about(figure: SourcedValue | undefined) {
  return figure === undefined
    ? 'unknown'
    : `~${formatInteger(Math.round(figure.value / 1000) * 1000)}`
}

function told(text: string) {
  return shorten(safeLine(text), LONGEST)
}

function thousands({ value, known }: SourcedValue) {
  const rounded = value < 10_000 ? Math.round(value / 100) / 10 : Math.round(value / 1000)
  return `${known === 'estimated' ? '~' : ''}${rounded}k`
}
