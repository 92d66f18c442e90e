import type { SessionState } from '../../session/state.ts'
import { lazily } from '../../text/lazily.ts'
import { isSpoken } from './spoken.ts'
import { contentWords, wordsOf } from './words.ts'

const SUBSTANTIAL = 6
const ENOUGH = 12
/** Longer requests touch on everything. */
const LONGEST = 1500

/**
 * Whether a prompt asks for work that has nothing to do with the session's. Only where nothing at all speaks for
 * a relation: a warning that is wrong is worse than none.
 */
export function looksUnrelated(prompt: string, state: SessionState): boolean {
  return asksForWordsOutside(prompt, () => contentWords(vocabularyOf(state)))
}

/** The same, told from the words that a session is about. */
export function asksForWordsOutside(
  prompt: string,
  wordsOfSession: () => ReadonlySet<string>,
): boolean {
  if (prompt.length > LONGEST || !isSpoken(prompt)) return false
  const words = wordsOf(prompt)
  if (!asksForWork(words) || refersBack(words)) return false
  // Words cannot be told apart where no spaces divide them.
  if (/[\u3040-\u30FF\u3400-\u9FFF\uAC00-\uD7A3\u0E00-\u0E7F]/.test(prompt)) return false
  const asked = contentWords(prompt)
  if (asked.size < SUBSTANTIAL) return false
  const known = wordsOfSession()
  return known.size >= ENOUGH && ![...asked].some((word) => known.has(word))
}

/** Everything a session says of what it is about. */
export function vocabularyOf(state: SessionState): string {
  const lists = [
    state.steps,
    state.next,
    state.progress,
    state.requests,
    state.key,
    state.discoveries,
    state.blockers,
    state.keyFiles,
    state.changedFiles,
    state.commits,
    state.tests,
    state.notes,
  ]
  return [
    state.name,
    state.title,
    state.goal,
    state.branch ?? '',
    state.git.branch ?? '',
    state.tldr?.text ?? '',
    state.lastTurn?.said ?? '',
    ...state.tasks,
    ...lists.flatMap((shelf) => shelf.items.map((item) => item.text)),
    ...(state.changedFiles.leftOut ?? []),
    ...state.keyFiles.items.map((file) => file.description ?? ''),
    ...state.decisions.items.flatMap(({ text, context, options, choice, rationale }) => [
      text,
      context,
      options,
      choice,
      rationale,
    ]),
  ].join('\n')
}

/** Whether it begins as a request does: "add …", "ok, can you please add …", "we should add …". */
function asksForWork(words: readonly string[]): boolean {
  return WORK().has(words.find((word) => !LEADING().has(word)) ?? '')
}

/** Whoever says "it" or "the tests" means what was spoken of. */
function refersBack(words: readonly string[]): boolean {
  return words.some((word, index) => {
    const before = words[index - 1] ?? ''
    return (
      BACK().has(word) ||
      (before === 'the' && SPOKEN_OF().has(word)) ||
      (word === 'that' && (index === 0 || BEFORE_THAT().has(before)))
    )
  })
}

const setOf = (words: string) => lazily<ReadonlySet<string>>(() => new Set(words.split(/\s+/)))

const LEADING = setOf(
  "ok okay hi hey hello great thanks please now so perfect cool good can could would will you i i'd like want need to we should let's let us",
)

const WORK = setOf(
  `add build change clean configure convert create debug delete deploy design develop document draft extend extract figure find
  fix generate implement improve install integrate introduce investigate look make migrate move optimise optimize port prepare
  publish redesign refactor remove rename replace research rewrite set setup split style support translate tune update upgrade write`,
)

const BACK = setOf(
  `it its it's this these those them they there also too again then same still instead another previous previously earlier above
  other rest remaining next back continue`,
)

const SPOKEN_OF = setOf(
  `test tests error errors bug fix failure failing change changes result results output review diff branch pr pull build ci plan
  list session summary commit message code script readme changelog`,
)

const BEFORE_THAT = setOf(
  'do fix for with of in to about like on from after use using change remove make add is was',
)
