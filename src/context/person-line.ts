import { type SessionState, currentStep, openBlockers, stepCounts } from '../session/state.ts'
import { shorten } from '../text/clean.ts'
import { safeLine } from '../text/safe-text.ts'
import { counted } from './text-size.ts'

const MAX_LENGTH = 200
const ENDING = ' · /session-resume for all of it'

export function lineForPerson(state: SessionState): string {
  const { done, total } = stepCounts(state)
  const current = currentStep(state)
  const blockers = openBlockers(state)
  const parts = [
    `📋 ${short(state.name) || 'session'}`,
    state.status === 'active' ? '' : state.status,
    total === 0 ? '' : `${done}/${total}`,
    current === undefined ? '' : `now: ${short(current.text)}`,
    state.compactions === 0 ? '' : `after ${counted(state.compactions, 'compaction')}`,
    blockers.length === 0
      ? ''
      : `⛔ ${counted(blockers.length, 'blocker')}: ${short(blockers.at(-1)!.text)}`,
  ]
  return (
    shorten(parts.filter((part) => part !== '').join(' · '), MAX_LENGTH - ENDING.length) + ENDING
  )
}

// Shortened one by one, or a long text would push the others off the line.
function short(text: string) {
  return shorten(safeLine(text), 36)
}
