import { separateWords } from './entry-text.ts'

const TERM_LIMIT = 64
const HAS_WORD = /[\p{L}\p{N}\p{Co}]/u
const TERMS = /"([^"]*)"?(\*?)|([^\s"]+)/gu

/**
 * What a person typed, as an expression of the full-text engine: every word must occur, `"a phrase"`
 * as it stands, `pre*` by its beginning. Everything is quoted, so that no text is ever syntax.
 * Undefined when there is no word in it.
 */
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
