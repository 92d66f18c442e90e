import { stripCourtesies } from './continue-intent.ts'
import { sentencesOf, normalisePrompt } from './phrases.ts'

const MAX_LENGTH = 160

/** A sentence about handoffs or a file with that name does not ask for one. */
export function asksForHandoff(prompt: string): boolean {
  const trimmed = prompt.trim()
  if (trimmed.length > MAX_LENGTH || /[`\n]|^[<[]/.test(trimmed)) return false
  const words = normalisePrompt(trimmed)
  // "handler" and "by hand" are common, and compiling the patterns takes longer than the rest of
  // the hook.
  if (!WRITTEN.some((form) => words.includes(form))) return false
  const typed = new RegExp(String.raw`^/?(?:(?:workflow|session|stint)[:-])?hand-?off[.! ]*$`)
  if (trimmed.startsWith('/')) return typed.test(words)
  return sentencesOf(words).some((sentence) => {
    if (typed.test(sentence)) return true
    // "Can you hand off?" asks for it; "should we?" and "what is a handoff?" do not.
    if (
      sentence.endsWith('?') &&
      !/^(?:please |now )?(?:can|could|would|will) you\b/.test(sentence)
    )
      return false
    return new RegExp(`^(?:${REQUEST})${ENDING}`).test(stripCourtesies(sentence))
  })
}

const WRITTEN = [
  'handoff',
  'hand-off',
  'hand off',
  ...['this', 'it', 'the', 'everything', 'things'].map((what) => `hand ${what} `),
]
const WORD = 'hand(?:-| )?off'
const OBJECT = '(?:this|it|the (?:session|work|task)|this (?:session|work|task)|everything|things)'
const REQUEST = [
  WORD,
  `hand off ${OBJECT}`,
  `hand ${OBJECT} (?:off|over)`,
  `(?:create|make|write|prepare|generate|draft|do|start|produce|give me|save) (?:a |the |another |one more )?(?:new |final |draft |session |quick |proper )?${WORD}(?: (?:document|doc|note))?`,
].join('|')
const ENDING = String.raw`(?:[, ]+(?:now|please|here|then|at this point|to (?:a|the|another) (?:new|fresh|next|other|clean)?\s?(?:conversation|session|agent|context|window|chat)|for (?:a|the|another) (?:new|fresh|next|other)?\s?(?:conversation|session|agent|context|window|chat|task)))*[.! ]*$`
