// Which entries of a session are worth their room, whatever section shows them: what is open, pinned
// or decided first, then by kind, age and how close an entry is to the open work. A prototype: only
// the benchmark `packing` uses it, and the packer still shares its room by section.
import { type SessionState, openBlockers } from '../session/state.ts'
import { contentWords } from './intent/unrelated-work.ts'
import { safeLine } from '../text/safe-text.ts'
import { costOfAll, shortenToCost } from './text-size.ts'

export type ValuedKind =
  | 'blocker'
  | 'next'
  | 'step'
  | 'pinned'
  | 'decision'
  | 'ruling'
  | 'failed test'
  | 'gotcha'
  | 'request'
  | 'discovery'
  | 'agent'
  | 'command'
  | 'file'
  | 'note'
  | 'progress'

export interface ValuedEntry {
  readonly kind: ValuedKind
  readonly id: string
  readonly text: string
  /** At least 1 for what stands: it goes before everything else. */
  readonly value: number
}

/** What stands until it is done, resolved or replaced. */
const STANDING: ReadonlySet<ValuedKind> = new Set(['blocker', 'next', 'step', 'pinned', 'decision'])

/** How likely the next conversation needs an entry of the kind; the order matters, not the figures. */
const BASE: Readonly<Record<ValuedKind, number>> = {
  blocker: 0.5,
  next: 0.4,
  pinned: 0.4,
  step: 0.3,
  decision: 0.3,
  ruling: 0.35,
  'failed test': 0.35,
  gotcha: 0.2,
  request: 0.15,
  discovery: 0.15,
  agent: 0.07,
  command: 0.05,
  file: 0.05,
  note: 0.03,
  progress: 0.02,
}

/** Factors for the newest three of a kind, the next five, the next seven, and older ones. */
const AGES = [
  { upTo: 3, factor: 1.6 },
  { upTo: 8, factor: 1.25 },
  { upTo: 15, factor: 1 },
  { upTo: Infinity, factor: 0.7 },
] as const

const NEAR_OPEN_WORK = 1.3

/** Most valuable first; of equal value, the newer one. */
export function valuedEntries(state: SessionState): readonly ValuedEntry[] {
  const isNear = nearOpenWork(state)
  const entries = Object.entries(candidates(state)).flatMap(([kind, items]) =>
    items.map(({ id, text }, index) => ({
      kind: kind as ValuedKind,
      id,
      text,
      // The head must not change with the open work.
      value: valueOf(
        kind as ValuedKind,
        items.length - 1 - index,
        !HEAD.has(kind as ValuedKind) && isNear(text),
      ),
    })),
  )
  return entries.toSorted((a, b) => b.value - a.value || (a.id < b.id ? 1 : -1))
}

function valueOf(kind: ValuedKind, age: number, isNear: boolean) {
  const { factor } = AGES.find(({ upTo }) => age < upTo)!
  const value = BASE[kind] * factor * (isNear ? NEAR_OPEN_WORK : 1)
  return STANDING.has(kind) ? 1 + value : value
}

interface Candidate {
  readonly id: string
  readonly text: string
}

/** Oldest first. */
function candidates(state: SessionState): Readonly<Record<ValuedKind, readonly Candidate[]>> {
  const {
    steps,
    next,
    key,
    requests,
    statements,
    discoveries,
    tests,
    agents,
    commands,
    keyFiles,
    notes,
  } = state
  return {
    blocker: openBlockers(state),
    next: next.items.toReversed(),
    step: steps.items.filter(({ status }) => status !== 'done'),
    // A line that a checkpoint copied is shown with what it was copied from.
    pinned: key.items.filter(({ from }) => from === undefined),
    decision: standingDecisions(state.decisions.items),
    ruling: statements.items.filter(
      ({ speaker, kind }) => speaker === 'user' && (kind === 'rule' || kind === 'decision'),
    ),
    'failed test': tests.items.filter(({ passed }) => !passed).map(testLine),
    gotcha: discoveries.items.filter(({ gotcha }) => gotcha),
    request: requests.items,
    discovery: discoveries.items.filter(({ gotcha }) => !gotcha),
    agent: agents.items.map(({ id, text, result }) => ({ id, text: result ?? text })),
    command: commands.items,
    file: keyFiles.items.map(({ id, text, description }) => ({
      id,
      text: description === undefined ? text : `${text} (${description})`,
    })),
    note: notes.items,
    progress: state.progress.items,
  }
}

function testLine({ id, text, summary }: { id: string; text: string; summary?: string }) {
  return { id, text: `FAILED: ${text}${summary === undefined ? '' : ` (${summary})`}` }
}

/** Two decisions on the same alternatives share most of their words. */
const SAME_ALTERNATIVES = 0.6
const MIN_WORDS = 4

/** Without those that a later decision on the same alternatives replaces, retracted or not. */
export function standingDecisions<T extends Candidate>(decisions: readonly T[]): readonly T[] {
  const words = decisions.map(({ text }) => contentWords(text))
  return decisions.filter(
    (_, index) => !words.slice(index + 1).some((later) => isSameTopic(words[index]!, later)),
  )
}

