import { matchesPhrases } from '../../text/phrases.ts'
import { ADMITS_ERROR } from './corrections.ts'
import { decidedPart, isHypothetical, isProposal } from './hypothetical.ts'
import { type Information, informationIn, informationScore } from './information.ts'
import { isPolicy, namesNextStep } from './lasting.ts'
import {
  BARE_PRONOUN,
  IF_IT_FAILS,
  VAGUE_SUBJECT,
  isCourtesy,
  isGeneralKnowledge,
  isHearsay,
  isImmediateOrder,
  isImperative,
  isMood,
  isNarration,
  isNow,
  isOrderList,
  isQuestion,
  isRepetition,
  isSmallTalk,
  pointsAtMoment,
  withoutFillers,
} from './noise.ts'
import { CHOICE_PHRASES, NOT_A_RULE, RULE_PHRASES } from './ruling-phrases.ts'
import type { Speaker, StatementKind } from './statement.ts'
import { contentWords } from './subject-words.ts'

/** From this score on a sentence is kept. */
const MIN_SCORE = 3

export interface Assessment {
  readonly text: string
  readonly score: number
  readonly kind: StatementKind
  /** Why the sentence says nothing, for one that says nothing whatever it contains. */
  readonly noise?: 'question' | 'hypothetical' | 'courtesy' | 'general'
}

export const isKept = ({ score, noise }: Assessment): boolean =>
  noise === undefined && score >= MIN_SCORE

export function assess(sentence: string, speaker: Speaker, isLowercase = false): Assessment {
  const text = withoutFillers(sentence)
  const plain = plainOf(text)
  const noise = noiseIn(text, plain, speaker)
  const isOrder = speaker === 'user' && isImmediateOrder(plain)
  if (noise === 'hypothetical' || (isOrder && noise !== 'question')) {
    const part = noise === undefined ? lastingPart(text) : decidedPart(text)
    const rest = part === undefined ? undefined : assess(part, speaker, isLowercase)
    if (rest !== undefined && (noise !== undefined || isKept(rest))) return rest
  }
  const info = informationIn(text, plain, isLowercase)
  const rules = !NOT_A_RULE.test(plain) && matchesPhrases(RULE_PHRASES, plain)
  const chooses =
    matchesPhrases(CHOICE_PHRASES, plain) || (speaker === 'user' && /\binstead\b/.test(plain))
  const isNext = namesNextStep(plain)
  const kind = isNext
    ? 'next'
    : chooses
      ? 'decision'
      : rules || isPolicy(plain)
        ? 'rule'
        : usualKind(speaker)
  const score = scoreOf(plain, info, speaker, { rules, chooses, isNext, isOrder })
  return noise === undefined ? { text, kind, score } : { text, kind, score, noise }
}

/** The rule in "continue, but never call the old endpoint". */
function lastingPart(text: string) {
  if (pointsAtMoment(plainOf(text))) return undefined
  const part = /(?:[,;–—]\s+(?:but|and|aber|und|mais|et|pero|y)\s+|[;:–—]\s+|\.\s+)(.{12,})$/i.exec(
    text,
  )?.[1]
  if (part === undefined) return undefined
  const plain = plainOf(part)
  return matchesPhrases(RULE_PHRASES, plain) || !isImmediateOrder(plain) ? part : undefined
}

const usualKind = (speaker: Speaker) => (speaker === 'user' ? 'fact' : 'finding')

function noiseIn(text: string, plain: string, speaker: Speaker): Assessment['noise'] {
  if (isQuestion(plain) && !isRulingRequest(plain)) return 'question'
  if (isMood(plain) || isHearsay(plain)) return 'courtesy'
  if (speaker === 'agent' && isRepetition(plain)) return 'courtesy'
  if (isHypothetical(plain) || (speaker === 'agent' && isProposal(plain))) return 'hypothetical'
  return speaker === 'agent' && isGeneralKnowledge(text, plain) ? 'general' : undefined
}

/** "Can you use a set instead of a list?" */
function isRulingRequest(plain: string) {
  return (
    /^(?:can|could|would|will) (?:you|we)\b/.test(plain) &&
    (matchesPhrases(RULE_PHRASES, plain) || matchesPhrases(CHOICE_PHRASES, plain))
  )
}

interface Signs {
  readonly rules: boolean
  readonly chooses: boolean
  readonly isNext: boolean
  readonly isOrder: boolean
}

function scoreOf(plain: string, info: Information, speaker: Speaker, signs: Signs) {
  const isHard = info.identifiers + info.causes > 0 || /\d/.test(plain)
  let score =
    informationScore(info) +
    (/^(?:the|our|their|my|der|die|das|unsere?|le|la|les|notre|nos|el|los|las|nuestr[oa]s?) /.test(
      plain,
    )
      ? 0.5
      : 0)
  if (signs.isNext) score += 1
  if (ADMITS_ERROR().test(plain)) score += 1.5
  if (isCourtesy(plain)) score -= 4
  if (isSmallTalk(plain)) score -= 2
  if (pointsAtMoment(plain)) score -= 2
  if (BARE_PRONOUN.test(plain)) score -= 1
  if (speaker === 'agent') {
    if (VAGUE_SUBJECT.test(plain)) score -= 2
    if (isNarration(plain) || isImperative(plain)) score -= isHard ? 3 : 5
    return score
  }
  if (plain.endsWith('!')) score -= 1
  if (!isPolicy(plain) && isOrderList(plain)) return score - 4
  if (isNow(plain) || isCourtesy(plain) || IF_IT_FAILS.test(plain)) return score - 2.5
  const rules = signs.rules && !(signs.isOrder && /^(?:only|no) /.test(plain))
  const isLasting = rules || (signs.chooses && !signs.isOrder) || isPolicy(plain)
  if (isLasting && (isHard || contentWords(plain).size > 0)) score += signs.chooses ? 3 : 2
  else if (/^i\b/.test(plain) && !isHard && info.names === 0) score -= 2
  if (signs.isOrder) score -= isLasting ? 1.5 : 4
  else if (!isLasting && isImperative(plain)) score -= 2.5
  return score
}

export const plainOf = (text: string): string => text.toLowerCase().replaceAll(/[’‘´]/g, "'")
