import type { Output } from '../../context/context.ts'

// By hand: a library for it takes longer to load than most commands run. Where terminals disagree (emoji joined into one, flags) the larger
// width is taken: too much leaves a gap, too little breaks the line and everything drawn below.

const COLOURS = /\u001B\[[\d;]*m/g
const NARROW = /^[ -~]*$/
const TAKES_NONE = /^[\p{Mn}\p{Me}\p{Cf}]$/u
const EMOJI_STYLE = '\uFE0F'
const WIDE =
  /^[\p{Emoji_Presentation}\u1100-\u115F\u2329\u232A\u2E80-\u303E\u3041-\u33FF\u3400-\u4DBF\u4E00-\u9FFF\uA000-\uA4CF\uA960-\uA97F\uAC00-\uD7A3\uF900-\uFAFF\uFE10-\uFE19\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6\u{16FE0}-\u{18DFF}\u{1AFF0}-\u{1B2FF}\u{1F200}-\u{1F2FF}\u{1F300}-\u{1F64F}\u{1F900}-\u{1F9FF}\u{20000}-\u{3FFFD}]$/u

export function displayWidth(text: string): number {
  const plain = text.includes('\u001B') ? text.replaceAll(COLOURS, '') : text
  if (NARROW.test(plain)) return plain.length
  let width = 0
  for (const character of plain) width += columnsOf(character)
  return width
}

function columnsOf(character: string) {
  // The character before it takes two columns in this style, of which one may be counted already.
  if (character === EMOJI_STYLE) return 1
  if (TAKES_NONE.test(character)) return 0
  return WIDE.test(character) ? 2 : 1
}

let graphemes: Intl.Segmenter | undefined

/** At most so many columns of a text without colours, `…` at the end where something is missing. Never a part of a character. */
export function truncate(text: string, columns: number): string {
  if (displayWidth(text) <= columns) return text
  if (columns <= 0) return ''
  graphemes ??= new Intl.Segmenter('en', { granularity: 'grapheme' })
  let kept = ''
  let width = 0
  for (const { segment } of graphemes.segment(text)) {
    width += displayWidth(segment)
    if (width > columns - 1) break
    kept += segment
  }
  return `${kept.trimEnd()}…`
}

export function padTo(text: string, columns: number): string {
  return `${text}${' '.repeat(Math.max(0, columns - displayWidth(text)))}`
}

/** Rows in columns as wide as their cells. Columns of figures are aligned to the right. */
export function table(
  rows: readonly (readonly string[])[],
  figures: readonly number[] = [],
): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => displayWidth(row[column] ?? ''))),
  )
  return rows.map((row) =>
    widths
      .map((width, column) => {
        const cell = row[column] ?? ''
        return figures.includes(column)
          ? `${' '.repeat(width - displayWidth(cell))}${cell}`
          : padTo(cell, width)
      })
      .join('  ')
      .trimEnd(),
  )
}

export function tableWithHead(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  output: Output,
  figures?: readonly number[],
): readonly string[] {
  const [first = '', ...lines] = table([head, ...rows], figures)
  return [output.dim(first), ...lines]
}

const CODES = {
  bold: [1, 22],
  dim: [2, 22],
  green: [32, 39],
  yellow: [33, 39],
  red: [31, 39],
  cyan: [36, 39],
} as const

export type Style = keyof typeof CODES

export type Paint = (text: string, style: Style | undefined) => string

export function painter(hasColour: boolean): Paint {
  return (text, style) => {
    if (!hasColour || style === undefined || text === '') return text
    const [on, off] = CODES[style]
    return `\u001B[${on}m${text}\u001B[${off}m`
  }
}

export interface StyledText {
  readonly text: string
  readonly style?: Style | undefined
}

const BETWEEN = ' · '

/** Parts one behind the other, on as many lines as they need. A part too long for a line is cut. */
export function wrapParts(
  parts: readonly StyledText[],
  columns: number,
  paint: Paint,
): readonly string[] {
  const lines: string[] = []
  let width = Infinity
  for (const { text, style } of parts) {
    if (text === '') continue
    const cut = truncate(text, columns)
    const more = displayWidth(cut) + BETWEEN.length
    if (width + more > columns) {
      lines.push(paint(cut, style))
      width = displayWidth(cut)
    } else {
      lines[lines.length - 1] += `${paint(BETWEEN, 'dim')}${paint(cut, style)}`
      width += more
    }
  }
  return lines
}
