import type { SessionState } from '../../session/state.ts'
import { lazily } from '../../text/lazily.ts'
import { stem } from '../../text/stem.ts'
import { isWrittenByUser } from './phrases.ts'

/** One word, as in "Tidy up", may stand for anything. */
const MIN_SESSION_WORDS = 2
/** Before the first request, which may be what a vague goal means. */
const MIN_WORDS_UNASKED = 12
const MAX_LENGTH = 1500

/** A wrong warning is worse than none. */
export function looksUnrelated(prompt: string, state: SessionState): boolean {
  return sharesNoWords(prompt, () => wordsOfState(state))
}

/** New work: it refers to nothing earlier and shares no word with the session. */
export function sharesNoWords(prompt: string, wordsOfSession: () => ReadonlySet<string>): boolean {
  if (prompt.length > MAX_LENGTH || !isWrittenByUser(prompt)) return false
  // These scripts do not separate words with spaces.
  if (/[\u3040-\u30FF\u3400-\u9FFF\uAC00-\uD7A3\u0E00-\u0E7F]/.test(prompt)) return false
  const required = requiredTopicWords(clausesOf(prompt), prompt.trimEnd().endsWith('?'))
  if (required === undefined) return false
  const asked = [...contentWords(prompt)].filter((word) => !isIn(FUNCTION_WORDS, word))
  if (asked.filter((word) => !isIn(ROUTINE_WORDS, word)).length < required) return false
  const known = wordsOfSession()
  return known.size >= MIN_SESSION_WORDS && !asked.some((word) => known.has(word))
}

/** Empty if too little is known of the session to compare a prompt with. */
export function wordsOfState(state: SessionState): ReadonlySet<string> {
  const words = contentWords(textOf(state), (word) => setOfStopWords().has(word))
  const isKnown = state.requests.items.length > 0 || words.size >= MIN_WORDS_UNASKED
  return isKnown ? words : new Set()
}

// For the text of a whole session a set pays.
const setOfStopWords = lazily(() => new Set(STOP_WORDS.trim().split(' ')))

