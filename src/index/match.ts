import { joinWords, separateWords } from './entry-text.ts'

const TERM_LIMIT = 64
const HAS_WORD = /[\p{L}\p{N}\p{Co}]/u
const TERMS = /"([^"]*)"?(\*?)|([^\s"]+)/gu

/** Every word must occur; `"a phrase"`; `pre*`. Everything is quoted, so no text is ever syntax. Undefined when there is no word. */
export function matchExpression(text: string): string | undefined {
  const terms: string[] = []
  for (const [, phrase, phraseStar, word] of text.replaceAll('\0', ' ').matchAll(TERMS)) {
    const isPrefix = phraseStar === '*' || word?.endsWith('*') === true
    const words = phrase ?? word!.replace(/\*+$/, '')
    if (!HAS_WORD.test(words)) continue
    terms.push(`"${separateWords(words)}"${isPrefix ? ' *' : ''}`)
    if (terms.length === TERM_LIMIT) break
  }
  return terms.length === 0 ? undefined : terms.join(' ')
}

export const USUAL_MARKS = ['«', '»'] as const

/** How much of the beginning and of the end is shown. */
const FOUND = [80, 30] as const
const BETWEEN = [150, 150] as const

/** Bounded, though a word may be as long as a text. */
export function snippetLine(
  snippet: string,
  marks: readonly [string, string] = USUAL_MARKS,
): string {
  const [before, after] = marks
  const line = joinWords(snippet).replaceAll(/\s+/g, ' ').trim()
  if (before === '' || after === '') return ends(line, BETWEEN)
  return line
    .split(before)
    .map((piece, number) => {
      const end = number === 0 ? -1 : piece.indexOf(after)
      if (end === -1) return ends(piece, BETWEEN)
      return (
        ends(piece.slice(0, end), FOUND) + after + ends(piece.slice(end + after.length), BETWEEN)
      )
    })
    .join(before)
}

function ends(text: string, [head, tail]: readonly [number, number]): string {
  return text.length <= head + tail + 1
    ? text
    : `${text.slice(0, head)}…${text.slice(-tail)}`.toWellFormed()
}
