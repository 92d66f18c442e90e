// Small enough for a hook: reads the end of a transcript and a few settings.
import {
  type Budget,
  type SourcedValue,
  type RateLimit,
  estimated,
  later,
  measured,
} from '../../context/budget/budget.ts'
import type { CompactionPointInput } from '../../harness/contract/limits.ts'
import { estimateWindow } from '../../context/budget/prices.ts'
import { type LastUsage, contextSizeFrom } from '../../harness/contract/transcript.ts'
import { findHarness } from '../../harness/registry.ts'
import type { ContextWindow } from './conversation-state.ts'
import { defined } from '../../text/defined.ts'

export interface BudgetInputs {
  readonly harness: string
  readonly window?: ContextWindow | undefined
  readonly tail?: LastUsage | undefined
  readonly configured?: number | undefined
  readonly version?: string | undefined
  readonly lastAutomatic?: CompactionPointInput['lastAutomatic']
  readonly root: string
  readonly env: NodeJS.ProcessEnv
  readonly now: string
}

export function computeBudget(known: BudgetInputs): Budget {
  const { window: told, tail = {}, now } = known
  const tokens = contextSize(tail, told, now)
  const window = windowSize(known, tokens)
  return defined({
    tokens,
    window,
    point: pointFor(known, window, tokens),
    cost: told?.cost === undefined ? undefined : measured(told.cost, 'status line', told.at),
    fiveHour: limitAt(told?.fiveHour, told, now),
    sevenDay: limitAt(told?.sevenDay, told, now),
  })
}

export function contextSize(
  tail: LastUsage,
  told: ContextWindow | undefined,
  now: string,
): SourcedValue | undefined {
  const seen = contextSizeFrom(tail, now)
  // After a compaction old clients report the earlier size until the model answers.
  if (tail.compacted !== undefined || told?.used === undefined) return seen
  return later(seen, measured(told.used, 'status line', told.at))
}

function windowSize(
  { configured, window: told, tail, now }: BudgetInputs,
  tokens: SourcedValue | undefined,
) {
  if (configured !== undefined) return estimated(configured, 'configuration', now)
  if (told?.size !== undefined) return measured(told.size, 'status line', told.at)
  return estimateWindow(told?.model ?? tail?.model, tokens?.value)
}

function pointFor(
  known: BudgetInputs,
  window: SourcedValue | undefined,
  tokens: SourcedValue | undefined,
) {
  return findHarness(known.harness)?.limits?.compactionPoint(known)({
    window,
    version: known.window?.version ?? known.version ?? known.tail?.version,
    tokens: tokens?.value,
    lastAutomatic: known.lastAutomatic,
  })
}

/** Undefined once the limit was reset. */
function limitAt(limit: RateLimit | undefined, told: ContextWindow | undefined, now: string) {
  if (limit === undefined || told === undefined || (limit.resetsAt ?? now) < now) return undefined
  return measured(limit, 'status line', told.at)
}
