import { asksForHandoff } from '../context/intent/handoff-intent.ts'
import { asksToContinue } from '../context/intent/continue-intent.ts'
import { sharesNoWords, looksUnrelated } from '../context/intent/unrelated-work.ts'
import type { HookEventOf } from '../harness/contract/hooks.ts'
import { writeOpenSession } from '../project/store/open-sessions.ts'
import { draftEntry } from '../session/entries.ts'
import { defined } from '../text/defined.ts'
import { watchBudget } from './budget.ts'
import type { HookContext } from './hook-context.ts'
import { hasAsked, hasSwitched, markUpToDate, upToDateSession } from './fast.ts'
import { recordGitChanges } from './git-changes.ts'
import { injectUndelivered, injectDelegateNews, injectSession } from './inject.ts'
import { joinSessionIfNew } from './join-session.ts'
import { dueNudge, nudgeAtPrompt } from './nudges.ts'
import { requestHandoff } from './pending-handoff.ts'
import { readPrecomputed } from './precomputed.ts'
import { recordRequest } from './requests.ts'
import type { SessionContext } from './session-context.ts'
import { mayBeUndelivered, mayCrossThreshold, scanQuietTranscript } from './transcript-scan.ts'
import { readTranscript } from './transcript.ts'
import { isWorkByPrompt, openSessionIf } from './trivial-conversation.ts'

type UserPrompt = HookEventOf<'userPrompt'>

export async function onPrompt(context: SessionContext<UserPrompt>): Promise<void> {
  const { prompt, isFromHarness } = context.event
  const { delivery } = await readTranscript(context)
  if (isFromHarness) return injectUndelivered(context, delivery)
  const isContinuing = asksToContinue(prompt)
  if (context.session === undefined && isContinuing) resumePaused(context)
  recordPrompt(context)
  await openSessionIf(context, isWorkByPrompt(context.conversationState, prompt))
  if (context.session === undefined) return
  // A forked conversation of an old client has no start event.
  joinSessionIfNew(context, 'prompt')
  recordGitChanges(context)
  if (isContinuing && context.conversationState.given === undefined)
    await injectSession(context, context.state, { level: 'full', why: 'asked to continue' })
  else await injectUndelivered(context, delivery)
  await injectDelegateNews(context)
  if (asksForHandoff(prompt)) announceHandoff(context)
  watchBudget(context)
  const { state } = context
  const nudge = dueNudge(context, prompt, {
    isUnrelated: () => looksUnrelated(prompt, state),
    hasSwitched: hasSwitched(context),
    hasAsked: hasAsked(context),
  })
  if (nudge === 'unrelated') offerClear(context)
  if (nudge !== undefined) nudgeAtPrompt(context, nudge)
  markUpToDate(context)
}

/** The handoff is made at once, because nothing runs after the conversation is cleared. */
function offerClear(context: SessionContext): void {
  requestHandoff(context, 'draft', 'unrelated work')
  context.update({ isClearOffered: true })
}

/** Only if nothing has to be injected. */
export function promptFast(context: HookContext<UserPrompt>): boolean {
  const { conversationState, stateFolder, paths, protocol } = context
  const { prompt, isFromHarness } = context.event
  const session = upToDateSession(context)
  const written =
    session === undefined
      ? undefined
      : scanQuietTranscript(protocol.transcriptPatterns, conversationState)
  if (
    session === undefined ||
    written === undefined ||
    mayBeUndelivered(protocol.transcriptPatterns, written, conversationState)
  )
    return false
  if (
    mayCrossThreshold(protocol.transcriptPatterns, stateFolder, conversationState) ||
    asksForHandoff(prompt)
  )
    return false
  if (isFromHarness) return true
  if (session.hasNews) return false
  if (asksToContinue(prompt)) {
    if (conversationState.given === undefined) return false
    recordPrompt(context)
    return true
  }
  // Without precomputed words the handler decides.
  const words = () => new Set(readPrecomputed(paths, session.id)?.words ?? UNKNOWN_WORDS)
  const nudge = dueNudge(context, prompt, {
    isUnrelated: () => sharesNoWords(prompt, words),
    ...session.settled,
  })
  if (nudge !== undefined) return false
  recordPrompt(context)
  return true
}

/** Enough words to make the check run, and none that a prompt can contain. */
const UNKNOWN_WORDS = Array.from({ length: 20 }, (_, index) => ` ${index}`)

export function recordPrompt(context: HookContext<UserPrompt>): void {
  const { prompt, promptId, isFromHarness } = context.event
  if (isFromHarness) return
  // The offer holds until the user goes on in this conversation.
  if (context.conversationState.isClearOffered === true) context.update({ isClearOffered: false })
  // Settings and a plugin may both register the hook: still one request.
  const once = promptId === undefined ? undefined : `prompt:${promptId}`
  recordRequest(context, prompt, defined({ once }))
}

function announceHandoff(context: SessionContext): void {
  requestHandoff(context, 'handoff', 'asked for')
  context.respond({
    person:
      '📋 The handoff is being made, state and code with it: /clear starts a fresh conversation, which goes on by itself',
    model:
      'Stint: the person asks for a handoff. It is being made from the journal, with the code. Record what only this conversation knows, then stop: `stint log --next TEXT --key TEXT`; `stint handoff show` shows it.',
  })
}

/** "Continue" resumes the paused session. */
function resumePaused(context: SessionContext): void {
  const { paused } = context
  if (paused === undefined) return
  context.bindTo(paused)
  context.drafts.push(draftEntry('session.resumed', context.git, { by: 'hook' }))
  const { branch = context.state.branch } = context.head
  const open = { ...context.state, status: 'active' as const, ...defined({ branch }) }
  context.attempt(() => writeOpenSession(context.paths, open))
}
