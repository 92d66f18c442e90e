import { CHOICES, NOT_A_RULE, RULES } from './rules.ts'
import { isSpoken, sentencesOf, spokenWords } from './spoken.ts'

export { looksLikeEnding } from './ending.ts'

/** Whether the person settles how something is to be done or not to be done. Rather once too often than once too few. */
export function isRuling(prompt: string): boolean {
  return settling(prompt).some((sentence) => [...RULES, ...CHOICES].some((rule) => rule.test(sentence)))
}

/** Whether the person chooses between ways to do it: the rulings that have a reason worth keeping. */
export function looksLikeDecision(prompt: string): boolean {
  return settling(prompt).some((sentence) => CHOICES.some((choice) => choice.test(sentence)))
}

/** The sentences that may settle something. A question settles nothing, unless it is a request in its form. */
function settling(prompt: string): readonly string[] {
  if (!isSpoken(prompt)) return []
  return sentencesOf(spokenWords(prompt)).flatMap((sentence) => {
    const asked = /^(?:please |and |so |ok,? )*(?:can|could|would|will) (?:you|we)(?: please)? /
    const isQuestion = /[?？]$/.test(sentence) || QUESTION.test(sentence)
    const said = asked.test(sentence) ? sentence.replace(asked, '') : isQuestion ? '' : sentence
    return said === '' || NOT_A_RULE.test(said) ? [] : [said]
  })
}

const QUESTION =
  /^(?:(?:but|and|so|ok|hm+|well),? )*(?:why|how|what|which|who|when|where|is|are|does|did|don't you|do you|isn't|aren't|should (?:i|we)|warum|wieso|pourquoi|por qué|为什么|なぜ)(?![\w'])/
