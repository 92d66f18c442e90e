import { textForSummariser } from '../context/injected-context.ts'
import type { HookEventOf } from '../harness/contract/hooks.ts'
import { kindsInOutbox } from '../project/store/outbox.ts'
import type { HookContext } from './hook-context.ts'
import { isTranscriptQuiet, upToDateSession } from './fast.ts'
import { recordGitChanges } from './git-changes.ts'
import {
  type CheckpointResponse,
  isCheckpointCurrent,
  readValidPrecomputed,
} from './precomputed.ts'
import { type SessionContext, writeQuickViews } from './session-context.ts'
import { readTranscript } from './transcript.ts'
import { openSessionIf } from './trivial-conversation.ts'

type PreCompact = HookEventOf<'preCompact'>

/**
 * Makes a checkpoint and gives the summariser what must not be lost. Compactions are counted from
 * the transcript, because this event may come several times or never.
 */
export async function onPreCompact(context: SessionContext<PreCompact>): Promise<void> {
  await readTranscript(context)
  // A conversation that fills its window is not trivial.
  await openSessionIf(context, context.conversationState.unbound !== undefined)
  if (context.session === undefined) return
  recordGitChanges(context)
  const counted = context.drafts.filter(({ kind }) => kind === 'context.compacted').length
  const compaction = context.state.compactions + counted + 1
  const isUnchanged = context.drafts.length === 0 && isCheckpointCurrent(context.state)
  const { entryCount } = context.state
  recordCheckpoint(context, { compaction, isPinned: isUnchanged, entryCount })
  context.flush()
  context.attempt(() => writeQuickViews(context.reopen()))
  context.respond({ plain: textForSummariser(context.state, { compaction }) })
}

export function preCompactFast(context: HookContext<PreCompact>): boolean {
  const session = upToDateSession(context)
  if (session === undefined || !isTranscriptQuiet(context)) return false
  const checkpoint = readValidPrecomputed(context.paths, session.id)?.checkpoint
  if (checkpoint === undefined || kindsInOutbox(context.paths, session.id).length > 0) return false
  recordCheckpoint(context, checkpoint)
  context.respond({ plain: checkpoint.text })
  return true
}

function recordCheckpoint(
  context: HookContext,
  { compaction, isPinned: isUnchanged, entryCount }: Omit<CheckpointResponse, 'text'>,
): void {
  if (isUnchanged) return
  context.record(
    'checkpoint.made',
    { note: `before compaction ${compaction}`, preCompact: true, ...context.git },
    `checkpoint:${context.event.conversation}:${compaction}:${entryCount}`,
  )
}
