import { mayRunTests } from '../command/may-run-tests.ts'
import { type TranscriptChunk, readTailChunk } from '../harness/contract/transcript-lines.ts'
import type { TranscriptFacts } from '../harness/contract/transcript.ts'
import { harnessHooks } from '../harness/registry.ts'
import {
  readConversationState,
  writeConversationState,
} from '../project/conversation/conversation-state.ts'
import { defined } from '../text/defined.ts'
import { redactAndClip, redactInTime } from './clip.ts'
import { type DeliveryStatus, startContextWindow } from './inject.ts'
import type { SessionContext } from './session-context.ts'

const PIECE = 1024 * 1024
const MOST_PIECES = 32
const LONGEST_SUMMARY = 16_000

interface TranscriptRead {
  readonly read?: TranscriptFacts
  readonly delivery: DeliveryStatus
}

/**
 * Reads what the harness wrote since the last time and records what only the transcript shows: compactions, the summary,
 * test results, usage. Bounded, so that a transcript of any size costs the same.
 */
export async function readTranscript(
  context: SessionContext,
  { pieces = MOST_PIECES, isEarly = false }: { pieces?: number; isEarly?: boolean } = {},
): Promise<TranscriptRead> {
  const { transcript, looked: last, given } = context.tracking
  const piece = transcript === undefined ? undefined : readTailChunk(transcript, last, PIECE)
  if (piece === undefined) {
    if (context.tracking.awaitsBoundary === true && !isEarly) countWithoutTranscript(context)
    if (given === undefined) return { delivery: 'nothing injected' }
    return { delivery: given.isProved ? 'delivered' : 'not yet known' }
  }
  const result = await readOnePiece(context, piece, last === undefined)
  const { awaitsBoundary, given: waiting } = context.tracking
  // What is waited for may stand behind megabytes of pictures and output.
  const isAwaited = awaitsBoundary === true || waiting?.isProved === false
  const isBehind = piece.from + piece.bytes.length < piece.size && piece.bytes.length > 0
  return isAwaited && isBehind && pieces > 1
    ? readTranscript(context, { pieces: pieces - 1 })
    : result
}

async function readOnePiece(
  context: SessionContext,
  piece: TranscriptChunk,
  isFirst: boolean,
): Promise<TranscriptRead> {
  const read = context.hooks.transcript.inspect(piece.bytes, context.tracking.carried)
  await recordContents(context, context.event.conversation, read)
  // A compaction before hooks followed this conversation is not this session's.
  if (!isFirst || piece.from === 0) {
    recordCompactions(context, context.event.conversation, read)
    followCompactions(context, read)
  }
  const { consumed, carried, lastAssistantAt: answeredAt, usage, model } = read
  context.updateTracking({
    looked: { offset: piece.from + consumed, inode: piece.inode },
    carried: carried.map(({ toolUseId, command }) => ({
      toolUseId,
      command: redactInTime(command, context.config),
    })),
    ...defined({ answeredAt }),
    ...(usage === undefined ? {} : { usage: { ...usage, model } }),
  })
  return { read, delivery: deliveryIn(context, read) }
}

function deliveryIn(context: SessionContext, read: TranscriptFacts): DeliveryStatus {
  const { given, sawBoundary, answeredAt = '' } = context.tracking
  if (given === undefined) return 'nothing injected'
  if (read.recordsHookContext) context.updateTracking({ recordsHookContext: true })
  if (given.isProved || read.deliveryMarkers.includes(given.mark)) {
    context.updateTracking({ given: { ...given, isProved: true } })
    return 'delivered'
  }
  // Until the model has answered, the harness may not have written down what was injected; what was injected after a
  // compaction stands right behind the boundary.
  if (sawBoundary !== true && answeredAt <= given.at) return 'not yet known'
  return context.tracking.recordsHookContext === true ? 'missing' : 'not recorded'
}

