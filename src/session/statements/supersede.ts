import { lazily } from '../../text/lazily.ts'
// A wrong replacement loses a fact, so the two statements must share rare words, and without a
// wording that announces a change they must be about exactly the same thing.
import {
  ADMITS_ERROR,
  CHANGES,
  IS_BROKEN,
  IS_DONE,
  IS_OFF,
  IS_OPEN,
  IS_WORKING,
  SUITE_PASSES,
  TESTS_FAIL,
  WITHDRAWS,
} from './corrections.ts'
import type { SpokenStatement } from './statement.ts'
import { type Subject, type Value, contentWords, subjectOf } from './subject-words.ts'

export interface Entry<T extends SpokenStatement> {
  readonly statement: T
  readonly subject: Subject
}

/** The entries that remain valid after `entry`, one of the statements of the same message. */
export function supersededBy<T extends SpokenStatement>(
  entry: Entry<T>,
  entries: Entry<T>[],
  message: readonly Entry<T>[],
): Entry<T>[] {
  const cues = cuesIn(entry)
  // Few statements share a word with an older one at all.
  const rarity = lazily(() => rarityOf([...entries, ...message]))
  const countOf = (word: string) => rarity()(word)
  const context = new Set(message.flatMap(({ subject }) => [...subject.words]))
  const own = new Set(message)
  const matches = entries
    .filter((old) => !own.has(old) && (mayReplace(entry, old) || cues.isDone))
    .map((old) => match(old, entry, cues, context, countOf))
    .filter((each) => each !== undefined)
  if (matches.length === 0) return entries
  const best = Math.max(...matches.map(({ strength }) => strength))
  const replaced = new Map(
    matches
      .filter((each) => each.strength >= best || each.isCertain)
      .map((each) => [each.old, each]),
  )
  return entries.flatMap((old) => {
    const found = replaced.get(old)
    if (found === undefined) return [old]
    const rest = restOf(old, entry, found.stale, found.shared)
    return rest === undefined ? [] : [rest]
  })
}

/** "No, make that 60 seconds" changes the last statement that gives a number of seconds. */
export function withChangedValue<T extends SpokenStatement>(
  entries: Entry<T>[],
  entry: Entry<T>,
): Entry<T>[] | undefined {
  const [value, ...more] = entry.subject.values
  if (value?.type !== 'number' || value.units.length === 0 || more.length > 0) return undefined
  const subject = [...entry.subject.words].filter((word) => !value.units.includes(word))
  if (subject.length > 0 || !/\b(?:make|no|not|sorry|rather)\b/i.test(entry.statement.text))
    return undefined
  for (let index = entries.length - 1; index >= Math.max(0, entries.length - RECENT); index -= 1) {
    const old = entries[index]!
    const same = old.subject.values.filter(({ units }) =>
      units.some((unit) => value.units.includes(unit)),
    )
    if (same.length !== 1 || !mayReplace(entry, old)) continue
    const text = old.statement.text.replace(same[0]!.text, value.text)
    const statement = { ...old.statement, text, speaker: entry.statement.speaker }
    return entries.with(index, { statement, subject: subjectOf(text) })
  }
  return undefined
}

const RECENT = 6

/** What the wording of a statement announces, whatever it is about. */
interface Cues {
  /** Values that the statement itself calls outdated: `90` in "now 40, was 90". */
  readonly former: ReadonlySet<string>
  readonly withdrawn: readonly string[]
  readonly wrongAbout: ReadonlySet<string>
  readonly allTestsPass: boolean
  readonly isDone: boolean
  readonly isWorking: boolean
  readonly admitsError: boolean
  readonly changes: boolean
  readonly choosesInstead: boolean
}

function cuesIn({ statement }: Entry<SpokenStatement>): Cues {
  const plain = plainOf(statement.text)
  const span = WITHDRAWS().exec(plain)?.[1] ?? IS_OFF().exec(plain)?.[1] ?? ''
  const about = /\b(?:wrong|mistaken|off) about ([^,.;:]{2,60})/.exec(plain)?.[1] ?? ''
  const former = plain.matchAll(
    /\b(?:was|were|from|previously|formerly|used to be|not|instead of|vorher|statt|avant|au lieu de|antes|en vez de)\s+`?([^\s`,;:)]+)/g,
  )
  return {
    former: new Set([...former].map((match) => match[1]!.replace(/\.$/, ''))),
    withdrawn: [...contentWords(span)].filter((word) => !IDEA.test(word)),
    wrongAbout: contentWords(about),
    allTestsPass: SUITE_PASSES().test(plain),
    isDone: IS_DONE().test(plain) && !IS_OPEN().test(plain),
    isWorking: IS_WORKING().test(plain) && !IS_BROKEN().test(plain),
    admitsError: ADMITS_ERROR().test(plain),
    changes: CHANGES().test(plain),
    choosesInstead: isChoice(statement) && /\binstead\b(?! of)/.test(plain),
  }
}

