// The point at which Claude Code compacts a conversation. It tells nobody, so that it is worked out as the client
// does it, from its settings and the size of the window.
import { type Figure, estimated, measured } from '../../context/budget/figures.ts'
import type { PointEvidence } from '../contract/limits.ts'

/** What settings and environment say about compaction. */
export interface CompactionSettings {
  /** Compaction happens by itself. */
  readonly isAutomatic: boolean
  /** A window that the person set, smaller than the model's. */
  readonly window?: number
  /** Percent of the window, where the person set that. */
  readonly percent?: number
  /** The longest answer the client lets the model give, where the person set that. */
  readonly maxOutput?: number
  /** Where each of these was said, for whoever asks. */
  readonly said: readonly string[]
}

export interface ClaudeEvidence extends PointEvidence {
  readonly settings: CompactionSettings
}

/** Kept free for the summary, and for what the last answer brings. */
const MARGIN = 13_000
const SUMMARY = 20_000
const OLD_OUTPUT = 32_000

/** How much above the rule a compaction may have been, and still say where the point is. An answer may overshoot it by far. */
const OVERSHOOT = 1.05

/** How many tokens there are when it compacts; with compaction turned off, how many the model can take. */
export function compactionPoint(evidence: ClaudeEvidence): Figure | undefined {
  const rule = pointByRule(evidence)
  const { lastAutomatic: seen, tokens, settings } = evidence
  if (seen === undefined || !settings.isAutomatic) return rule
  // It has more by now and did not compact: something was set differently then.
  if (tokens !== undefined && tokens > seen.tokens) return rule
  if (rule !== undefined && seen.tokens > rule.value * OVERSHOOT) return rule
  return measured(seen.tokens, 'transcript: it compacted there', seen.at)
}

function pointByRule({ window, settings, version }: ClaudeEvidence): Figure | undefined {
  if (window === undefined) return undefined
  const { isAutomatic, percent } = settings
  const said = settings.said.length === 0 ? '' : ` (${settings.said.join(', ')})`
  if (!isAutomatic) return { ...window, from: `the whole window, since compaction is off${said}` }
  const isOld = isOldClient(version)
  // Old clients know no window but the model's.
  const size = isOld ? window.value : Math.min(window.value, settings.window ?? Infinity)
  const output = settings.maxOutput ?? OLD_OUTPUT
  const usable = size - (isOld ? output : Math.min(output, SUMMARY))
  const usual = usable - MARGIN
  const value =
    percent === undefined ? usual : Math.min(usual, Math.floor((usable * percent) / 100))
  if (value <= 0) return undefined
  const less =
    percent === undefined || value === usual
      ? `window less ${count(size - usual)}`
      : `${percent}% of the window`
  return estimated(value, `${less}${said}`, window.at)
}

/** Before 2.1 the whole of the longest answer was kept free. */
function isOldClient(version: string | undefined): boolean {
  const [, major = '', minor = ''] = /^(\d+)\.(\d+)\./.exec(version ?? '') ?? []
  return major !== '' && (Number(major) < 2 || (Number(major) === 2 && Number(minor) < 1))
}

function count(tokens: number): string {
  return `${tokens / 1000}k`
}
