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
  const plain = plainOf(entry.statement.text)
  const rarity = rarityOf([...entries, ...message])
  const context = new Set(message.flatMap(({ subject }) => [...subject.words]))
  const own = new Set(message)
  const matches = entries
    .filter((old) => mayReplace(entry, old) && !own.has(old))
    .map((old) => match(old, entry, plain, context, rarity))
    .filter((each) => each !== undefined)
  if (matches.length === 0) return entries
  const best = Math.max(...matches.map(({ strength }) => strength))
  const replaced = new Map(
    matches
      .filter((each) => each.strength >= best - 0.01 || each.isCertain)
      .map((each) => [each.old, each]),
  )
  return entries.flatMap((old) => {
    const found = replaced.get(old)
    if (found === undefined) return [old]
    const rest = restOf(old, entry, found.stale, found.shared)
    return rest === undefined ? [] : [rest]
  })
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
  plain: string,
  context: ReadonlySet<string>,
  countOf: (word: string) => number,
): Match<T> | undefined {
  const before = plainOf(old.statement.text)
  const isRare = (word: string) => countOf(word) <= 1
  const shared = [...old.subject.words].filter((word) => entry.subject.words.has(word))
  const rare = shared.filter((word) => isRare(word))
  const nearby = [...old.subject.words].filter((word) => context.has(word) && isRare(word))
  const stale = conflicts(subjectOf(clausesWith(old.statement.text, rare)), entry.subject)
  const found = (isCertain: boolean): Match<T> => ({
    old,
    shared: rare,
    stale,
    strength: rare.length + nearby.length / 10,
    isCertain,
  })
  if (SUITE_PASSES().test(plain) && TESTS_FAIL().test(before) && old.subject.values.length < 3)
    return found(true)
  if (isWithdrawn(old, plain, isRare)) return found(true)
  if (rare.length === 0) return undefined
  const sameCode = old.subject.values.some(
    (value) =>
      value.type === 'identifier' && entry.subject.values.some(({ text }) => text === value.text),
  )
  const isAbout = rare.length >= 2 || sameCode
  const isOver =
    (IS_OPEN().test(before) && IS_DONE().test(plain) && !IS_OPEN().test(plain)) ||
    (IS_BROKEN().test(before) && IS_WORKING().test(plain) && !IS_BROKEN().test(plain))
  if (isAbout && isOver) return found(false)
  const isUnique = rare.some((word) => countOf(word) <= UNIQUE)
  const named = contentWords(
    /\b(?:wrong|mistaken|off) about ([^,.;:]{2,60})/.exec(plain)?.[1] ?? '',
  )
  const isNamed = [...named].some((word) => rare.includes(word) && countOf(word) <= UNIQUE)
  if (isNamed || (sameCode && stale.length > 0 && CHANGES().test(plain))) return found(false)
  if (ADMITS_ERROR().test(plain) && (rare.length >= 2 || (stale.length > 0 && isUnique)))
    return found(false)
  if (CHANGES().test(plain) && stale.length > 0 && (rare.length >= 2 || nearby.length >= 3))
    return found(false)
  const isChosen = isChoice(old.statement) && isChoice(entry.statement)
  if (isChosen && /\binstead\b(?! of)/.test(plain) && nearby.length >= 3) return found(false)
  const smaller = Math.min(old.subject.words.size, entry.subject.words.size)
  const isSameSubject = shared.length >= 3 && shared.length / smaller >= 0.7
  if (isSameSubject && rare.length >= 2 && stale.some(({ units }) => units.length > 0))
    return found(false)
  return undefined
}

const isChoice = ({ kind }: SpokenStatement) => kind === 'rule' || kind === 'decision'

/** A plan is withdrawn by its name; a fact about the same thing stays true. */
function isWithdrawn(
  old: Entry<SpokenStatement>,
  plain: string,
  isRare: (word: string) => boolean,
) {
  const span = WITHDRAWS().exec(plain)?.[1] ?? IS_OFF().exec(plain)?.[1]
  if (span === undefined) return false
  const { kind, text } = old.statement
  const isPlan = kind !== 'fact' && kind !== 'finding'
  if (!isPlan && !PLAN.test(text)) return false
  const words = [...contentWords(span)].filter((word) => !IDEA.test(word))
  return (
    words.length > 0 && words.every((word) => old.subject.words.has(word)) && words.some(isRare)
  )
}

const PLAN =
  /\b(?:plan|idea|use|will|we'll|going (?:to|for|with)|let's|should|want|suspect|suspicion|cause|theory|proposal|propose)\b/i
const IDEA = /^(?:idea|plan|approach|propos|theory|thing|option|part|whole)/

/** Values of the old statement that the new one gives differently. */
function conflicts(old: Subject, next: Subject): readonly Value[] {
  const known = new Set(next.values.map(({ text }) => text.toLowerCase()))
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