/** The user's word counts more than the agent's. */
function mayReplace(entry: Entry<SpokenStatement>, old: Entry<SpokenStatement>) {
  return entry.statement.speaker === 'user' || old.statement.speaker === 'agent'
}

interface Match<T extends SpokenStatement> {
  readonly old: Entry<T>
  readonly shared: readonly string[]
  readonly stale: readonly Value[]
  readonly strength: number
  readonly isCertain: boolean
}

function match<T extends SpokenStatement>(
  old: Entry<T>,
  entry: Entry<T>,
  cues: Cues,
  context: ReadonlySet<string>,
  countOf: (word: string) => number,
): Match<T> | undefined {
  const { statement, subject } = old
  const shared = [...subject.words].filter((word) => entry.subject.words.has(word))
  const rare = shared.filter((word) => countOf(word) <= 1)
  if (cues.allTestsPass && TESTS_FAIL().test(plainOf(statement.text)) && subject.values.length < 3)
    return { old, shared: rare, stale: [], strength: 0, isCertain: true }
  if (rare.length === 0) return undefined
  if (!mayReplace(entry, old) && !isOver(old, entry, { ...cues, isWorking: false }, rare))
    return undefined
  if (isWithdrawn(old, cues.withdrawn, countOf))
    return { old, shared: rare, stale: [], strength: 0, isCertain: true }
  const nearby = [...subject.words].filter((word) => context.has(word) && countOf(word) <= 1)
  const stale = conflicts(subjectOf(clausesWith(statement.text, rare)), entry.subject, cues.former)
  const isReplaced =
    isOver(old, entry, cues, rare) ||
    isCorrected(old, entry, cues, rare, stale, countOf) ||
    (cues.changes &&
      stale.length > 0 &&
      (rare.length >= 2 || nearby.length >= 3) &&
      !isContrast(statement.text, entry.statement.text, shared)) ||
    (cues.choosesInstead && isChoice(statement) && nearby.length >= 3) ||
    isSameSubject(subject, entry.subject, shared, rare, stale)
  if (!isReplaced) return undefined
  const strength = rare.length + nearby.length / 10
  return { old, shared: rare, stale, strength, isCertain: false }
}

/** "The standard plan" and "the enterprise plan" are two things. */
function isContrast(old: string, next: string, shared: readonly string[]) {
  const before = modifiers(old)
  const after = modifiers(next)
  return shared.some((word) => {
    const [a, b] = [before.get(word), after.get(word)]
    return (
      a !== undefined && b !== undefined && a !== b && !shared.includes(a) && !shared.includes(b)
    )
  })
}

/** The word with a meaning directly before each word. */
function modifiers(text: string) {
  const found = new Map<string, string>()
  let last: string | undefined
  for (const token of text.split(/\s+/)) {
    const [word] = contentWords(token)
    if (word !== undefined && last !== undefined) found.set(word, last)
    last = /[,;:.]$/.test(token) ? undefined : word
  }
  return found
}

/** A step that is done, or a fault that is gone. */
function isOver(
  old: Entry<SpokenStatement>,
  entry: Entry<SpokenStatement>,
  cues: Cues,
  rare: readonly string[],
) {
  if (!(cues.isDone || cues.isWorking) || !(rare.length >= 2 || sharesCode(old, entry)))
    return false
  const before = plainOf(old.statement.text)
  return (cues.isDone && IS_OPEN().test(before)) || (cues.isWorking && IS_BROKEN().test(before))
}

function isCorrected(
  old: Entry<SpokenStatement>,
  entry: Entry<SpokenStatement>,
  cues: Cues,
  rare: readonly string[],
  stale: readonly Value[],
  countOf: (word: string) => number,
) {
  const unique = rare.filter((word) => countOf(word) <= UNIQUE)
  if (unique.some((word) => cues.wrongAbout.has(word))) return true
  if (cues.changes && stale.length > 0 && sharesCode(old, entry)) return true
  return cues.admitsError && (rare.length >= 2 || (stale.length > 0 && unique.length > 0))
}

/** No wording announces a change, so nearly all words must agree and a measured value differ. */
function isSameSubject(
  old: Subject,
  next: Subject,
  shared: readonly string[],
  rare: readonly string[],
  stale: readonly Value[],
) {
  const smaller = Math.min(old.words.size, next.words.size)
  return (
    shared.length >= 3 &&
    shared.length === smaller &&
    rare.length >= 2 &&
    stale.some(({ units }) => units.length > 0)
  )
}

