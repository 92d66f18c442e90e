import { matchesPhrases } from '../../text/phrases.ts'
import { decidedPart, isHypothetical, isProposal } from './hypothetical.ts'
import { type Information, informationIn, informationScore } from './information.ts'
import { isPolicy, namesNextStep } from './lasting.ts'
import {
  isCourtesy,
  isGeneralKnowledge,
  isImmediateOrder,
  isImperative,
  isMood,
  isNarration,
  isQuestion,
  isSmallTalk,
  withoutFillers,
} from './noise.ts'
import { CHOICE_PHRASES, NOT_A_RULE, RULE_PHRASES } from './ruling-phrases.ts'
import type { Speaker, StatementKind } from './statement.ts'

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
  if (noise === 'hypothetical') {
    const decided = decidedPart(text)
    if (decided !== undefined) return assess(decided, speaker, isLowercase)
  }
  const info = informationIn(text, plain, isLowercase)
  const rules = !NOT_A_RULE.test(plain) && matchesPhrases(RULE_PHRASES, plain)
  const chooses = matchesPhrases(CHOICE_PHRASES, plain)
  const isNext = namesNextStep(plain)
  const kind = isNext ? 'next' : chooses ? 'decision' : rules ? 'rule' : usualKind(speaker)
  const base = {
    text,
    kind,
    score: scoreOf(plain, info, speaker, { rules, chooses, isNext }),
  } as const
  return noise === undefined ? base : { ...base, noise }
}

const usualKind = (speaker: Speaker) => (speaker === 'user' ? 'fact' : 'finding')

function noiseIn(text: string, plain: string, speaker: Speaker): Assessment['noise'] {
  if (isQuestion(plain) && !isRulingRequest(plain)) return 'question'
  if (isMood(plain)) return 'courtesy'
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

function scoreOf(
  plain: string,
  info: Information,
  speaker: Speaker,
  { rules, chooses, isNext }: { rules: boolean; chooses: boolean; isNext: boolean },
) {
  let score = informationScore(info) + (/^(?:the|our|their|my) /.test(plain) ? 0.5 : 0)
  if (isNext) score += 1
  if (isCourtesy(plain)) score -= 4
  if (isSmallTalk(plain)) score -= 2
  const isHard = info.identifiers + info.causes > 0 || /\d/.test(plain)
  if (speaker === 'agent')
    return isNarration(plain) || isImperative(plain) ? score - (isHard ? 3 : 5) : score
  const isLasting = rules || chooses || isPolicy(plain)
  if (isLasting) score += chooses ? 3 : 2
  else if (/^i\b/.test(plain) && !isHard && info.names === 0) score -= 2
  if (isImmediateOrder(plain)) score -= isLasting ? 1.5 : 4
  else if (!isLasting && isImperative(plain)) score -= 2.5
  return score
}

export const plainOf = (text: string): string => text.toLowerCase().replaceAll(/[’‘´]/g, "'")