function isSameTopic(one: ReadonlySet<string>, other: ReadonlySet<string>) {
  const least = Math.min(one.size, other.size)
  if (least < MIN_WORDS) return false
  return [...one].filter((word) => other.has(word)).length >= SAME_ALTERNATIVES * least
}

const LATEST_STEPS = 6
const LATEST_FILES = 6
/** The share of its words that an entry has in common with the open work. */
const NEAR = 0.4

function nearOpenWork(state: SessionState): (text: string) => boolean {
  const files = state.changedFiles.items
    .toSorted((a, b) => (a.at < b.at ? 1 : -1))
    .slice(0, LATEST_FILES)
    .map(({ text }) => text)
  const open = state.steps.items.filter(({ status }) => status !== 'done').slice(-LATEST_STEPS)
  const known = contentWords(
    [...files, ...open.map(({ text }) => text), ...state.next.items.map(({ text }) => text)].join(
      '\n',
    ),
  )
  return (text) => {
    if (files.some((file) => text.includes(file))) return true
    const words = [...contentWords(text)]
    return words.filter((word) => known.has(word)).length > NEAR * words.length
  }
}

/** The most valuable that fit, by value for their cost. */
export function chooseEntries(
  entries: readonly ValuedEntry[],
  room: number,
  costOf = ({ text }: Pick<ValuedEntry, 'text'>) => costOfAll([`- ${text}`]),
): readonly ValuedEntry[] {
  let left = room
  return entries
    .map((entry) => ({ entry, cost: costOf(entry) }))
    .toSorted((a, b) => b.entry.value / b.cost - a.entry.value / a.cost)
    .flatMap(({ entry, cost }) => {
      if (cost > left) return []
      left -= cost
      return [entry]
    })
}

/** In the order of the text. The head comes first and depends on nothing behind it. */
const HEADINGS: Readonly<Record<ValuedKind, string>> = {
  pinned: 'Key context:',
  decision: 'Decisions:',
  ruling: 'Ruled by the user, in their words:',
  blocker: 'Open blockers:',
  next: 'Next steps:',
  step: 'Open steps:',
  'failed test': 'Tests that fail:',
  gotcha: 'Gotchas:',
  discovery: 'Discoveries:',
  request: 'Asked by the user:',
  agent: 'Agents that finished:',
  command: 'Commands that were kept:',
  file: 'Key files:',
  note: 'Notes:',
  progress: 'Done lately:',
}

const HEAD: ReadonlySet<ValuedKind> = new Set(['pinned', 'decision', 'ruling'])
const OPEN_WORK: ReadonlySet<ValuedKind> = new Set(['blocker', 'next', 'step'])
/** The most that the head may take, whatever else there is. */
const HEAD_SHARE = 0.6
/** Entries are cut to these costs, one after another, before any is left out. */
const LENGTHS = [90, 60] as const

/** The lines of the most valuable entries, by kind and oldest first. */
export function valuedLines(state: SessionState, room: number): readonly string[] {
  const entries = valuedEntries(state)
  const head = fitAll(
    entries.filter(({ kind }) => HEAD.has(kind)),
    HEAD_SHARE * room,
  )
  const open = fitAll(
    entries.filter(({ kind }) => OPEN_WORK.has(kind)),
    room - costOfAll(linesOf(head)),
  )
  const spent = costOfAll(linesOf([...head, ...open]))
  const others = entries.filter(({ kind }) => !HEAD.has(kind) && !OPEN_WORK.has(kind))
  const rest = chooseEntries(
    others.map((entry) => ({ ...entry, text: shortenToCost(safeLine(entry.text), LENGTHS[0]) })),
    room - spent - costOfHeadings(others),
  )
  return linesOf([...head, ...open, ...rest])
}

function costOfHeadings(entries: readonly ValuedEntry[]): number {
  return costOfAll([...new Set(entries.map(({ kind }) => HEADINGS[kind]))])
}

function fitAll(entries: readonly ValuedEntry[], room: number): readonly ValuedEntry[] {
  let fitted: readonly ValuedEntry[] = []
  for (const length of LENGTHS) {
    const cut = entries.map((entry) => ({
      ...entry,
      text: shortenToCost(safeLine(entry.text), length),
    }))
    if (costOfAll(linesOf(cut)) <= room) return cut
    fitted = cut
  }
  return chooseEntries(fitted, room - costOfHeadings(fitted))
}

function linesOf(entries: readonly ValuedEntry[]): readonly string[] {
  return (Object.keys(HEADINGS) as ValuedKind[]).flatMap((kind) => {
    const ofKind = entries.filter((entry) => entry.kind === kind)
    const sorted = ofKind.toSorted((a, b) => (a.id < b.id ? -1 : 1))
    return sorted.length === 0 ? [] : [HEADINGS[kind], ...sorted.map(({ text }) => `- ${text}`)]
  })
}