function textOf(state: SessionState): string {
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

/** How many words of a topic the prompt needs to count as new work; undefined if it refers back. */
function requiredTopicWords(clauses: readonly (readonly string[])[], isAsking: boolean) {
  const first = clauses.findIndex((words) => !words.every((word) => isIn(PRAISE, word)))
  if (first === -1) return undefined
  const [head, ...others] = clauses.slice(first) as [readonly string[], ...string[][]]
  if (announcesNewTopic(head)) return others.some(refersBack) ? undefined : TOPIC_WORDS.announced
  if (refersBack(head)) return undefined
  const required = requiredByVerb(head)
  if (required !== undefined) return others.some(refersBackLater) ? undefined : required
  if (isIn(FOLLOWING_WORDS, head[0]!)) return undefined
  // "The map shows the wrong city, fix that": here "that" is what the prompt describes itself.
  const isClosed = isIn(CLOSING_VERBS, leadingVerb(others.at(-1) ?? []))
  if ((isClosed ? others.slice(0, -1) : others).some(refersBackLater)) return undefined
  if (isClosed) return TOPIC_WORDS.reportAndRequest
  return isAsking ? undefined : TOPIC_WORDS.report
}

/** A report may be a consequence of the work at hand, so it needs the most. */
const TOPIC_WORDS = { announced: 2, reportAndRequest: 3, report: 5 }

/** Few for verbs that start work, more for verbs that often adjust the work at hand. */
function requiredByVerb(words: readonly string[]): number | undefined {
  const verb = leadingVerb(words)
  if (isIn(WORK_VERBS, verb)) return 2
  if (isIn(ADJUSTING_VERBS, verb)) return 3
  // Any other verb before an object: "profile the renderer".
  const object = words[words.indexOf(verb) + 1] ?? ''
  return isIn(DETERMINERS, object) && !isIn(NO_VERBS, verb) && !isIn(FOLLOWING_WORDS, verb)
    ? 3
    : undefined
}

/** "add …", "ok, can you please add …", "we should add …"; "need" for "I need a …". */
function leadingVerb(words: readonly string[]): string {
  const index = words.findIndex((word) => !isIn(LEADING_WORDS, word))
  const word = words[index] ?? ''
  const before = words[index - 1] ?? ''
  if (isIn(' need want ', before)) return 'need'
  if (!isIn(' a an ', word)) return word
  if (before === 'like') return 'need'
  return before === 'have' ? (words[index + 1] ?? '') : word
}

function announcesNewTopic(words: readonly string[]) {
  const said = ` ${words.join(' ')} `
  return NEW_TOPICS.some((phrase) => said.includes(phrase))
}

const NEW_TOPICS = [
  ' something different ',
  ' something completely different ',
  ' something else now ',
  ' something unrelated ',
  ' different topic ',
  ' different task ',
  ' new topic ',
  ' new task ',
  ' other topic ',
  ' unrelated task ',
  ' unrelated question ',
  ' change of topic ',
  ' switching topics ',
]

/** "It" and "the tests" refer to earlier work. */
function refersBack(words: readonly string[]): boolean {
  return words.some((word, index) => {
    const before = words[index - 1] ?? ''
    const after = words[index + 1] ?? ''
    return (
      (isIn(BACK_REFERENCES, word) && !isIn(CALENDAR_WORDS, after)) ||
      (before === 'the' && isIn(KNOWN_OBJECTS, word)) ||
      (word === 'that' && (index === 0 || isIn(BEFORE_THAT, before)))
    )
  })
}

/** In "fix the favicon, it's blurred", the pronoun stands for the favicon. */
function refersBackLater(words: readonly string[]): boolean {
  return refersBack(
    isIn(PRONOUNS, words[0] ?? '') ? words.slice(words[1] === 'still' ? 2 : 1) : words,
  )
}

// Lists of words as text between blanks: making a set costs a hook more than searching.
const isIn = (list: string, word: string) => list.includes(` ${word} `)

const PRAISE =
  ' ok okay great good perfect thanks thank you cool nice awesome super excellent alright right fine done merged pushed ' +
  'lgtm yes that this it works looks all now well very much is worked hi hey hello '

const LEADING_WORDS =
  " ok okay hi hey hello claude great thanks please now so perfect cool good nice alright can could would will you i i'd like " +
  "want need to we should must let's let us have help me quickly just bitte jetzt kannst du ich peux tu puedes ahora "

const WORK_VERBS =
  ' build debug design develop draft evaluate fix implement investigate migrate prepare refactor research rewrite ' +
  'translate update upgrade review write generate create need plan compare écris crée génère développe corrige prépare ' +
  'escribe crea genera necesito arregla diseña prepara schreib schreibe erstelle baue entwickle brauche repariere ' +
  'add check clean convert deploy document find improve integrate introduce optimise optimize port publish redesign ' +
  'rotate setup summarise summarize benchmark audit ajoute traduis añade traduce füge übersetze '

const ADJUSTING_VERBS =
  ' change configure delete extend extract figure install make move remove rename replace set split style support tune '

const DETERMINERS = ' a an the my our all every each '

const NO_VERBS =
  ' the a an my our in on at for with from under of by about all some there here this that as than like '

const CLOSING_VERBS = ' debug fix investigate list look '

/** Start a question, an answer, a remark or an instruction on how to do the work at hand. */
const FOLLOWING_WORDS =
  " what what's why how who who's which when where is are does did do was were has should shall can could would isn't " +
  "doesn't don't didn't and but or so no not nope yes yep yeah hmm hm oh ah aha wait sorry only because if after before " +
  "i i'm i've i'd i'll we we're we've you you're he she his her their maybe perhaps actually use keep skip drop ignore " +
  'handle store cache inline quote map group remember put try run show print plot commit push revert mark open close post ' +
  'apply call return wrap throw limit round sort hide allow download look draw see read ask tell explain stop start leave ' +
  'let take go give et ou mais oui non pourquoi comment y o pero sí por qué und oder aber ja nein warum wie was wer wo kann '

const BACK_REFERENCES =
  " it its it's this these those them they there also too again then same still instead another previous previously " +
  'earlier above other remaining next back continue ça cela aussi même eso esto también mismo auch dazu damit dort ' +
  'davon daran '

/** "next week" and "this month" are dates. */
const CALENDAR_WORDS =
  ' week month quarter year sprint monday tuesday wednesday thursday friday saturday sunday summer autumn winter spring '

const PRONOUNS = " it it's its they they're "

const KNOWN_OBJECTS =
  ' test tests error errors bug fix failure failing change changes result results output review diff branch pr pull build ' +
  'ci plan list session summary commit message code script readme changelog rest others config migration '

const BEFORE_THAT =
  ' do fix for with of in to about like on from after use using change remove make add is was '

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

/** The words of each clause, without empty clauses. */
function clausesOf(text: string): readonly (readonly string[])[] {
  return text
    .toLowerCase()
    .replaceAll('’', "'")
    .split(/[,.;:?!…](?=\s|$)|[\n()]|\s[-–—]\s/)
    .map((clause) => clause.match(/[a-z'\u00DF-\u024F]+/g) ?? [])
    .filter((words) => words.length > 0)
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
  'test tests spec docs doc index main mod pkg cmd internal ts tsx js jsx mjs cjs py go rs md json yaml yml ' +
  'txt java rb php sh cpp com www http https '

/** Say nothing of a topic, also in French, Spanish and German. */
const FUNCTION_WORDS =
  ' wheth whenev many without someon les des une dans avec pour sur que qui quand los las una con para por cuando del der die das ' +
  'und mit für ein eine einen den dem von wenn '

/** Belong to any work: a request made of these alone is not a topic. Stemmed. */
const ROUTINE_WORDS =
  ' commit push pull branch merg rebas squash releas deploy stag vers bump tag ticket jira github gitlab request readm ' +
  'changel documen comment lint format formatt typ typescr coverag pipelin snapsho log logg error warn messag name nam ' +
  'vari variabl config configu migrat script line lin typo entry entri sect paragra sentenc help exampl summary list opt ' +
  'flag default valu edge case cas unit integra regress retry fallbac validat '
