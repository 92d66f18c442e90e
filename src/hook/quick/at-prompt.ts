import { isHandoffIntent } from '../../context/handoff-intent.ts'
import { asksToContinue } from '../../context/intent.ts'
import { asksForWordsOutside } from '../../context/related.ts'
import { looksLikeDecision, looksLikeEnding } from '../../context/ruling.ts'
import type { EventOf } from '../../harness/claude/events.ts'
import type { Nudge } from '../../project/config/config.ts'
import type { Answer } from '../answer.ts'
import { isTooSoon } from '../nudges.ts'
import { readPrepared } from '../prepared.ts'
import { requestIn } from '../requests.ts'
import { mayBeFuller } from './fullness.ts'
import { glimpse, isTelling, mayHaveMissed } from './glimpse.ts'
import { type Settled, type Standing, leave, settledOf } from './standing.ts'

/** A prompt beside which there is nothing to say: what it asks for is left for the journal. */
export function promptQuickly(standing: Standing<EventOf<'userPrompt'>>): Answer | undefined {
  const { prompt, promptId, conversation, isFromHarness } = standing.event
  const settled = settledOf(standing)
  const seen = settled === undefined ? undefined : glimpse(settled.tracking)
  if (
    settled === undefined ||
    seen === undefined ||
    isTelling(seen) ||
    mayHaveMissed(seen, settled.tracking)
  )
    return undefined
  if (mayBeFuller(standing.notes, settled.tracking) || isHandoffIntent(prompt)) return undefined
  if (isFromHarness) return {}
  if (settled.hasNews) return undefined
  if (asksToContinue(prompt)) return settled.tracking.given === undefined ? undefined : {}
  if (mayNudge(standing, settled, prompt)) return undefined
  const request = requestIn(prompt, standing.config)
  if (request === undefined) return {}
  const rules = request.isRuling ? { isRuling: true } : {}
  const once = promptId === undefined ? undefined : `prompt:${promptId}`
  leave(
    standing,
    settled.session,
    'request.made',
    { text: request.text, ...rules, conversation },
    once,
  )
  return {}
}

/** As many words as it takes for a session to be about something, and none of them in any prompt. */
const UNKNOWN = Array.from({ length: 20 }, (_, index) => ` ${index}`)

function mayNudge(
  { config, place, now }: Standing,
  { session, tracking }: Settled,
  prompt: string,
): boolean {
  if (isTooSoon(tracking, now)) return false
  const may = (kind: Nudge) => config.nudges.has(kind) && !tracking.nudged.includes(kind)
  if (may('ending') && looksLikeEnding(prompt)) return true
  if (may('decision') && looksLikeDecision(prompt)) return true
  const { hasAsked, hasSwitched } = tracking.settled ?? {}
  if ((may('question') && hasAsked === true) || (may('switching') && hasSwitched === true))
    return true
  if (!may('unrelated')) return false
  // Without them nothing is known to it, and somebody looks closer.
  return asksForWordsOutside(prompt, () => new Set(readPrepared(place, session)?.words ?? UNKNOWN))
}
