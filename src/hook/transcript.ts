import { mayRunTests } from '../command/may-run-tests.ts'
import { type TranscriptChunk, readTailChunk } from '../harness/contract/transcript-lines.ts'
import type { TranscriptFacts } from '../harness/contract/transcript.ts'
import { harnessHooks } from '../harness/registry.ts'
import {
  readConversationState,
  writeConversationState,
} from '../project/conversation/conversation-state.ts'
import type { SessionState } from '../session/state.ts'
import { workingFolder } from '../project/store/project-paths.ts'
import { statementsFromAgent } from '../session/statements/statements.ts'
import { defined } from '../text/defined.ts'
import { redactAndClip, redactInTime } from '../project/store/redact-and-clip.ts'
import { type DeliveryStatus, startContextWindow } from './inject.ts'
import type { SessionContext } from './session-context.ts'

const CHUNK_BYTES = 1024 * 1024
const MAX_CHUNKS = 32
const MAX_SUMMARY_LENGTH = 16_000

interface TranscriptRead {
  readonly facts?: TranscriptFacts
  readonly delivery: DeliveryStatus
}

/**
 * Reads the new part of the transcript and records what only it shows: compactions, the summary,
 * test results, usage. The amount per event is limited.
 */
export async function readTranscript(
  context: SessionContext,
  { chunks = MAX_CHUNKS, isEarly = false }: { chunks?: number; isEarly?: boolean } = {},
): Promise<TranscriptRead> {
  const { transcript, looked: last, given } = context.conversationState
  const chunk = transcript === undefined ? undefined : readTailChunk(transcript, last, CHUNK_BYTES)
  if (chunk === undefined) {
    if (context.conversationState.awaitsBoundary === true && !isEarly)
      countWithoutTranscript(context)
    if (given === undefined) return { delivery: 'nothing injected' }
    return { delivery: given.isProved ? 'delivered' : 'not yet known' }
  }
  const result = await recordChunk(context, chunk, last === undefined)
  const { awaitsBoundary, given: waiting } = context.conversationState
  // The awaited line may follow megabytes of images and output.
  const isAwaited = awaitsBoundary === true || waiting?.isProved === false
  const isBehind = chunk.from + chunk.bytes.length < chunk.size && chunk.bytes.length > 0
  return isAwaited && isBehind && chunks > 1
    ? readTranscript(context, { chunks: chunks - 1 })
    : result
}

async function recordChunk(
  context: SessionContext,
  chunk: TranscriptChunk,
  isFirst: boolean,
): Promise<TranscriptRead> {
  const facts = context.hooks.transcript.inspect(chunk.bytes, context.conversationState.carried)
  await recordContents(context, context.event.conversation, facts)
  // A compaction from before hooks followed the conversation does not belong to the session.
  if (!isFirst || chunk.from === 0) {
    recordCompactions(context, context.event.conversation, facts)
    followCompactions(context, facts)
  }
  const { consumed, carried, lastAssistantAt: answeredAt, usage, model } = facts
  context.update({
    looked: { offset: chunk.from + consumed, inode: chunk.inode },
    carried: carried.map(({ toolUseId, command }) => ({
      toolUseId,
      command: redactInTime(command, context.config),
    })),
    ...defined({ answeredAt }),
    ...(usage === undefined ? {} : { usage: { ...usage, model } }),
  })
  return { facts, delivery: deliveryIn(context, facts) }
}

function deliveryIn(context: SessionContext, facts: TranscriptFacts): DeliveryStatus {
  const { given, sawBoundary, answeredAt = '' } = context.conversationState
  if (given === undefined) return 'nothing injected'
  if (facts.recordsHookContext) context.update({ recordsHookContext: true })
  if (given.isProved || facts.deliveryMarkers.includes(given.mark)) {
    context.update({ given: { ...given, isProved: true } })
    return 'delivered'
  }
  // The harness may record injected context only when the model responds; after a compaction it is
  // right behind the boundary.
  if (sawBoundary !== true && answeredAt <= given.at) return 'not yet known'
  return context.conversationState.recordsHookContext === true ? 'missing' : 'not recorded'
}

/** The previous conversation may have been killed, or ended before its transcript was complete. */
export async function readPreviousTranscript(context: SessionContext): Promise<void> {
  const previous = context.state.conversations.items.findLast(
    (known) => known.text !== context.event.conversation,
  )
  const conversationState =
    previous === undefined ? undefined : readConversationState(context.stateFolder, previous.text)
  if (
    previous === undefined ||
    conversationState?.transcript === undefined ||
    conversationState.looked === undefined
  )
    return
  // It may have moved to another session since.
  const reader = harnessHooks(conversationState.harness)?.transcript
  if (conversationState.session !== context.sessionId || reader === undefined) return
  const chunk = readTailChunk(conversationState.transcript, conversationState.looked, CHUNK_BYTES)
  if (chunk === undefined || chunk.bytes.length === 0) return
  const facts = reader.inspect(chunk.bytes, conversationState.carried)
  await recordContents(context, previous.text, facts)
  recordCompactions(context, previous.text, facts)
  // A running conversation keeps its own state; duplicate entries count once.
  if (previous.endedAt === undefined) return
  const looked = { offset: chunk.from + facts.consumed, inode: chunk.inode }
  const { carried: _carried, ...rest } = conversationState
  context.attempt(() => writeConversationState(context.stateFolder, { ...rest, looked }))
}

