import type { HarnessHooks, HookEventOf, HookEvent } from '../harness/contract/hooks.ts'
import { harnessHooks, readHookEvent } from '../harness/registry.ts'
import { StintError } from '../journal/errors.ts'
import { recordHookCost } from '../project/conversation/hook-costs.ts'
import { isTooLarge } from '../journal/read-files.ts'
import { readConversationState } from '../project/conversation/conversation-state.ts'
import { addToOutbox } from '../project/store/outbox.ts'
import { conversationStateFolder } from '../project/store/conversation-binding.ts'
import { oneLine } from '../text/clean.ts'
import { isInvalidConfig, readConfigWithCache } from '../project/config/cached-config.ts'
import { HookContext, type HookRequest, recordHookError, locateProject } from './hook-context.ts'
import { SessionContext, isProjectFolder } from './session-context.ts'
import { type FastResponses, serveFast } from './fast.ts'
import { onNotification } from './notification.ts'
import { onPreCompact, preCompactFast } from './pre-compact.ts'
import { onPrompt, promptFast, recordPrompt } from './prompt.ts'
import { onSessionStart, sessionStartFast } from './session-start.ts'
import { onToolUsed, recordEditUnread, toolUsedFast } from './tool-use.ts'
import {
  type RefreshViews,
  onSessionEnd,
  onStop,
  onSubagentStop,
  recordAgent,
  recordStopUnread,
  sessionEndFast,
  stopFast,
  subagentStopFast,
} from './turn-end.ts'

export type Handlers = {
  readonly [K in HookEvent['kind']]?: (
    context: SessionContext<HookEventOf<K>>,
  ) => void | Promise<void>
}

/** What an event shows by itself, without the state of its session. */
export type Captures = {
  readonly [K in HookEvent['kind']]?: (context: HookContext<HookEventOf<K>>) => unknown
}

type Handler = (context: SessionContext) => void | Promise<void>

/**
 * Returns what to print. Any error results in an empty response: an agent must not fail because of
 * its journal.
 */
export async function serveWithHandlers(
  input: string,
  env: NodeJS.ProcessEnv,
  handlers: Handlers,
  captures: Captures = {},
): Promise<string> {
  const event = readHookEvent(input)
  const handler = event === undefined ? undefined : (handlers[event.kind] as Handler | undefined)
  const protocol = harnessHooks(event?.harness)
  if (event === undefined || handler === undefined || protocol === undefined) return ''
  if (env.STINT_HOOKS === 'off') return ''
  let stateFolder: string | undefined
  let request: (HookRequest & { readonly protocol: HarnessHooks }) | undefined
  try {
    const paths = locateProject(event, env, protocol)
    if (!isProjectFolder(paths)) return ''
    stateFolder = conversationStateFolder(paths)
    const config = await readConfigWithCache(paths, stateFolder)
    request = { event, paths, config, env, protocol }
    const context = new SessionContext(request)
    await context.attemptAsync(() => handler(context))
    context.finish()
    context.session?.close()
    // Also without a session: the agent waited for the hook all the same.
    recordHookCost(stateFolder, event.conversation, event.name, context.charactersForModel)
    return protocol.printResponse(event.name, context.response)
  } catch (error) {
    // The project folder is gone, so the error cannot be recorded.
    if (stateFolder === undefined) return ''
    const isExpected = error instanceof StintError || isInvalidConfig(error)
    recordHookError(stateFolder, event, isExpected ? error.message : error)
    if (request !== undefined && isTooLarge(error)) captureUnread(request, captures)
    // Nothing is recorded until this is fixed, so the user must know.
    if (event.kind !== 'sessionStart' || !isInvalidConfig(error)) return ''
    const person = `📋 Stint records nothing here: ${oneLine(error.message)}`
    return protocol.printResponse(event.name, { person })
  }
}

/** The journal is too large to be read in a hook: what is captured waits in the outbox of the session. */
function captureUnread(request: HookRequest, captures: Captures): void {
  const { event, paths } = request
  const known = readConversationState(conversationStateFolder(paths), event.conversation)
  const context = new HookContext(request, known)
  context.attempt(() => {
    const capture = captures[event.kind] as ((context: HookContext) => unknown) | undefined
    if (context.sessionId === undefined || capture === undefined) return
    capture(context)
    for (const draft of context.drafts) addToOutbox(paths, context.sessionId, draft)
  })
}

const FAST: FastResponses = {
  sessionStart: sessionStartFast,
  userPrompt: promptFast,
  preCompact: preCompactFast,
  toolUsed: toolUsedFast,
  stop: stopFast,
  subagentStop: subagentStopFast,
  sessionEnd: sessionEndFast,
}

const HANDLERS = {
  sessionStart: onSessionStart,
  userPrompt: onPrompt,
  preCompact: onPreCompact,
  toolUsed: onToolUsed,
  stop: onStop,
  subagentStop: onSubagentStop,
  notification: onNotification,
} satisfies Handlers

const CAPTURES: Captures = {
  userPrompt: recordPrompt,
  toolUsed: recordEditUnread,
  stop: recordStopUnread,
  subagentStop: recordAgent,
}

/** `refreshViews` renders the document; the programs of most events do not load it. */
export async function serveHook(
  input: string,
  env: NodeJS.ProcessEnv,
  refreshViews: RefreshViews,
): Promise<string> {
  const handlers = {
    ...HANDLERS,
    sessionEnd: (context: SessionContext<HookEventOf<'sessionEnd'>>) =>
      onSessionEnd(context, refreshViews),
  }
  return serveWithoutHandler(input, env) ?? serveWithHandlers(input, env, handlers, CAPTURES)
}

export function serveWithoutHandler(input: string, env: NodeJS.ProcessEnv): string | undefined {
  return serveFast(input, env, FAST)
}
