import { CHOICES, NOT_A_RULE, RULES } from './rules.ts'
import { type Phrase, couldBeSaid, isSaid } from './phrases.ts'
import { isSpoken, sentencesOf, spokenWords } from './spoken.ts'

export { looksLikeEnding } from './ending.ts'

/** Whether the person settles how something is to be done or not to be done. Rather once too often than once too few. */
export function isRuling(prompt: string): boolean {
  return isSettledBy([...CHOICES, ...RULES], prompt)
}

/** Whether the person chooses between ways to do it: the rulings that have a reason worth keeping. */
export function looksLikeDecision(prompt: string): boolean {
  return isSettledBy(CHOICES, prompt)
}

function isSettledBy(phrases: readonly Phrase[], prompt: string): boolean {
  if (!isSpoken(prompt)) return false
  const words = spokenWords(prompt)
  return (
    couldBeSaid(phrases, words) &&
    sentencesOf(words).some((sentence) => isSaid(phrases, settlingPart(sentence)))
  )
}

/** What of a sentence may settle something. A question does not, unless it is a request in its form. */
function settlingPart(sentence: string): string {
  const request = sentence.replace(
    /^(?:please |and |so |ok,? )*(?:can|could|would|will) (?:you|we)(?: please)? /,
    '',
  )
  const isQuestion = request === sentence && (/[?？]$/.test(sentence) || QUESTION.test(sentence))
  return isQuestion || NOT_A_RULE.test(request) ? '' : request
}

const QUESTION =
  /^(?:(?:but|and|so|ok|hm+|well),? )*(?:why|how|what|which|who|when|where|is|are|does|did|don't you|do you|isn't|aren't|should (?:i|we)|warum|wieso|pourquoi|por qué|为什么|なぜ)(?![\w'])/