function sharesCode(old: Entry<SpokenStatement>, entry: Entry<SpokenStatement>) {
  return old.subject.values.some(
    (value) =>
      value.type === 'identifier' && entry.subject.values.some(({ text }) => text === value.text),
  )
}

const isChoice = ({ kind }: SpokenStatement) => kind === 'rule' || kind === 'decision'

/** A plan is withdrawn by its name; a fact about the same thing stays true. */
function isWithdrawn(
  { statement, subject }: Entry<SpokenStatement>,
  words: readonly string[],
  countOf: (word: string) => number,
) {
  const isPlan = isChoice(statement) || statement.kind === 'next' || PLAN.test(statement.text)
  return (
    isPlan &&
    words.length > 0 &&
    words.every((word) => subject.words.has(word)) &&
    words.some((word) => countOf(word) <= 1)
  )
}

const PLAN =
  /\b(?:plan|idea|use|will|we'll|going (?:to|for|with)|let's|should|want|suspect|suspicion|cause|theory|proposal|propose)\b/i
const IDEA = /^(?:idea|plan|approach|propos|theory|thing|option|part|whole)/

/** Values of the old statement that the new one gives differently. */
function conflicts(old: Subject, next: Subject, former: ReadonlySet<string>): readonly Value[] {
  const given = next.values.map(({ text }) => text.toLowerCase())
  const known = new Set(given.filter((value) => !former.has(value)))
  const words = next.words
  const left = old.values.filter(({ text }) => !known.has(text.toLowerCase()))
  const had = new Set(old.values.map(({ text }) => text.toLowerCase()))
  const fresh = next.values.filter(({ text }) => !had.has(text.toLowerCase()))
  const numbers = fresh.filter(({ type }) => type === 'number')
  const named = fresh.filter(({ type }) => type !== 'number')
  const sameUnit = left.filter(
    (value) =>
      value.type === 'number' &&
      numbers.some(({ units }) => units.some((unit) => value.units.includes(unit))),
  )
  if (sameUnit.length > 0) return sameUnit
  // "raise it to 140" names no unit.
  const plainNumbers = left.filter(({ type }) => type === 'number')
  if (numbers.some(({ units }) => units.length === 0) && plainNumbers.length > 0)
    return plainNumbers.slice(0, 1)
  const codes = left.filter(({ type }) => type !== 'number')
  const mayBe = (value: Value) => named.some(({ type }) => type === value.type)
  return codes.filter((value) => mayBe(value) && !words.has(value.text.toLowerCase()))
}

/** What an outdated statement says besides: without the value, or without the clause. */
function restOf<T extends SpokenStatement>(
  old: Entry<T>,
  entry: Entry<T>,
  stale: readonly Value[],
  shared: readonly string[],
): Entry<T> | undefined {
  const gone = new Set([...stale, ...entry.subject.values].map(({ text }) => text.toLowerCase()))
  const others = old.subject.values.filter(({ text }) => !gone.has(text.toLowerCase()))
  if (others.length === 0) return undefined
  const text = stale.length > 0 ? masked(old.statement.text, stale) : remaining(old, shared, others)
  if (text === undefined) return undefined
  const value = old.statement.value * 0.8
  return { statement: { ...old.statement, text, value }, subject: subjectOf(text) }
}

function masked(text: string, stale: readonly Value[]) {
  let rest = text
  for (const { text: value } of stale) rest = rest.replace(value, '…')
  return rest
}

function remaining(
  old: Entry<SpokenStatement>,
  shared: readonly string[],
  others: readonly Value[],
) {
  const rest = clausesOf(old.statement.text).filter((clause) => {
    const words = contentWords(clause)
    return !shared.some((word) => words.has(word))
  })
  const text = rest.join(' ').replace(/[,;:]$/, '')
  return others.some((value) => text.includes(value.text)) ? text : undefined
}

/** Up to 1 for a word of at most a few statements; the smaller, the rarer. */
function rarityOf(entries: readonly Entry<SpokenStatement>[]) {
  const counts = new Map<string, number>()
  for (const { subject } of entries)
    for (const word of subject.words) counts.set(word, (counts.get(word) ?? 0) + 1)
  const limit = Math.max(4, entries.length * 0.12)
  return (word: string) => (counts.get(word) ?? 0) / limit
}

/** A word of the two compared statements only, or nearly. */
const UNIQUE = 0.5

/** The clauses that contain one of the words. */
function clausesWith(text: string, words: readonly string[]) {
  return clausesOf(text)
    .filter((clause) => {
      const own = contentWords(clause)
      return words.some((word) => own.has(word))
    })
    .join(' ')
}

const clausesOf = (text: string) => text.split(/(?<=[,;:.])\s+/)

const plainOf = (text: string) => text.toLowerCase().replaceAll(/[’‘´]/g, "'")
