import { plainOf } from './assess.ts'
import type { SpokenStatement } from './statement.ts'
import { contentWords } from './subject-words.ts'

/** Words that a statement and the evidence must share. */
const MIN_SHARED = 3
const MIN_SHARE = 0.4
/** An agreement confirms at most so many of the last statements: those of one message. */
const MAX_AGREED = 4

/**
 * Marks what the agent stated and what later evidence supports: a commit message, the name of a test
 * that passes, or a prompt in which the user agrees with the message directly before it.
 */
export function confirmStatements<T extends SpokenStatement>(
  known: readonly T[],
  evidence: readonly string[],
): readonly T[] {
  const words = evidence.map((text) => contentWords(text))
  const agreed = evidence.some((text) => AGREEMENT.test(plainOf(text)))
    ? lastOfAgent(known)
    : known.length
  return known.map((each, index) => {
    if (each.speaker !== 'agent' || each.isConfirmed === true) return each
    const isConfirmed = index >= agreed || words.some((found) => supports(each.text, found))
    return isConfirmed ? { ...each, isConfirmed } : each
  })
}

const AGREEMENT =
  /^(?:(?:yes|yeah|yep|ok|okay|ah|oh|right|ja|oui|sí|si)[,.! ]+)*(?:exactly|precisely|agreed|correct|that's (?:right|correct|it|what i (?:thought|suspected))|right[,.!]|you're right|good (?:catch|find)|makes sense|confirmed|i can confirm|genau|stimmt|richtig|einverstanden|exact(?:ement)?|c'est (?:ça|exact)|d'accord|exacto|correcto|de acuerdo|así es)(?![a-zà-ÿœ])|^(?:yes|yep|right|correct|ja|oui|sí)[,.!]?$/

/** Where the statements of the agent's last message start. */
function lastOfAgent(known: readonly SpokenStatement[]) {
  let start = known.length
  while (start > 0 && known.length - start < MAX_AGREED && known[start - 1]!.speaker === 'agent')
    start -= 1
  return start
}

function supports(text: string, found: ReadonlySet<string>) {
  const words = [...contentWords(text)]
  const shared = words.filter((word) => found.has(word)).length
  return shared >= MIN_SHARED && shared / Math.min(words.length, found.size) >= MIN_SHARE
}
