import { contentWords } from '../../context/intent/unrelated-work.ts'
import { shortId } from '../../journal/ids.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import type { Decision } from '../../session/state.ts'
import { shorten } from '../../text/clean.ts'
import { safeLine } from '../../text/safe-text.ts'
import { type DelegateState, readDelegates } from '../delegate/delegates.ts'
import { withJournal } from '../delegate/parent-journal.ts'

const MOST = 10

type AttributedDecision = Decision & { readonly maker: string; readonly session: string }

/** Each in one line: who decided what, and the commands that show both decisions. */
export async function findContradictions(
  workspace: Workspace,
  state: DelegateState,
): Promise<readonly string[]> {
  const { parent, run } = state.order
  const own = await decisionsOf(workspace, state)
  if (own.length === 0) return []
  // Decisions copied from other delegates are read from their own sessions.
  const others = (await decisionsIn(workspace, parent)).filter(({ whose }) => whose === undefined)
  for (const other of readDelegates(workspace.paths)) {
    const isOfSame =
      (parent !== undefined && parent === other.order.parent) ||
      (run !== undefined && run === other.order.run)
    const isUsed = ['merged', 'merging', 'ready'].includes(other.status)
    if (other.id !== state.id && isUsed && isOfSame)
      others.push(...(await decisionsOf(workspace, other)))
  }
  const found = own.flatMap((mine) =>
    others
      .filter((theirs) => contradicts(toDecisionText(mine), toDecisionText(theirs)))
      .map((theirs) => describeContradiction(mine, theirs)),
  )
  const different = [...new Set(found)]
  const more = different.length - MOST
  if (more <= 0) return different
  return [...different.slice(0, MOST), `and ${more} more decisions that do not go together`]
}

async function decisionsOf(workspace: Workspace, { order, run }: DelegateState) {
  const made: AttributedDecision[] = []
  for (const { session } of run.sessions)
    made.push(...(await decisionsIn(workspace, session, order.name)))
  return made
}

async function decisionsIn(
  workspace: Workspace,
  session: string | undefined,
  maker?: string,
): Promise<AttributedDecision[]> {
  const state = await withJournal(workspace, session, (journal) => journal.read().state)
  if (state === undefined) return []
  const author = { maker: maker ?? state.name, session: state.id }
  return state.decisions.items.map((decision) => ({ ...decision, ...author }))
}

function toDecisionText({ text, ...decision }: Decision): DecisionText {
  return { title: text, ...decision }
}

function describeContradiction(mine: AttributedDecision, theirs: AttributedDecision): string {
  const commands = [mine, theirs].map(({ session }) => `stint view ${shortId(session)} --decisions`)
  return `${describeChoice(mine)}, but ${describeChoice(theirs)} (${[...new Set(commands)].join('; ')})`
}

function describeChoice({ choice, maker, text }: AttributedDecision): string {
  const short = (words: string) => shorten(safeLine(words), 80)
  return choice === undefined || choice === text
    ? `${maker} decided "${short(text)}"`
    : `${maker} chose "${short(choice)}" for "${short(text)}"`
}

export interface DecisionText {
  readonly title: string
  readonly context?: string
  readonly options?: string
  readonly choice?: string
}

/**
 * Whether two decisions answer the same question differently, judged by their words. Prefers misses to false alarms, because
 * nobody reads a list that is mostly wrong.
 */
export function contradicts(one: DecisionText, other: DecisionText): boolean {
  const a = parseDecision(one)
  const b = parseDecision(other)
  if (isSameAnswer(a.answer, b.answer) || isAboutAnotherPart(a, b)) return false
  if (isRejectedBy(a, b) || isRejectedBy(b, a))
    return hasCommonSubject(a, b) || isSameQuestion(one, other)
  return isSameQuestion(one, other) || isSameSubject(a, b)
}

type Words = ReadonlySet<string>

type ParsedDecision = ReturnType<typeof parseDecision>

/** `Redis over Postgres for sessions` is an answer, what was rejected, and a subject. */
function parseDecision({ title, context, options, choice }: DecisionText) {
  const isTitleAlone = choice === undefined || choice.trim() === '' || sameText(choice, title)
  const text = (isTitleAlone ? title : choice).replace(LEADING, '').trim()
  const [answerAndRejected, part] = cutAt(text, FOR)
  const [answer, against] = cutAt(answerAndRejected, OVER)
  const listed = (options ?? '')
    .split(BETWEEN_OPTIONS)
    .map((option) => option.replace(NUMBERING, '').trim())
  const rejected = [...listed, ...against.split(BETWEEN_OPTIONS)].filter(
    (option) => tokens(option).size > 0 && !isSameAnswer(option, answer),
  )
  const isFramed = isTitleAlone && part !== ''
  const answers = tokens([answer, ...listed, against].join(' '))
  const about = contentWords(
    isTitleAlone ? `${part} ${context ?? ''}` : `${title} ${part} ${context ?? ''}`,
  )
  const subject = new Set(
    [...about].filter((word) => ![...answers].some((answered) => isSameToken(answered, word))),
  )
  return { answer, part, rejected, subject, isFramed }
}

