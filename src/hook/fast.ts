// Most events need no handler: the response is precomputed or empty. The fast path reads small
// files without opening the session and leaves entries in its outbox. If anything is unknown or
// changed, the handler runs.
import { join } from 'node:path'
import type { Repository } from '../git/repository.ts'
import type { HookEventOf, HookEvent, HookProtocol } from '../harness/contract/hooks.ts'
import { readFastEvent } from '../harness/hook-protocols.ts'
import { readTextOrUndefined, statOrUndefined } from '../journal/read-files.ts'
import { recordHookCost } from '../project/conversation/hook-costs.ts'
import {
  type ConversationState,
  readConversationState,
  writeConversationState,
} from '../project/conversation/conversation-state.ts'
import { conversationStateFolder } from '../project/store/conversation-binding.ts'
import { readOpenSession } from '../project/store/open-session-files.ts'
import { addToOutbox } from '../project/store/outbox.ts'
import { readCachedConfig } from '../project/config/cached-config.ts'
import { HookContext, locateProject } from './hook-context.ts'
import { scanQuietTranscript } from './transcript-scan.ts'
import { defined } from '../text/defined.ts'
import { nextAlert } from './budget.ts'
import type { SessionContext } from './session-context.ts'

/** False if the handler has to respond. */
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
    const context = respond === undefined ? undefined : openContext(event, env, protocol)
    if (context === undefined || !respond!(context)) return undefined
    writeResults(context)
    return protocol.printResponse(context.event.name, context.response)
  } catch {
    // The handler meets the same error and records it.
    return undefined
  }
}

function openContext(
  event: HookEvent,
  env: NodeJS.ProcessEnv,
  protocol: HookProtocol,
): HookContext | undefined {
  if ((env.STINT_SESSION ?? '') !== '' || env.STINT_HOOKS === 'off') return undefined
  const paths = locateProject(event, env, protocol)
  if (paths.repository === undefined) return undefined
  const stateFolder = conversationStateFolder(paths)
  const config = readCachedConfig(paths, stateFolder)
  // The user's own patterns may be slow; only tool events record no text.
  if (config === undefined) return undefined
  if (config.redact.patterns.length > 0 && event.kind !== 'toolUsed') return undefined
  const known = readConversationState(stateFolder, event.conversation)
  return new HookContext({ event, paths, config, env, protocol }, known)
}

function writeResults(context: HookContext): void {
  const { event, paths, stateFolder, drafts, sessionId } = context
  if (context.isStateChanged) writeConversationState(stateFolder, context.conversationState)
  for (const draft of drafts) addToOutbox(paths, sessionId!, draft)
  context.runDeferred()
  recordHookCost(stateFolder, event.conversation, event.name, context.charactersForModel)
}

/** A session without anything unrecorded when it was last read. */
export interface UpToDateSession {
  readonly id: string
  readonly settled: NonNullable<ConversationState['settled']>
  /** A delegate reported something that was not injected yet. */
  readonly hasNews: boolean
}

export function upToDateSession(context: HookContext): UpToDateSession | undefined {
  const settled = upToDateState(context)
  const open = settled === undefined ? undefined : readOpenSession(context.paths, settled.session)
  if (settled === undefined || open?.status !== 'active') return undefined
  const { heard = '' } = context.conversationState
  return {
    id: settled.session,
    settled,
    hasNews: open.news !== undefined && open.news > heard,
  }
}

/** Undefined if git, the configuration or the session changed, or anything is pending. */
export function upToDateState({
  paths,
  conversationState,
}: HookContext): UpToDateSession['settled'] | undefined {
  const { session, settled } = conversationState
  return settled !== undefined &&
    settled.session === session &&
    !hasPendingWork(conversationState) &&
    settled.head === headStamp(paths.repository!) &&
    settled.config === configStamp(paths.sessions)
    ? settled
    : undefined
}

export function hasPendingWork({ awaitsBoundary, isOwed, unbound }: ConversationState): boolean {
  return awaitsBoundary === true || isOwed === true || unbound !== undefined
}

export function isTranscriptQuiet({ protocol, conversationState }: HookContext): boolean {
  return scanQuietTranscript(protocol.transcriptPatterns, conversationState) !== undefined
}

function headStamp({ gitDir, commonDir }: Repository): string {
  const head = readTextOrUndefined(join(gitDir, 'HEAD'))?.trim() ?? ''
  const ref = /^ref: (\S+)$/.exec(head)?.[1]
  // A commit by someone else moves the branch.
  return ref === undefined
    ? head
    : `${head} ${readTextOrUndefined(join(commonDir, ref))?.trim() ?? ''}`
}

function configStamp(sessions: string): string {
  const stat = statOrUndefined(join(sessions, 'config.yaml'))
  return stat === undefined ? '' : `${stat.ino}:${stat.size}:${stat.mtimeMs}`
}

const MAX_FILES = 200

/** Lets the next events take the fast path. */
export function markUpToDate(context: SessionContext): void {
  const { repository, sessions } = context.paths
  if (repository === undefined || context.session === undefined) return
  const { items, leftOut = [] } = context.state.changedFiles
  const newFiles = context.drafts.flatMap(({ kind, data }) =>
    kind === 'file.changed' ? [(data as { path: string }).path] : [],
  )
  context.update({
    settled: {
      session: context.session.id,
      head: headStamp(repository),
      config: configStamp(sessions),
      files: [...leftOut, ...items.map((file) => file.text), ...newFiles].slice(-MAX_FILES),
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
export function hasAsked({ state, conversationState }: SessionContext): boolean {
  return (
    /\?\s*$/.test(state.lastTurn?.said ?? '') &&
    state.lastTurn?.conversation === conversationState.conversation
  )
}
