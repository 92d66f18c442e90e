import { isHandoffIntent } from '../context/intent/handoff-intent.ts'
import { asksToContinue } from '../context/intent/continuation.ts'
import { asksForWordsOutside, looksUnrelated } from '../context/intent/related.ts'
import type { EventOf } from '../harness/contract/hooks.ts'
import { writeOpenSession } from '../project/store/open-sessions.ts'
import { draft } from '../session/entries.ts'
import { defined } from '../text/defined.ts'
import { watchBudget } from './budget.ts'
import type { HookContext } from './context.ts'
import { hasAsked, hasSwitched, noteSettled, settledSession } from './fast.ts'
import { recordGitMoves } from './git-moves.ts'
import { injectAgain, injectNews, injectState } from './inject.ts'
import { joinIfNew } from './join.ts'
import { dueNudge, nudgeAtPrompt } from './nudges.ts'
import { requestHandoff } from './pending-handoff.ts'
import { readPrecomputed } from './precomputed.ts'
import { recordRequest } from './requests.ts'
import type { SessionContext } from './session-context.ts'
import { mayBeUndelivered, mayCrossLine, quietGlance } from './transcript-glance.ts'
import { readTranscript } from './transcript.ts'

type UserPrompt = EventOf<'userPrompt'>

export async function onPrompt(context: SessionContext<UserPrompt>): Promise<void> {
  const { prompt, isFromHarness } = context.event
  const { delivery } = await readTranscript(context)
  if (isFromHarness) return injectAgain(context, delivery)
  const isContinuing = asksToContinue(prompt)
  if (context.session === undefined && isContinuing) resumePaused(context)
  recordPrompt(context)
  if (context.session === undefined) return
  // A fork of an old client begins without a word.
  joinIfNew(context, 'prompt')
  recordGitMoves(context)
  if (isContinuing && context.tracking.given === undefined)
    await injectState(context, context.state, { level: 'full', why: 'asked to continue' })
  else await injectAgain(context, delivery)
  await injectNews(context)
  if (isHandoffIntent(prompt)) promiseHandoff(context)
  watchBudget(context)
  const { state } = context
  const nudge = dueNudge(context, prompt, {
    isUnrelated: () => looksUnrelated(prompt, state),
    hasSwitched: hasSwitched(context),
    hasAsked: hasAsked(context),
  })
  if (nudge !== undefined) nudgeAtPrompt(context, nudge)
  noteSettled(context)
}

/** Where nothing is injected. */
export function promptFast(context: HookContext<UserPrompt>): boolean {
  const { tracking, stateFolder, place, protocol } = context
  const { prompt, isFromHarness } = context.event
  const session = settledSession(context)
  const bytes = session === undefined ? undefined : quietGlance(protocol.signs, tracking)
  if (
    session === undefined ||
    bytes === undefined ||
    mayBeUndelivered(protocol.signs, bytes, tracking)
  )
    return false
  if (mayCrossLine(protocol.signs, stateFolder, tracking) || isHandoffIntent(prompt)) return false
  if (isFromHarness) return true
  if (session.hasNews) return false
  if (asksToContinue(prompt)) return tracking.given !== undefined
  // Without its words nothing is known of the session, and the handler decides.
  const words = () => new Set(readPrecomputed(place, session.id)?.words ?? UNKNOWN)
  const nudge = dueNudge(context, prompt, {
    isUnrelated: () => asksForWordsOutside(prompt, words),
    ...session.settled,
  })
  if (nudge !== undefined) return false
  recordPrompt(context)
  return true
}

/** Enough words for a session to be about something, none of them in any prompt. */
const UNKNOWN = Array.from({ length: 20 }, (_, index) => ` ${index}`)

function recordPrompt(context: HookContext<UserPrompt>): void {
  const { prompt, promptId } = context.event
  // Registered twice, by settings and a plugin, it is one request all the same.
  const once = promptId === undefined ? undefined : `prompt:${promptId}`
  recordRequest(context, prompt, defined({ once }))
}

/** Made in the background, from the journal. */
function promiseHandoff(context: SessionContext): void {
  requestHandoff(context, 'handoff', 'asked for')
  context.respond({
    person:
      '📋 The handoff is being made, state and code with it: /clear starts a fresh conversation, which goes on by itself',
    model:
      'Stint: the person asks for a handoff. It is being made from the journal, with the code. Record what only this conversation knows, then stop: `stint log --next TEXT --key TEXT`; `stint handoff show` shows it.',
  })
}

/** "Continue" where a session was paused means that session. */
function resumePaused(context: SessionContext): void {
  const { paused } = context
  if (paused === undefined) return
  context.workOn(paused)
  context.drafts.push(draft('session.resumed', context.git, { by: 'hook' }))
  const { branch = context.state.branch } = context.head
  const open = { ...context.state, status: 'active' as const, ...defined({ branch }) }
  context.attempt(() => writeOpenSession(context.place, open))
}