/** The conversation before was killed, or ended before its transcript was complete. */
export async function readPreviousTranscript(context: SessionContext): Promise<void> {
  const previous = context.state.conversations.items.findLast(
    (known) => known.text !== context.event.conversation,
  )
  const tracking =
    previous === undefined ? undefined : readConversationState(context.stateFolder, previous.text)
  if (previous === undefined || tracking?.transcript === undefined || tracking.looked === undefined)
    return
  // It may have continued with another session since.
  const reader = harnessHooks(tracking.harness)?.transcript
  if (tracking.session !== context.sessionId || reader === undefined) return
  const piece = readTailChunk(tracking.transcript, tracking.looked, PIECE)
  if (piece === undefined || piece.bytes.length === 0) return
  const read = reader.inspect(piece.bytes, tracking.carried)
  await recordContents(context, previous.text, read)
  recordCompactions(context, previous.text, read)
  // One that still runs keeps its own state; an entry recorded twice counts once.
  if (previous.endedAt === undefined) return
  const looked = { offset: piece.from + read.consumed, inode: piece.inode }
  const { carried: _read, ...rest } = tracking
  context.attempt(() => writeConversationState(context.stateFolder, { ...rest, looked }))
}

async function recordContents(
  context: SessionContext,
  conversation: string,
  { commands, queued, failure, lastAssistantAt }: TranscriptFacts,
): Promise<void> {
  const tests = commands.filter(({ command }) => mayRunTests(command))
  for (const { toolUseId, command, output, isError } of tests)
    await recordTestRun(context, { conversation, command, output, isError, toolUseId })
  if (queued.length > 0) {
    const { recordRequest } = await import('./requests.ts')
    for (const { uuid, text } of queued)
      recordRequest(context, text, { conversation, once: `queued:${uuid}` })
  }
  if (failure !== undefined) {
    const once = `failure:${conversation}:${lastAssistantAt}`
    context.record('turn.ended', { conversation, failure }, once)
  }
}

export async function recordTestRun(
  context: SessionContext,
  ran: {
    conversation: string
    command: string
    output: string
    isError: boolean
    toolUseId: string | undefined
  },
): Promise<void> {
  const { detectTestRun } = await import('../command/detect-test-run.ts')
  const run = detectTestRun(ran.command, ran.output, ran.isError)
  const once = ran.toolUseId === undefined ? undefined : `test:${ran.toolUseId}`
  if (run !== undefined)
    context.record('test.ran', { ...run, conversation: ran.conversation }, once)
}

function recordCompactions(
  context: SessionContext,
  conversation: string,
  { boundaries, summary }: TranscriptFacts,
): void {
  for (const { uuid: boundary, trigger, tokensBefore } of boundaries) {
    const data = { conversation, boundary, ...defined({ trigger, tokensBefore }) }
    context.record('context.compacted', data, `boundary:${boundary}`)
  }
  if (summary === undefined) return
  const boundary = summary.boundary ?? boundaries.at(-1)?.uuid
  const text = redactAndClip(summary.text, LONGEST_SUMMARY, context.config)
  const kept = { text, conversation, ...defined({ boundary }) }
  context.record('summary.kept', kept, `summary:${boundary ?? conversation + text.length}`)
}

function followCompactions(context: SessionContext, { boundaries }: TranscriptFacts): void {
  if (boundaries.length === 0) return
  const isAnnounced = context.tracking.awaitsBoundary === true
  context.updateTracking({ sawBoundary: isAnnounced })
  // What was injected before an unannounced one is gone, and nothing was injected since.
  if (!isAnnounced) {
    startContextWindow(context)
    context.updateTracking({ isOwed: true })
  }
  const { usage: _ofBefore, ...rest } = context.tracking
  context.tracking = { ...rest, awaitsBoundary: false }
}

/** The harness announced a compaction and has no transcript to show it. */
function countWithoutTranscript(context: SessionContext): void {
  context.record('context.compacted', { conversation: context.event.conversation })
  context.updateTracking({ awaitsBoundary: false })
}
