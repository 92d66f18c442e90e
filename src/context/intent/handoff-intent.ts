import { bare } from './intent.ts'
import { type Phrase, couldBeSaid, isSaid, phrase } from './phrases.ts'
import { sentencesOf, spokenWords } from './spoken.ts'

/** Longer than anybody says who only wants to hand over. */
const LONGEST = 160

/**
 * Whether a prompt asks for a handoff now. The word alone asks for it; in a sentence about a handoff, or a file or a
 * module of that name, it asks for nothing.
 */
export function isHandoffIntent(prompt: string): boolean {
  const trimmed = prompt.trim()
  if (
    trimmed.length > LONGEST ||
    trimmed.includes('`') ||
    trimmed.includes('\n') ||
    /^[<[]/.test(trimmed)
  )
    return false
  const words = spokenWords(trimmed)
  if (!couldBeSaid(HANDING_OVER, words)) return false
  if (trimmed.startsWith('/')) return isSaid(TYPED, words)
  return sentencesOf(words).some((sentence) => {
    if (isSaid(TYPED, sentence)) return true
    // "Can you hand off?" asks for it; "should we?" and "what is a handoff?" do not.
    if (
      sentence.endsWith('?') &&
      !/^(?:please |now )?(?:can|could|would|will) you\b/.test(sentence)
    )
      return false
    return isSaid(HANDING_OVER, bare(sentence))
  })
}

const WORD = 'hand(?:-| )?off'
/** What may follow without making it something else. */
const NOW = String.raw`(?:[, ]+(?:now|please|here|then|at this point|to (?:a|the|another) (?:new|fresh|next|other|clean)?\s?(?:conversation|session|agent|context|window|chat)|for (?:a|the|another) (?:new|fresh|next|other)?\s?(?:conversation|session|agent|context|window|chat|task)))*[.! ]*$`

/** As commands are typed. */
const TYPED: readonly Phrase[] = [
  phrase(
    'handoff|hand-off',
    () => new RegExp(String.raw`^/?(?:(?:workflow|session|stint)[:-])?hand-?off[.! ]*$`),
  ),
]

const WHAT = '(?:this|it|the (?:session|work|task)|this (?:session|work|task)|everything|things)'

const HANDING_OVER: readonly Phrase[] = [
  phrase('handoff|hand-off|hand off', () => new RegExp(`^${WORD}${NOW}`)),
  phrase('hand ', () => new RegExp(`^hand off ${WHAT}${NOW}`)),
  phrase('hand ', () => new RegExp(`^hand ${WHAT} (?:off|over)${NOW}`)),
  phrase('handoff|hand-off|hand off', () => {
    const verb = '(?:create|make|write|prepare|generate|draft|do|start|produce|give me|save)'
    return new RegExp(
      `^${verb} (?:a |the |another |one more )?(?:new |final |draft |session |quick |proper )?${WORD}(?: (?:document|doc|note))?${NOW}`,
    )
  }),
]
