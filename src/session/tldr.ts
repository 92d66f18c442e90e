import { type SessionState, currentStep, openBlockers } from './state.ts'

const MAX_SENTENCE = 240

/** A written TL;DR is used as written; without one, or when a checkpoint found it outdated, it is composed from the latest entries. */
export function tldrOf(state: SessionState): string {
  const written = state.tldr
  if (written !== undefined && written.renewed === undefined) return written.text
  const lead = written?.text ?? state.goal
  const facts = [latest(state), now(state), next(state)].filter((sentence) => sentence !== '')
  if (facts.length === 0) facts.push(captured(state))
  const text = [sentence(lead), ...facts].filter((part) => part !== '').join(' ')
  return text === '' ? 'Nothing recorded yet.' : text
}

function latest(state: SessionState) {
  const note = state.progress.items.at(-1)
  const done = state.steps.items
    .filter((step) => step.status === 'done')
    .map(({ text, changedAt: at }) => ({ text, at }))
  const found = [note, ...done, state.discoveries.items.at(-1)].filter((item) => item !== undefined)
  const newest = found.reduce<(typeof found)[number] | undefined>(
    (best, item) => (best && best.at > item.at ? best : item),
    undefined,
  )
  return newest === undefined ? '' : sentence(`Latest: ${newest.text}`)
}

function captured(state: SessionState) {
  const asked = state.requests.items.at(-1)?.text
  const commit = state.commits.items.at(-1)?.text
  const parts = [
    asked === undefined || asked === state.goal ? '' : sentence(`Asked: ${asked}`),
    commit === undefined ? '' : sentence(`Committed: ${commit}`),
  ]
  return parts.filter((part) => part !== '').join(' ')
}

function now(state: SessionState) {
  const blocker = openBlockers(state)[0]
  if (blocker !== undefined) return sentence(`Blocked: ${blocker.text}`)
  const step = currentStep(state)
  return step === undefined ? '' : sentence(`Now: ${step.text}`)
}

function next(state: SessionState) {
  const upcoming = state.next.items[0] ?? state.steps.items.find((step) => step.status === 'todo')
  return upcoming === undefined ? '' : sentence(`Next: ${upcoming.text}`)
}

function sentence(text: string) {
  const line = text.split('\n').join(' ').replaceAll(/\s+/g, ' ').trim()
  if (line === '') return ''
  const short =
    line.length > MAX_SENTENCE
      ? `${Array.from(line).slice(0, MAX_SENTENCE).join('').trimEnd()}…`
      : line
  return /[.!?…]$/.test(short) ? short : `${short}.`
}
