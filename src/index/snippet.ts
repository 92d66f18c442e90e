import { joinWords } from './entry-text.ts'
import { USUAL_MARKS } from './queries.ts'

/** Of what was found, and of what stands between: how much of its beginning and of its end is shown. */
const FOUND = [80, 30] as const
const BETWEEN = [150, 150] as const

/** What a search found with what is around it, on one line. It has a bound, though a word may be as long as a text. */
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
