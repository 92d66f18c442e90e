// A quotation, an escaped character, or a stretch of anything else.
const PIECE = /\s+|([^\s"'\\]+)|\\([^])|'([^']*)'|"((?:[^"\\]|\\[^])*)"/y

/** Splits like a shell, without expansion. Undefined when a quotation does not end. */
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