const LEADING =
  /^(?:we(?:'ll| will)? |let's |will |to )?(?:use|using|choose|chose|pick|keep|store|prefer|go with|switch to|adopt|take)\s+/i
const FOR = /\s+(?:for|as)\s+(?:the |all |our |every )?/i
const OVER = /,?\s+(?:over|instead of|rather than|and not|but not)\s+|,\s+not\s+/i
const BETWEEN_OPTIONS = /[,;|\n/]|\s+(?:or|vs\.?|versus)\s+/i
const NUMBERING = /^\s*(?:[-*]|\(?[a-z0-9][.)]|either|or|and)\s+/i

function cutAt(text: string, mark: RegExp): readonly [before: string, after: string] {
  const found = mark.exec(text)
  return found === null || found.index === 0
    ? [text, '']
    : [text.slice(0, found.index), text.slice(found.index + found[0].length)]
}

function isRejectedBy({ answer }: ParsedDecision, { rejected }: ParsedDecision): boolean {
  return rejected.some((option) => covers(tokens(answer), tokens(option)))
}

/** `Log format` and `Configuration format` have only the kind of answer in common. */
function hasCommonSubject(a: ParsedDecision, b: ParsedDecision): boolean {
  const [ofA, ofB] = [withoutKinds(a.subject), withoutKinds(b.subject)]
  return ofA.size > 0 && ofB.size > 0
    ? countShared(ofA, ofB) > 0
    : countShared(a.subject, b.subject) > 0
}

function withoutKinds(words: Words): Words {
  return new Set([...words].filter((word) => !KINDS.has(word)))
}

const KINDS =
  contentWords(`format store storage database backend engine library framework tool runner manager language policy strategy approach
  scheme style naming name type kind structure layout location place version default setting option handling design provider service`)

function isSameQuestion(one: DecisionText, other: DecisionText): boolean {
  const titles = [contentWords(one.title), contentWords(other.title)] as const
  const contexts = [contentWords(one.context ?? ''), contentWords(other.context ?? '')] as const
  const isGeneral = titles[0].size < 2 && titles[1].size < 2
  const comeFromElsewhere =
    contexts[0].size > 0 && contexts[1].size > 0 && countShared(...contexts) === 0
  // `Naming` may be about anything; its context says about what.
  if (isGeneral && comeFromElsewhere) return false
  if (similarity(...titles) >= SHARED_PART) return true
  const texts = [
    new Set([...titles[0], ...contexts[0]]),
    new Set([...titles[1], ...contexts[1]]),
  ] as const
  return countShared(...texts) >= 3 && similarity(...texts) >= SHARED_PART
}

const SHARED_PART = 0.6

/** The same for `Use X for Y`, whose subject is Y. */
function isSameSubject(a: ParsedDecision, b: ParsedDecision): boolean {
  return (
    (a.isFramed || b.isFramed) &&
    a.subject.size > 0 &&
    b.subject.size > 0 &&
    similarity(a.subject, b.subject) >= SHARED_PART
  )
}

/** `camelCase for functions` and `kebab-case for files` answer two questions. */
function isAboutAnotherPart(a: ParsedDecision, b: ParsedDecision): boolean {
  return a.part !== '' && b.part !== '' && countShared(tokens(a.part), tokens(b.part)) === 0
}

function isSameAnswer(one: string, other: string): boolean {
  const [a, b] = [tokens(one), tokens(other)]
  if (a.size === 0 || b.size === 0) return true
  if (NEGATIVE.test(one) !== NEGATIVE.test(other)) return false
  const [numbersA, numbersB] = [numbersOf(a), numbersOf(b)]
  if (numbersA.size > 0 && numbersB.size > 0 && countShared(numbersA, numbersB) === 0) return false
  // An answer that only adds detail is the same answer.
  return countShared(a, b) / Math.min(a.size, b.size) > 0.5
}

const NEGATIVE =
  /(?:^|\s)(?:no|not|never|none|without|don't|do not|disable|disabled|off|forbid|reject|drop|remove)(?=\s|$)/i

/** The words of an answer, including short ones and numbers, without filler words. */
function tokens(text: string): Words {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+(?:[.+#_-]*[\p{L}\p{N}+#]+)*/gu) ?? []
  return new Set(
    words
      .filter((word) => !FILLER_WORDS.has(word))
      .map((word) => (word.length > 3 ? word.replace(/s$/, '') : word)),
  )
}

const FILLER_WORDS: Words = new Set(
  `a an the and or of in on at to by with from into it its is are be we will use using keep store stored kept only just simple plain single
  no not never none without do don't as for that this which one own new our`.split(/\s+/),
)

function numbersOf(words: Words): Words {
  return new Set([...words].filter((word) => /^v?\d/.test(word)))
}

function covers(words: Words, wanted: Words): boolean {
  return wanted.size > 0 && countShared(wanted, words) === wanted.size
}

function similarity(a: Words, b: Words): number {
  const both = countShared(a, b)
  return both === 0 ? 0 : both / (a.size + b.size - both)
}

function countShared(a: Words, b: Words): number {
  return [...a].filter((word) => [...b].some((other) => isSameToken(word, other))).length
}

/** `postgres` is `postgresql`, and `mongo` is `mongodb`. */
function isSameToken(a: string, b: string): boolean {
  const [short, long] = a.length <= b.length ? [a, b] : [b, a]
  return (
    short === long ||
    (short.length >= 4 && long.length - short.length <= 3 && long.startsWith(short))
  )
}

function sameText(a: string, b: string): boolean {
  return a.trim().toLowerCase() === b.trim().toLowerCase()
}
