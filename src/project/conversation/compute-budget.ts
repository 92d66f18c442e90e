// Small enough for a hook: reads the end of a transcript and a few settings.
import {
  type Budget,
  type SourcedValue,
  type RateLimit,
  estimated,
  newerOf,
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

export function computeBudget(inputs: BudgetInputs): Budget {
  const { window: reported, tail = {}, now } = inputs
  const tokens = contextSize(tail, reported, now)
  const window = windowSize(inputs, tokens)
  return defined({
    tokens,
    window,
    point: pointFor(inputs, window, tokens),
    cost:
      reported?.cost === undefined
        ? undefined
        : measured(reported.cost, 'status line', reported.at),
    fiveHour: limitAt(reported?.fiveHour, reported, now),
    sevenDay: limitAt(reported?.sevenDay, reported, now),
  })
}

function contextSize(
  tail: LastUsage,
  reported: ContextWindow | undefined,
  now: string,
): SourcedValue | undefined {
  const fromTranscript = contextSizeFrom(tail, now)
  // After a compaction old clients report the earlier size until the model answers.
  if (tail.compacted !== undefined || reported?.used === undefined) return fromTranscript
  return newerOf(fromTranscript, measured(reported.used, 'status line', reported.at))
}

function windowSize(
  { configured, window: reported, tail, now }: BudgetInputs,
  tokens: SourcedValue | undefined,
) {
  if (configured !== undefined) return estimated(configured, 'configuration', now)
  if (reported?.size !== undefined) return measured(reported.size, 'status line', reported.at)
  return estimateWindow(reported?.model ?? tail?.model, tokens?.value)
}

function pointFor(
  inputs: BudgetInputs,
  window: SourcedValue | undefined,
  tokens: SourcedValue | undefined,
) {
  return findHarness(inputs.harness)?.limits?.compactionPoint(inputs)({
    window,
    version: inputs.window?.version ?? inputs.version ?? inputs.tail?.version,
    tokens: tokens?.value,
    lastAutomatic: inputs.lastAutomatic,
  })
}

/** Undefined once the limit was reset. */
function limitAt(limit: RateLimit | undefined, reported: ContextWindow | undefined, now: string) {
  if (limit === undefined || reported === undefined || (limit.resetsAt ?? now) < now)
    return undefined
  return measured(limit, 'status line', reported.at)
}
