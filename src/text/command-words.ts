// A quotation, what follows a backslash, or a stretch of anything else.
const PIECE = /\s+|([^\s"'\\]+)|\\([^])|'([^']*)'|"((?:[^"\\]|\\[^])*)"/y

/**
 * The words of a command as a shell parts them, by blanks, quotations and backslashes. Nothing else has a meaning: nothing is
 * looked up, run or sent elsewhere. Undefined when a quotation does not end.
 */
export function commandWords(line: string): readonly string[] | undefined {
  const words: string[] = []
  let word: string | undefined
  for (let at = 0; at < line.length; at = PIECE.lastIndex) {
    PIECE.lastIndex = at
    const found = PIECE.exec(line)
    if (found === null) return undefined
    const [, bare, escaped, single, double] = found
    const piece = bare ?? escaped ?? single ?? double?.replaceAll(/\\(["\\$`])/g, '$1')
    if (piece !== undefined) word = (word ?? '') + piece
    else if (word !== undefined) words.push(word)
    if (piece === undefined) word = undefined
  }
  return word === undefined ? words : [...words, word]
}
