import { loadProjectContext } from '../context/survey/project-context.ts'
import { readProjectContext } from '../context/survey/cached-project-context.ts'
import { GitFailed } from '../git/run-git.ts'
import type { HookEvent } from '../harness/contract/hooks.ts'
import { harnessHooks, readHookEvent } from '../harness/registry.ts'
import { removeFile } from '../journal/files.ts'
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

const PIECE = 512 * 1024
/** A client that does not know `async` waits for it; the rest is copied after the next event. */
const PIECES = 8
const COPYING_MS = 1000
/** A conversation that ended at once was not copied, and the costs of its last hooks were not recorded. */
const EARLIER_CONVERSATIONS = 5

const SAVED = new Set<HookEvent['kind']>(['stop', 'preCompact'])

/**
 * What takes longer than an agent should wait: the outbox is drained, the transcript read, and the responses of the next
 * hooks precomputed; at the end of a turn the document is rendered, too. The harness runs it in the background, and
 * ends it when it ends. `stint` is the program of the command line.
 */
export async function runAfterEvent(
  input: string,
  env: NodeJS.ProcessEnv,
  stint: string,
): Promise<void> {
  const event = readHookEvent(input)
  const protocol = harnessHooks(event?.harness)
  if (event === undefined || protocol === undefined || env.STINT_HOOKS === 'off') return
  const place = locateProject(event, env, protocol)
  if (!isProjectFolder(place)) return
  const stateFolder = conversationStateFolder(place)
  try {
    // Without state no hook has served this conversation: it works on nothing here.
    if (readConversationState(stateFolder, event.conversation) === undefined) return
    const config = readConfig(place.sessions)
    const context = new SessionContext({ event, place, config, env, protocol }, false)
    const { session } = context
    if (session === undefined) return
    if (event.kind === 'preCompact' && event.trigger === 'auto') requestHandoffOnce(context)
    await recordEverything(context)
    if (event.kind === 'stop') recordCosts(context)
    if (SAVED.has(event.kind)) {
      const { notices } = await refreshViews(session)
      for (const notice of notices) context.recordError(notice)
      copyConversations(context)
    } else {
      context.attempt(() => writeQuickViews(context.reopen()))
    }
    if (event.kind === 'stop') context.attempt(() => surveyProject(context))
    context.attempt(() => makePendingHandoff(context, stint))
    context.attempt(() => precompute(context.reopen(), event.conversation))
    session.close()
    recordBackgroundWrites(stateFolder, event.conversation)
  } catch (error) {
    recordHookError(stateFolder, event, error)
  }
}

async function recordEverything(context: SessionContext): Promise<void> {
  // What the event speaks of may not be in the transcript yet.
  await context.attemptAsync(async () => void (await readTranscript(context, { isEarly: true })))
  // By now the transcript shows what the turn used; when it ended it did not.
  context.drainOutbox((draft) => withUsage(draft, context))
  forgetFinishedAgents(context)
  context.attempt(() => recordGitChanges(context))
  // A hook of the same event may have recorded the same at the same time.
  context.attempt(() => context.dropRecorded())
  context.flush()
  if (context.state.conversations.items.some(({ text }) => text === context.event.conversation))
    markUpToDate(context)
  context.finish({ isCareful: true })
}

/** An agent that only reads may be compacted before the last stage. Once per compaction, however often announced. */
function requestHandoffOnce(context: SessionContext): void {
  const { handedOverIn, windowNumber = 0 } = context.tracking
  if (handedOverIn === windowNumber || hasCrossedLastStage(context)) return
  context.updateTracking({ handedOverIn: windowNumber })
  requestHandoff(context, 'handoff', 'a compaction came first')
}

function surveyProject({ place, config }: SessionContext): void {
  if (place.repository === undefined || readProjectContext(place) !== undefined) return
  try {
    loadProjectContext(place.repository, { withoutSecrets: (text) => withoutSecrets(text, config) })
  } catch (error) {
    // Without git nothing is known of it.
    if (!(error instanceof GitFailed)) throw error
  }
}

/** Once a subagent has answered, its task is not needed. */
function forgetFinishedAgents(context: SessionContext): void {
  const running = Object.entries(context.tracking.agents)
  const unfinished = running.filter(([agent]) => !context.isRecorded(`agent:${agent}`))
  if (unfinished.length < running.length)
    context.updateTracking({ agents: Object.fromEntries(unfinished) })
}

function withUsage(draft: EntryDraft, { tracking }: SessionContext): EntryDraft {
  const { conversation, usage: latest } = tracking
  if (draft.kind !== 'turn.ended' || latest === undefined) return draft
  const data = draft.data as { readonly conversation: string }
  if (data.conversation !== conversation) return draft
  const { model, ...usage } = latest
  return { ...draft, data: { ...data, ...defined({ model }), usage } }
}

/**
 * Journals what the hooks of a session cost since that was last done. Killed in between it is journalled again, and counts once
 * by the name under which the lines were moved aside.
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
  const { place, config, stateFolder, tracking } = context
  const earlier = recentConversations(context).slice(1)
  const untilMs = process.uptime() * 1000 + COPYING_MS
  let pieces = 0
  for (const known of [
    tracking,
    ...earlier.flatMap((each) => readConversationState(stateFolder, each) ?? []),
  ]) {
    let isMore = true
    while (isMore && pieces < PIECES && process.uptime() * 1000 < untilMs) {
      isMore = copyConversation(place, config, known, PIECE, untilMs)
      pieces += 1
    }
  }
}

function recentConversations({ event, state }: SessionContext): readonly string[] {
  const recent = state.conversations.items.slice(-EARLIER_CONVERSATIONS).map(({ text }) => text)
  return [...new Set([event.conversation, ...recent])]
}
