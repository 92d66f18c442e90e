import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import {
  type KeptTotals,
  type SpentByModel,
  type Totals,
  together,
  totalsOf,
} from '../../harness/contract/transcript.ts'
import { DEFAULT_HARNESS, hooksOf } from '../../harness/registry.ts'
import { errnoOf } from '../../journal/errors.ts'
import { createFolder, replaceUnsynced } from '../../journal/files.ts'
import { readOrUndefined } from '../../journal/look.ts'
import { isSealed, sealed } from '../../journal/record.ts'

interface Kept {
  readonly format: number
  readonly conversation?: KeptTotals
  /** By the name of their transcript. */
  readonly delegates: Readonly<Record<string, KeptTotals>>
}

const FORMAT = 1

type Progress = (done: number, size: number) => void

export interface ConversationTotals extends Totals {
  readonly delegates: number
}

/** Earlier sums are cached beside the hooks' notes, so that a long transcript is read once. */
export function conversationTotals(
  folder: string,
  conversation: string,
  transcript: string,
  {
    harness = DEFAULT_HARNESS,
    progress,
  }: { harness?: string; progress?: Progress | undefined } = {},
): ConversationTotals | undefined {
  const sumUp = hooksOf(harness)?.transcript.sumUp
  if (sumUp === undefined) return undefined
  const path = join(folder, `${conversation}.usage`)
  const before = readKept(path)
  const own = sumUp(transcript, before.conversation, progress)
  if (own === undefined) return undefined
  const delegates: Record<string, KeptTotals> = {}
  for (const [name, file] of delegateTranscripts(transcript)) {
    const sum = sumUp(
      file,
      Object.hasOwn(before.delegates, name) ? before.delegates[name] : undefined,
      progress,
    )
    if (sum !== undefined) delegates[name] = sum
  }
  keep(folder, path, { format: FORMAT, conversation: own, delegates })
  const totals = totalsOf(own)
  return {
    ...totals,
    delegated: delegatedBy(totals, Object.values(delegates)),
    delegates: Object.keys(delegates).length,
  }
}

/** Everything in a delegate's own transcript is the delegate's. */
function delegatedBy(own: Totals, delegates: readonly KeptTotals[]): SpentByModel {
  const theirs = delegates.map(totalsOf).flatMap(({ spent, delegated }) => [spent, delegated])
  return together([own.delegated, ...theirs])
}

function delegateTranscripts(transcript: string): readonly (readonly [string, string])[] {
  const folder = join(transcript.replace(/\.jsonl$/, ''), 'subagents')
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith('.jsonl'))
      .map((name) => [name, join(folder, name)])
  } catch (error) {
    // Nothing was delegated.
    if (errnoOf(error) === undefined) throw error
    return []
  }
}

function readKept(path: string): Kept {
  const nothing: Kept = { format: FORMAT, delegates: {} }
  try {
    const bytes = readOrUndefined(path)
    if (bytes === undefined || !isSealed(bytes)) return nothing
    const kept = JSON.parse(bytes.toString('utf8')) as Kept
    return kept.format === FORMAT ? kept : nothing
  } catch (error) {
    // Unreadable: summed up again.
    if (errnoOf(error) === undefined) throw error
    return nothing
  }
}

function keep(folder: string, path: string, kept: Kept): void {
  try {
    createFolder(folder)
    replaceUnsynced(path, sealed(JSON.stringify(kept)))
  } catch (error) {
    // Full or read-only disk: read again next time.
    if (errnoOf(error) === undefined) throw error
  }
}
