import { type Assessment, assess, isKept } from './assess.ts'
import { splitSentences } from './split-sentences.ts'
import type { Speaker, Statement } from './statement.ts'
import { informativeClauses } from './informative-clauses.ts'

const MAX_SENTENCES = 400
const MAX_SENTENCE = 1200
const MAX_JOINED = 300
const MAX_CONTINUATION = 90
/** A sentence of this length with this score has a value of about a half. */
const USUAL_LENGTH = 110
const USUAL_SCORE = 6

/** The sentences of a prompt that are worth keeping. */
export function statementsFromUser(prompt: string): readonly Statement[] {
  return statementsFrom(prompt, 'user')
}

/** The sentences of an agent's message that are worth keeping. */
export function statementsFromAgent(message: string): readonly Statement[] {
  return statementsFrom(message, 'agent')
}

/** A multiple-choice question and the chosen answer as one statement. */
export function answerStatement(question: string, answer: string): Statement {
  const [asked, chosen] = [question, answer].map((text) => text.trim().replaceAll(/\s+/g, ' '))
  return { text: `${asked} → ${chosen}`, kind: 'decision', value: 0.85 }
}

function statementsFrom(message: string, speaker: Speaker) {
  const sentences = bounded(splitSentences(message))
  const lower = sentences.filter((sentence) => /^\p{Ll}/u.test(sentence)).length
  const isLowercase = lower * 2 > sentences.length
  const kept: Assessment[] = []
  let before: Assessment | undefined
  for (const sentence of sentences) {
    const next = assess(sentence, speaker, isLowercase)
    if (before !== undefined && continuesSubject(before, next)) {
      const joined = join(before, next)
      if (kept.at(-1) === before) kept.pop()
      if (isKept(joined)) kept.push(joined)
      before = joined
      continue
    }
    if (isKept(next)) kept.push(next)
    before = next
  }
  return kept.map(statementOf)
}

/** Both ends of a message with many lines. */
function bounded(sentences: readonly string[]) {
  const some =
    sentences.length <= MAX_SENTENCES
      ? sentences
      : [...sentences.slice(0, MAX_SENTENCES / 2), ...sentences.slice(-MAX_SENTENCES / 2)]
  return some.map((sentence) => sentence.slice(0, MAX_SENTENCE))
}

/** "It's org_id, a string." says nothing without the sentence before it. */
function continuesSubject(before: Assessment, next: Assessment) {
  return (
    (before.noise === undefined || before.noise === 'general') &&
    next.noise === undefined &&
    next.score >= 1 &&
    next.text.length <= MAX_CONTINUATION &&
    before.text.length + next.text.length <= MAX_JOINED &&
    PRONOUN.test(next.text)
  )
}

const PRONOUN =
  /^(?:it|its|they|he|she|that|this|those|these|that one|this one|es|sie|er|das|dies|il|elle|ils|elles|c'est|ce|cela|esto|eso|ello|ellos)(?:['’](?:s|re|ll|d))?\s/i

function join(before: Assessment, next: Assessment): Assessment {
  return {
    text: `${before.text} ${next.text}`,
    // The pronoun has its noun again.
    score: Math.max(before.score, 0) + next.score + 1,
    kind: before.kind === 'fact' || before.kind === 'finding' ? next.kind : before.kind,
  }
}

function statementOf({ text, score, kind }: Assessment): Statement {
  const short = informativeClauses(text)
  const length = Math.sqrt((short.length + 40) / USUAL_LENGTH)
  const density = score / length
  return { text: short, kind, value: Math.round((density / (density + USUAL_SCORE)) * 1000) / 1000 }
}
