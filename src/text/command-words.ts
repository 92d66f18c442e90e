// A quotation, an escaped character, or a stretch of anything else.
const FRAGMENT = /\s+|([^\s"'\\]+)|\\([^])|'([^']*)'|"((?:[^"\\]|\\[^])*)"/y

/** Splits like a shell, without expansion. Undefined when a quotation does not end. */
export function commandWords(line: string): readonly string[] | undefined {
  const words: string[] = []
  let word: string | undefined
  for (let at = 0; at < line.length; at = FRAGMENT.lastIndex) {
    FRAGMENT.lastIndex = at
    const found = FRAGMENT.exec(line)
    if (found === null) return undefined
    const [, plain, escaped, single, double] = found
    const fragment = plain ?? escaped ?? single ?? double?.replaceAll(/\\(["\\$`])/g, '$1')
    if (fragment !== undefined) word = (word ?? '') + fragment
    else if (word !== undefined) words.push(word)
    if (fragment === undefined) word = undefined
  }
  return word === undefined ? words : [...words, word]
}
