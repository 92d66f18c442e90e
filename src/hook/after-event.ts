import { loadProjectContext } from '../context/survey/project-context.ts'
import { readProjectContext } from '../context/survey/cached-project-context.ts'
import { GitFailed } from '../git/run-git.ts'
import type { HookEvent } from '../harness/contract/hooks.ts'
import { harnessHooks, readHookEvent } from '../harness/registry.ts'
import { removeFile } from '../journal/write-files.ts'
import { readConfig } from '../project/config/read-config.ts'
import {
  recordBackgroundWrites,
  onceKeyForCosts,
  claimHookCosts,
} from '../project/conversation/hook-costs.ts'
import { readConversationState } from '../project/conversation/conversation-state.ts'
import { withoutSecrets } from '../project/store/clean-draft.ts'
import { conversationStateFolder } from '../project/store/conversation-binding.ts'
import { refreshViews } from '../project/store/refresh-views.ts'
import type { EntryDraft } from '../session/entries.ts'
import { defined } from '../text/defined.ts'
import { hasCrossedLastStage } from './budget.ts'
import { recordHookError, locateProject } from './hook-context.ts'
import { copyConversation } from '../project/history/copy-conversation.ts'
import { recordGitChanges } from './git-changes.ts'
import { makePendingHandoff, requestHandoff } from './pending-handoff.ts'
import { precompute } from './precomputed.ts'
import { SessionContext, isProjectFolder, writeQuickViews } from './session-context.ts'
import { markUpToDate } from './fast.ts'
import { readTranscript } from './transcript.ts'

const CHUNK_BYTES = 512 * 1024
/** Clients that do not know `async` wait for this; the rest is copied after the next event. */
const MAX_CHUNKS = 8
const COPY_TIMEOUT_MS = 1000
/**
 * Also handles conversations that were killed before their transcript was copied and their costs
 * recorded.
 */
const EARLIER_CONVERSATIONS = 5

const COPYING_EVENTS = new Set<HookEvent['kind']>(['stop', 'preCompact'])
/** The end of the previous conversation may have been cut short. */
const RENDERING_EVENTS = new Set<HookEvent['kind']>([...COPYING_EVENTS, 'sessionStart'])

/**
 * Background half of a hook: drains the outbox, reads the transcript, precomputes the next
 * responses and, at the end of a turn, renders the document. The harness kills it when it exits.
 * `stint` is the path of the command line program.
 */
export async function runAfterEvent(
  input: string,
  env: NodeJS.ProcessEnv,
  stint: string,
): Promise<void> {
  const event = readHookEvent(input)
  const protocol = harnessHooks(event?.harness)
  if (event === undefined || protocol === undefined || env.STINT_HOOKS === 'off') return
  const paths = locateProject(event, env, protocol)
  if (!isProjectFolder(paths)) return
  const stateFolder = conversationStateFolder(paths)
  try {
    // Without state no hook has served this conversation.
    if (readConversationState(stateFolder, event.conversation) === undefined) return
    const config = readConfig(paths)
    const context = new SessionContext({ event, paths, config, env, protocol }, false)
    const { session } = context
    if (session === undefined) return
    if (event.kind === 'preCompact' && event.trigger === 'auto') requestHandoffOnce(context)
    await recordEverything(context)
    if (event.kind === 'stop') recordCosts(context)
    if (RENDERING_EVENTS.has(event.kind)) {
      const { notices } = await refreshViews(session)
      for (const notice of notices) context.recordError(notice)
    } else {
      context.attempt(() => writeQuickViews(context.reopen()))
    }
    if (COPYING_EVENTS.has(event.kind)) copyConversations(context)
    if (event.kind === 'stop') context.attempt(() => surveyProject(context))
    context.attempt(() => makePendingHandoff(context, stint))
    context.attempt(() =>
      precompute(context.reopen(), event.conversation, RENDERING_EVENTS.has(event.kind)),
    )
    session.close()
    recordBackgroundWrites(stateFolder, event.conversation)
  } catch (error) {
    recordHookError(stateFolder, event, error)
  }
}

async function recordEverything(context: SessionContext): Promise<void> {
  // The transcript may not contain the event yet.
  await context.attemptAsync(async () => void (await readTranscript(context, { isEarly: true })))
  // The transcript shows the usage of a turn only after its end.
  context.drainOutbox((draft) => withUsage(draft, context))
  forgetFinishedAgents(context)
  context.attempt(() => recordGitChanges(context))
  // The hook of the same event may have recorded the same entries meanwhile.
  context.attempt(() => context.dropRecorded())
  context.flush()
  if (context.state.conversations.items.some(({ text }) => text === context.event.conversation))
    markUpToDate(context)
  context.finish({ isCareful: true })
}

/**
 * A compaction may come before the last stage. Once per compaction, however often it is announced.
 */
function requestHandoffOnce(context: SessionContext): void {
  const { handedOverIn, windowNumber = 0 } = context.conversationState
  if (handedOverIn === windowNumber || hasCrossedLastStage(context)) return
  context.update({ handedOverIn: windowNumber })
  requestHandoff(context, 'handoff', 'a compaction came first')
}

function surveyProject({ paths, config }: SessionContext): void {
  if (paths.repository === undefined || readProjectContext(paths) !== undefined) return
  try {
    loadProjectContext(paths.repository, { withoutSecrets: (text) => withoutSecrets(text, config) })
  } catch (error) {
    // Without git there is nothing to survey.
    if (!(error instanceof GitFailed)) throw error
  }
}

function forgetFinishedAgents(context: SessionContext): void {
  const running = Object.entries(context.conversationState.agents)
  const unfinished = running.filter(([agent]) => !context.isRecorded(`agent:${agent}`))
  if (unfinished.length < running.length) context.update({ agents: Object.fromEntries(unfinished) })
}

function withUsage(draft: EntryDraft, { conversationState }: SessionContext): EntryDraft {
  const { conversation, usage: latest } = conversationState
  if (draft.kind !== 'turn.ended' || latest === undefined) return draft
  const data = draft.data as { readonly conversation: string }
  if (data.conversation !== conversation) return draft
  const { model, ...usage } = latest
  return { ...draft, data: { ...data, ...defined({ model }), usage } }
}

/**
 * If killed in between, the costs are journalled again; the file name serves as `once`, so they
 * count once.
 */
function recordCosts(context: SessionContext): void {
  context.attempt(() => {
    const taken = claimHookCosts(context.stateFolder, recentConversations(context))
    for (const { name, costs } of taken)
      if (costs.writes > 0 || Object.keys(costs.events).length > 0)
        context.record('hooks.ran', costs, onceKeyForCosts(name))
    if (context.flush()) for (const { path } of taken) removeFile(path)
  })
}

function copyConversations(context: SessionContext): void {
  const { paths, config, stateFolder, conversationState } = context
  const earlier = recentConversations(context).slice(1)
  const untilMs = process.uptime() * 1000 + COPY_TIMEOUT_MS
  let chunks = 0
  for (const known of [
    conversationState,
    ...earlier.flatMap((each) => readConversationState(stateFolder, each) ?? []),
  ]) {
    let hasMore = true
    while (hasMore && chunks < MAX_CHUNKS && process.uptime() * 1000 < untilMs) {
      hasMore = copyConversation(paths, config, known, CHUNK_BYTES, untilMs)
      chunks += 1
    }
  }
}

function recentConversations({ event, state }: SessionContext): readonly string[] {
  const recent = state.conversations.items.slice(-EARLIER_CONVERSATIONS).map(({ text }) => text)
  return [...new Set([event.conversation, ...recent])]
}
