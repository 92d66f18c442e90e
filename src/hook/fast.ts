// Most events need no handler: their response was precomputed, or is silence. They are answered from small files without
// opening the session, and entries are left in its outbox. Wherever anything is unknown or has changed, the handler runs.
import { join } from 'node:path'
import type { Repository } from '../git/repository.ts'
import type { EventOf, HookEvent, HookProtocol } from '../harness/contract/hooks.ts'
import { readFastEvent } from '../harness/hook-protocols.ts'
import { readOrUndefined, statOrUndefined } from '../journal/look.ts'
import { noteCost } from '../project/conversation/costs.ts'
import { type Tracking, readTracking, writeTracking } from '../project/conversation/tracking.ts'
import { trackingFolderOf } from '../project/store/conversation-binding.ts'
import { readOpenSession } from '../project/store/open-session-files.ts'
import { leaveInOutbox } from '../project/store/outbox.ts'
import { rememberedConfig } from '../project/config/cached-config.ts'
import { HookContext, placeOf } from './context.ts'
import { quietGlance } from './transcript-glance.ts'
import { defined } from '../text/defined.ts'
import { nextAlert } from './budget.ts'
import type { SessionContext } from './session-context.ts'

/** False where the handler has to respond. */
export type FastResponses = {
  readonly [K in HookEvent['kind']]?: (context: HookContext<EventOf<K>>) => boolean
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
  const place = placeOf(event, env, protocol)
  if (place.repository === undefined) return undefined
  const stateFolder = trackingFolderOf(place)
  const config = rememberedConfig(place.sessions, stateFolder)
  // The user's own patterns may take long, and only the use of a tool records no text.
  if (config === undefined) return undefined
  if (config.redact.patterns.length > 0 && event.kind !== 'toolUsed') return undefined
  const known = readTracking(stateFolder, event.conversation)
  return new HookContext({ event, place, config, env, protocol }, known)
}

function commit(context: HookContext): void {
  const { event, place, stateFolder, drafts, sessionId } = context
  if (context.isStateChanged) writeTracking(stateFolder, context.tracking)
  for (const draft of drafts) leaveInOutbox(place, sessionId!, draft)
  context.runAfterwards()
  noteCost(stateFolder, event.conversation, event.name, context.charactersForModel)
}

/** A session of which everything was recorded when it was last read. */
export interface SettledSession {
  readonly id: string
  readonly settled: NonNullable<Tracking['settled']>
  /** A delegate reported something that the conversation has not heard. */
  readonly hasNews: boolean
}

/** Undefined when git, the configuration or the session changed since, or anything is pending. */
export function settledSession(context: HookContext): SettledSession | undefined {
  const { place, tracking } = context
  const { session, settled, heard = '' } = tracking
  if (session === undefined || settled?.session !== session || isPending(tracking)) return undefined
  if (!isStillSettled(context, settled)) return undefined
  const open = readOpenSession(place, session)
  if (open?.status !== 'active') return undefined
  return { id: session, settled, hasNews: open.news !== undefined && open.news > heard }
}

export function isPending({ awaitsBoundary, isOwed, files, requests }: Tracking): boolean {
  return awaitsBoundary === true || isOwed === true || files !== undefined || requests.length > 0
}

export function isStillSettled(
  { place }: HookContext,
  { head, config }: SettledSession['settled'],
): boolean {
  return head === headStamp(place.repository!) && config === configStamp(place.sessions)
}

export function isQuiet({ protocol, tracking }: HookContext): boolean {
  return quietGlance(protocol.signs, tracking) !== undefined
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
export function noteSettled(context: SessionContext): void {
  const { repository, sessions } = context.place
  if (repository === undefined || context.session === undefined) return
  const { items, leftOut = [] } = context.state.changedFiles
  const noted = context.drafts.flatMap(({ kind, data }) =>
    kind === 'file.changed' ? [(data as { path: string }).path] : [],
  )
  context.note({
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