async function recordContents(
  context: SessionContext,
  conversation: string,
  { commands, queued, failure, lastAssistantAt, messages }: TranscriptFacts,
): Promise<void> {
  for (const { uuid, text } of messages()) recordMessage(context, conversation, uuid, text)
  for (const command of commands) {
    if (mayRunTests(command.command)) await recordTestRun(context, { conversation, ...command })
    await recordObservation(context, { conversation, ...command })
  }
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

const MAX_MESSAGE_LENGTH = 16_000

/** Only what is worth keeping: the conversation itself is stored elsewhere. */
function recordMessage(
  context: SessionContext,
  conversation: string,
  uuid: string,
  message: string,
): void {
  const once = `message:${uuid}`
  if (context.isRecorded(once)) return
  const text = redactAndClip(message.trim(), MAX_MESSAGE_LENGTH, context.config)
  const statements = statementsFromAgent(text)
  if (statements.length > 0) context.record('message.captured', { statements, conversation }, once)
}

interface FinishedCommand {
  readonly conversation: string
  readonly command: string
  readonly output: string
  readonly isError: boolean
  readonly toolUseId: string | undefined
}

const MAX_FAILED_COMMANDS = 8

/** Typed facts of a command's output: errors, versions, what worked, what was written. */
export async function recordObservation(
  context: SessionContext,
  { conversation, toolUseId, isError, ...texts }: FinishedCommand,
): Promise<void> {
  const { failed: earlier = [] } = context.conversationState
  const once = toolUseId === undefined ? undefined : `observed:${toolUseId}`
  if (once !== undefined && context.isRecorded(once)) return
  if (!isError && earlier.length === 0 && !MAY_SHOW_FACTS.test(texts.command)) return
  const { observeCommand, worthRecording } = await import('../command/observe-command.ts')
  const command = redactInTime(texts.command, context.config)
  const output = redactInTime(texts.output, context.config)
  const root = workingFolder(context.paths)
  const { failed, ...observed } = observeCommand(
    { command, output, isError, cwd: context.event.cwd, root },
    earlier,
  )
  if (failed !== undefined)
    context.update({ failed: [...earlier, failed].slice(-MAX_FAILED_COMMANDS) })
  for (const { path } of observed.written) recordChangedFile(context, path)
  const known = context.session === undefined ? undefined : context.state.observations
  const facts = worthRecording(observed, known)
  if (facts !== undefined) context.record('command.observed', { ...facts, conversation }, once)
}

/** Most commands only read, and show no fact that a later conversation needs. */
const MAY_SHOW_FACTS =
  /[>]|\b(?:tee|sed|perl|mv|cp|rm|touch|patch|apply|install|dd|test|tests|check|build|spec|version|versions|doctor|info|about|schema|status)\b|-v\b|-V\b|tsc|eslint|lint|compile|make|cargo|go |pytest|node |python|npm|yarn|pnpm|gradle|mvn/

const NO_FILES: SessionState['changedFiles'] = { earlier: 0, items: [] }

export function recordChangedFile(context: SessionContext, path: string): void {
  const { items, leftOut = [] } =
    context.session === undefined ? NO_FILES : context.state.changedFiles
  if (!isProjectFile(path) || leftOut.includes(path)) return
  if (!items.some((file) => file.text === path)) context.record('file.changed', { path })
}

/** False for files outside the project and for Stint's own. */
export function isProjectFile(path: string | undefined): boolean {
  return (
    path !== undefined &&
    !path.startsWith('/') &&
    !path.startsWith('..') &&
    !/^\.(?:sessions|tasks|git)\//.test(path)
  )
}

export async function recordTestRun(
  context: SessionContext,
  testRun: FinishedCommand,
): Promise<void> {
  const { detectTestRun } = await import('../command/detect-test-run.ts')
  const run = detectTestRun(testRun.command, testRun.output, testRun.isError)
  const once = testRun.toolUseId === undefined ? undefined : `test:${testRun.toolUseId}`
  if (run === undefined) return
  const { failures: _failures, ...recorded } = run
  context.record('test.ran', { ...recorded, conversation: testRun.conversation }, once)
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
  const text = redactAndClip(summary.text, MAX_SUMMARY_LENGTH, context.config)
  const summaryEntry = { text, conversation, ...defined({ boundary }) }
  context.record('summary.kept', summaryEntry, `summary:${boundary ?? conversation + text.length}`)
}

function followCompactions(context: SessionContext, { boundaries }: TranscriptFacts): void {
  if (boundaries.length === 0) return
  const isAnnounced = context.conversationState.awaitsBoundary === true
  context.update({ sawBoundary: isAnnounced })
  // An unannounced compaction removed the injected context.
  if (!isAnnounced) {
    startContextWindow(context)
    context.update({ isOwed: true })
  }
  const { usage: _ofBefore, ...rest } = context.conversationState
  context.conversationState = { ...rest, awaitsBoundary: false }
}

/** Counts an announced compaction of a harness without transcripts. */
function countWithoutTranscript(context: SessionContext): void {
  context.record('context.compacted', { conversation: context.event.conversation })
  context.update({ awaitsBoundary: false })
}
