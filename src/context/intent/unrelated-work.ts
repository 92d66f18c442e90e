import type { SessionState } from '../../session/state.ts'
import { lazily } from '../../text/lazily.ts'
import { stem } from '../../text/stem.ts'
import { isWrittenByUser } from './phrases.ts'

const MIN_PROMPT_WORDS = 6
const MIN_SESSION_WORDS = 12
const MAX_LENGTH = 1500

/** A wrong warning is worse than none. */
export function looksUnrelated(prompt: string, state: SessionState): boolean {
  return sharesNoWords(prompt, () => vocabularyWords(vocabularyOf(state)))
}

export function sharesNoWords(prompt: string, wordsOfSession: () => ReadonlySet<string>): boolean {
  if (prompt.length > MAX_LENGTH || !isWrittenByUser(prompt)) return false
  const words = wordsOf(prompt)
  if (!asksForWork(words) || refersBack(words)) return false
  // These scripts do not separate words with spaces.
  if (/[\u3040-\u30FF\u3400-\u9FFF\uAC00-\uD7A3\u0E00-\u0E7F]/.test(prompt)) return false
  const asked = contentWords(prompt)
  if (asked.size < MIN_PROMPT_WORDS) return false
  const known = wordsOfSession()
  return known.size >= MIN_SESSION_WORDS && ![...asked].some((word) => known.has(word))
}

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

/** "add …", "ok, can you please add …", "we should add …". */
function asksForWork(words: readonly string[]) {
  return isIn(WORK_VERBS, words.find((word) => !isIn(LEADING_WORDS, word)) ?? '')
}

/** "It" and "the tests" refer to earlier work. */
function refersBack(words: readonly string[]) {
  return words.some((word, index) => {
    const before = words[index - 1] ?? ''
    return (
      isIn(BACK_REFERENCES, word) ||
      (before === 'the' && isIn(KNOWN_OBJECTS, word)) ||
      (word === 'that' && (index === 0 || isIn(BEFORE_THAT, before)))
    )
  })
}

// Lists of words as text between blanks: making a set costs a hook more than searching.
const isIn = (list: string, word: string) => list.includes(` ${word} `)

const LEADING_WORDS =
  " ok okay hi hey hello great thanks please now so perfect cool good can could would will you i i'd like want need to we " +
  "should let's let us "

const WORK_VERBS =
  ' add build change clean configure convert create debug delete deploy design develop document draft extend extract ' +
  'figure find fix generate implement improve install integrate introduce investigate look make migrate move optimise ' +
  'optimize port prepare publish redesign refactor remove rename replace research rewrite set setup split style support ' +
  'translate tune update upgrade write '

const BACK_REFERENCES =
  " it its it's this these those them they there also too again then same still instead another previous previously " +
  'earlier above other rest remaining next back continue '

const KNOWN_OBJECTS =
  ' test tests error errors bug fix failure failing change changes result results output review diff branch pr pull build ' +
  'ci plan list session summary commit message code script readme changelog '

const BEFORE_THAT =
  ' do fix for with of in to about like on from after use using change remove make add is was '

const setOfStopWords = lazily(() => new Set(STOP_WORDS.trim().split(' ')))

/** Of the text of a whole session, for which a set pays. */
export function vocabularyWords(text: string): ReadonlySet<string> {
  return contentWords(text, (word) => setOfStopWords().has(word))
}

/** Crudely stemmed; names such as `fixSweepBug` and `src/sweep_bug.go` are split. */
export function contentWords(
  text: string,
  isStopWord = (word: string) => isIn(STOP_WORDS, word),
): ReadonlySet<string> {
  const parts = text
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9\u00C0-\uFFFF]+/)
    .filter((word) => word.length > 2 && !/^[0-9]/.test(word) && !isStopWord(word))
  return new Set(parts.map(stem).filter((word) => !isStopWord(word)))
}

function wordsOf(text: string) {
  return (
    text
      .toLowerCase()
      .replaceAll('’', "'")
      .match(/[a-z']+/g) ?? []
  )
}

const STOP_WORDS =
  ' the and for with from into onto that this these those then than there here when while where which what who whom whose ' +
  'why how you your yours our ours their them they she his her its one two three all any each every both few more most ' +
  'other some such not nor only own same too very can could will would shall should may might must has have had having ' +
  'does did doing done been being are was were but because until about against between through during before after above ' +
  'below out off over under again further once also just like than please thanks thank hello hey okay yes sure let lets ' +
  'now new old need needs needed want wants wanted make makes making made add adds adding added create creates creating ' +
  'write writes writing wrote use uses using used update updates updating change changes changing changed implement ' +
  'implements implementing fix fixes fixing fixed build builds building set sets setup get gets getting give put take ' +
  'show shows see look looks find finds check checks help try tries work works working worked way ways thing things ' +
  'something anything everything code file files function functions method class module project repo repository app ' +
  'application program feature bug issue problem task step steps current next last refactor refactors refactoring remove ' +
  'removes removing rename replace move moves improve clean complete completed finish start started major minor small big ' +
  'first good better best right wrong able sure really actually simple simply properly correctly whole part src lib dist ' +
  'test tests spec docs doc index main mod pkg cmd internal ts tsx js jsx mjs cjs py go rs md json yaml yml css html sql ' +
  'txt java rb php sh cpp com www http https '
