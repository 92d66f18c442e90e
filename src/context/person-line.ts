import { type SessionState, currentStep, openBlockers, stepCounts } from '../session/state.ts'
import { shorten } from '../text/clean.ts'
import { safeLine } from '../text/safe-text.ts'
import { counted } from './cost.ts'

const LONGEST = 200
const ENDING = ' · /session-resume for all of it'

/** A session in one line, for the person who opens a conversation. */
export function lineForPerson(state: SessionState): string {
  const { done, total } = stepCounts(state)
  const current = currentStep(state)
  const blockers = openBlockers(state)
  const parts = [
    `📋 ${brief(state.name) || 'session'}`,
    state.status === 'active' ? '' : state.status,
    total === 0 ? '' : `${done}/${total}`,
    current === undefined ? '' : `now: ${brief(current.text)}`,
    state.compactions === 0 ? '' : `after ${counted(state.compactions, 'compaction')}`,
    blockers.length === 0
      ? ''
      : `⛔ ${counted(blockers.length, 'blocker')}: ${brief(blockers.at(-1)!.text)}`,
  ]
  return shorten(parts.filter((part) => part !== '').join(' · '), LONGEST - ENDING.length) + ENDING
}

// Each by itself, or a long one would push the others off the line.
function brief(text: string) {
  return shorten(safeLine(text), 36)
}
