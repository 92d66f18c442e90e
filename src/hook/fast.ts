// Most events need no handler: their response was precomputed, or is silence. They are answered from small files without
// opening the session, and entries are left in its outbox. Wherever anything is unknown or has changed, the handler runs.
import { join } from 'node:path'
import type { Repository } from '../git/repository.ts'
import type { HookEventOf, HookEvent, HookProtocol } from '../harness/contract/hooks.ts'
import { readFastEvent } from '../harness/hook-protocols.ts'
import { readOrUndefined, statOrUndefined } from '../journal/read-files.ts'
import { recordHookCost } from '../project/conversation/hook-costs.ts'
import {
  type ConversationState,
  readConversationState,
  writeConversationState,
} from '../project/conversation/conversation-state.ts'
import { conversationStateFolder } from '../project/store/conversation-binding.ts'
import { readOpenSession } from '../project/store/open-session-files.ts'
import { leaveInOutbox } from '../project/store/outbox.ts'
import { readCachedConfig } from '../project/config/cached-config.ts'
import { HookContext, locateProject } from './hook-context.ts'
import { scanQuietTranscript } from './transcript-scan.ts'
import { defined } from '../text/defined.ts'
import { nextAlert } from './budget.ts'
import type { SessionContext } from './session-context.ts'

/** False where the handler has to respond. */
export type FastResponses = {
  readonly [K in HookEvent['kind']]?: (context: HookContext<HookEventOf<K>>) => boolean
}

export function serveFast(
  input: string,
  env: NodeJS.ProcessEnv,
  responses: FastResponses,
): string | undefined {
  try {
    const { event, protocol } = readFastEvent(input) ?? {}
    if (event === undefined || protocol === undefined) return undefined
    const respond = responses[event.kind] as ((context: HookContext) => boolean) | undefined
    const context = respond === undefined ? undefined : open(event, env, protocol)
    if (context === undefined || !respond!(context)) return undefined
    commit(context)
    return protocol.printResponse(context.event.name, context.response)
  } catch {
    // Whatever is wrong, with the event, the files or the disk, the handler finds and notes it.
    return undefined
  }
}

function open(
  event: HookEvent,
  env: NodeJS.ProcessEnv,
  protocol: HookProtocol,
): HookContext | undefined {
  if ((env.STINT_SESSION ?? '') !== '' || env.STINT_HOOKS === 'off') return undefined
  const place = locateProject(event, env, protocol)
  if (place.repository === undefined) return undefined
  const stateFolder = conversationStateFolder(place)
  const config = readCachedConfig(place.sessions, stateFolder)
  // The user's own patterns may take long, and only the use of a tool records no text.
  if (config === undefined) return undefined
  if (config.redact.patterns.length > 0 && event.kind !== 'toolUsed') return undefined
  const known = readConversationState(stateFolder, event.conversation)
  return new HookContext({ event, place, config, env, protocol }, known)
}

function commit(context: HookContext): void {
  const { event, place, stateFolder, drafts, sessionId } = context
  if (context.isStateChanged) writeConversationState(stateFolder, context.tracking)
  for (const draft of drafts) leaveInOutbox(place, sessionId!, draft)
  context.runDeferred()
  recordHookCost(stateFolder, event.conversation, event.name, context.charactersForModel)
}

/** A session of which everything was recorded when it was last read. */
export interface UpToDateSession {
  readonly id: string
  readonly settled: NonNullable<ConversationState['settled']>
  /** A delegate reported something that the conversation has not heard. */
  readonly hasNews: boolean
}

/** Undefined when git, the configuration or the session changed since, or anything is pending. */
export function upToDateSession(context: HookContext): UpToDateSession | undefined {
  const { place, tracking } = context
  const { session, settled, heard = '' } = tracking
  if (session === undefined || settled?.session !== session || hasPendingWork(tracking))
    return undefined
  if (!isStillUpToDate(context, settled)) return undefined
  const open = readOpenSession(place, session)
  if (open?.status !== 'active') return undefined
  return { id: session, settled, hasNews: open.news !== undefined && open.news > heard }
}

export function hasPendingWork({
  awaitsBoundary,
  isOwed,
  files,
  requests,
}: ConversationState): boolean {
  return awaitsBoundary === true || isOwed === true || files !== undefined || requests.length > 0
}

export function isStillUpToDate(
  { place }: HookContext,
  { head, config }: UpToDateSession['settled'],
): boolean {
  return head === headStamp(place.repository!) && config === configStamp(place.sessions)
}

export function isTranscriptQuiet({ protocol, tracking }: HookContext): boolean {
  return scanQuietTranscript(protocol.transcriptPatterns, tracking) !== undefined
}

export function headStamp({ gitDir, commonDir }: Repository): string {
  const head = readOrUndefined(join(gitDir, 'HEAD'))?.toString('utf8').trim() ?? ''
  const ref = /^ref: (\S+)$/.exec(head)?.[1]
  // A commit by somebody else moves the branch.
  return ref === undefined
    ? head
    : `${head} ${readOrUndefined(join(commonDir, ref))?.toString('utf8').trim() ?? ''}`
}

export function configStamp(sessions: string): string {
  const stat = statOrUndefined(join(sessions, 'config.yaml'))
  return stat === undefined ? '' : `${stat.ino}:${stat.size}:${stat.mtimeMs}`
}

const MOST_FILES = 200

/** The next events need no handler. */
export function markUpToDate(context: SessionContext): void {
  const { repository, sessions } = context.place
  if (repository === undefined || context.session === undefined) return
  const { items, leftOut = [] } = context.state.changedFiles
  const noted = context.drafts.flatMap(({ kind, data }) =>
    kind === 'file.changed' ? [(data as { path: string }).path] : [],
  )
  context.updateTracking({
    settled: {
      session: context.session.id,
      head: headStamp(repository),
      config: configStamp(sessions),
      files: [...leftOut, ...items.map((file) => file.text), ...noted].slice(-MOST_FILES),
      hasAsked: hasAsked(context),
      hasSwitched: hasSwitched(context),
      ...defined({ alertAt: nextAlert(context) }),
    },
  })
}

export function hasSwitched({ head, state }: SessionContext): boolean {
  return head.branch !== undefined && state.branch !== undefined && head.branch !== state.branch
}

/** The next prompt may answer the agent's question. */
export function hasAsked({ state, tracking }: SessionContext): boolean {
  return (
    /\?\s*$/.test(state.lastTurn?.said ?? '') &&
    state.lastTurn?.conversation === tracking.conversation
  )
}
