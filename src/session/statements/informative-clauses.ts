import { informationIn, informationScore } from './information.ts'

const MAX_LENGTH = 300

/** A long sentence without the clauses that say least. */
export function informativeClauses(text: string): string {
  if (text.length <= MAX_LENGTH) return text
  const clauses = text.split(
    /(?<=[;:])\s+|(?<=,)\s+(?=(?:and|but|so|which|because|since|while|as|although|und|aber|weil|da|wobei|et|mais|car|qui|y|pero|porque|que)\s)/,
  )
  const scored = clauses.map((clause, index) => ({
    clause,
    index,
    score: informationScore(informationIn(clause, clause.toLowerCase())) + (index === 0 ? 2 : 0),
  }))
  let room = MAX_LENGTH
  const kept = scored
    .toSorted((a, b) => b.score - a.score)
    .filter(({ clause }) => (room -= clause.length + 1) >= 0)
    .toSorted((a, b) => a.index - b.index)
  if (kept.length === 0) return `${text.slice(0, MAX_LENGTH - 1)}…`
  return kept
    .map(({ clause }) => clause)
    .join(' ')
    .replace(/[,;:]$/, '')
}
