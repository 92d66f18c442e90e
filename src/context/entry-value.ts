// How much an entry is worth its room when not all fit: by kind, age, and how close it is to the open
// work. What is open, pinned or decided goes before all of it.
import type { SessionState } from '../session/state.ts'
import { contentWords, subjectOf } from '../session/statements/subject-words.ts'

/** How likely the next conversation needs an entry of the kind; the order matters, not the figures. */
const BASE = {
  blocker: 0.5,
  next: 0.4,
  pinned: 0.4,
  step: 0.3,
  decision: 0.3,
  'failed test': 0.4,
  gotcha: 0.27,
  request: 0.16,
  discovery: 0.19,
  agent: 0.07,
  command: 0.05,
  file: 0.05,
  commit: 0.08,
  note: 0.03,
  'passed test': 0.02,
  progress: 0.02,
} as const

export type ValuedKind = keyof typeof BASE

/** The head must not change with the open work, or no cache would hold its bytes. */
const HEAD: ReadonlySet<ValuedKind> = new Set(['pinned', 'decision'])

/** Factors for the newest three of a kind, the next five, the next seven, and so on. */
const AGES = [
  { upTo: 3, factor: 1.6 },
  { upTo: 8, factor: 1.25 },
  { upTo: 15, factor: 1 },
  { upTo: 40, factor: 0.65 },
  { upTo: Infinity, factor: 0.4 },
] as const

/** `age` is the number of newer entries of the kind. */
export function ageFactor(age: number): number {
  return AGES.find(({ upTo }) => age < upTo)!.factor
}

const NEAR_OPEN_WORK = 1.3

export interface ValuedText {
  readonly text: string
  readonly value: number
}

/** Gives texts of one kind, oldest first, their values. */
export type EntryValuer = (kind: ValuedKind, texts: readonly string[]) => readonly ValuedText[]

export function entryValuer(state: SessionState): EntryValuer {
  let isNear: ((text: string) => boolean) | undefined
  return (kind, texts) =>
    texts.map((text, index) => {
      const age = texts.length - 1 - index
      isNear ??= nearOpenWork(state)
      const near = !HEAD.has(kind) && isNear(text) ? NEAR_OPEN_WORK : 1
      // Of equal value, the newer one.
      return { text, value: BASE[kind] * ageFactor(age) * near * (1 - age / 1e6) }
    })
}

/** Two decisions on the same alternatives share most of their words. */
const SAME_ALTERNATIVES = 0.6
const MIN_WORDS = 4

/** Without those that a later decision on the same alternatives reverses, retracted or not. */
export function standingDecisions<T extends { readonly text: string }>(
  decisions: readonly T[],
): readonly T[] {
  const words = decisions.map(({ text }) => subjectOf(text).words)
  return decisions.filter(
    ({ text }, index) =>
      !decisions.some(
        (later, at) =>
          at > index &&
          isSameTopic(words[index]!, words[at]!) &&
          (REVERSAL.test(later.text) || hasSameFigures(text, later.text)),
      ),
  )
}

const REVERSAL =
  /\b(?:revers|back to|after all|instead|in place of|rather than|no longer|did not hold|is out\b|give up|drop|over\b)/i

/** Decisions that differ in a number or a name with digits are about different things. */
function hasSameFigures(one: string, other: string) {
  const figures = (text: string) => (text.match(/[\w.-]*\d[\w.-]*/g) ?? []).toSorted().join(' ')
  return figures(one) === figures(other)
}

function isSameTopic(one: ReadonlySet<string>, other: ReadonlySet<string>) {
  const least = Math.min(one.size, other.size)
  if (least < MIN_WORDS) return false
  let shared = 0
  for (const word of one) if (other.has(word)) shared += 1
  return shared >= SAME_ALTERNATIVES * least
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
    const words = [...subjectOf(text).words]
    return words.filter((word) => known.has(word)).length > NEAR * words.length
  }
}
