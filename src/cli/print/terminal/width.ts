// How many columns a text takes on a terminal. Where terminals disagree (emoji joined into one, flags) the larger number
// is taken: too much leaves a gap, too little breaks the line and with it everything drawn below.

const COLOURS = /\u001B\[[\d;]*m/g
const NARROW = /^[ -~]*$/
const TAKES_NONE = /^[\p{Mn}\p{Me}\p{Cf}]$/u
const EMOJI_STYLE = '\uFE0F'
const WIDE =
  /^[\p{Emoji_Presentation}\u1100-\u115F\u2329\u232A\u2E80-\u303E\u3041-\u33FF\u3400-\u4DBF\u4E00-\u9FFF\uA000-\uA4CF\uA960-\uA97F\uAC00-\uD7A3\uF900-\uFAFF\uFE10-\uFE19\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6\u{16FE0}-\u{18DFF}\u{1AFF0}-\u{1B2FF}\u{1F200}-\u{1F2FF}\u{1F300}-\u{1F64F}\u{1F900}-\u{1F9FF}\u{20000}-\u{3FFFD}]$/u

/** Columns that a text takes; colours take none. */
export function widthOf(text: string): number {
  const plain = text.includes('\u001B') ? text.replaceAll(COLOURS, '') : text
  if (NARROW.test(plain)) return plain.length
  let width = 0
  for (const character of plain) width += columnsOf(character)
  return width
}

function columnsOf(character: string): number {
  // The character before it takes two columns in this style, of which one may be counted already.
  if (character === EMOJI_STYLE) return 1
  if (TAKES_NONE.test(character)) return 0
  return WIDE.test(character) ? 2 : 1
}

let graphemes: Intl.Segmenter | undefined

/** At most so many columns of a text without colours, `…` at the end where something is missing. Never a part of a character. */
export function cutTo(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text
  if (columns <= 0) return ''
  graphemes ??= new Intl.Segmenter('en', { granularity: 'grapheme' })
  let kept = ''
  let width = 0
  for (const { segment } of graphemes.segment(text)) {
    width += widthOf(segment)
    if (width > columns - 1) break
    kept += segment
  }
  return `${kept.trimEnd()}…`
}

/** The text with spaces behind it up to so many columns. */
export function padTo(text: string, columns: number): string {
  return `${text}${' '.repeat(Math.max(0, columns - widthOf(text)))}`
}
