/** A word as a shell has to be given it so that it stays one. */
export function quoteWord(word: string): string {
  return /^[\w./-]+$/.test(word) ? word : singleQuoted(word)
}

export function singleQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
