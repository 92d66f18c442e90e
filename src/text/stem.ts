/** `caching`, `caches` and `cached` become one. */
export function stem(word: string): string {
  return word.length <= 4
    ? word.replace(/s$/, '')
    : word.replace(/(?:ings?|ers?|ed|es|s|ions?|ly|ment|able|e)$/, '').slice(0, 7)
}
