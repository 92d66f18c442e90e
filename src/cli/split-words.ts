/**
 * The words of a command line that was typed in prose rather than in a shell: quotes hold words together, and
 * nothing else has a meaning. A quote opens only where a word or the value of a flag begins, and closes only where
 * one ends, so that an apostrophe is an apostrophe.
 */
export function splitWords(line: string): readonly string[] {
  // A backslash before the end of a line goes on with the next one.
  const text = line.replaceAll(/\\\r?\n/g, ' ')
  return [...text.matchAll(WORD)].map(([, flag = '', double, single, bare = '']) => {
    if (double !== undefined) return flag + double.replaceAll(/\\(["\\$`])/g, '$1')
    return flag + (single ?? bare)
  })
}

const WORD =
  /(--[\w-]+=)?(?:"((?:[^"\\]|\\.|"(?!\s|$))*)"(?=\s|$)|'((?:[^']|'(?!\s|$))*)'(?=\s|$)|(\S+))/gs
