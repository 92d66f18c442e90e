import type { Output } from '../../context/context.ts'
import { trusted, withoutTrusted } from '../../context/trusted-output.ts'

// Written by hand, since a library takes longer to load than most commands run. Where terminals disagree (joined emoji, flags) the
// larger width counts: too wide leaves a gap, too narrow breaks the line and everything below.

const ASCII_ONLY = /^[ -~]*$/
const ZERO_WIDTH = /^[\p{Mn}\p{Me}\p{Cf}]$/u
const EMOJI_STYLE = '\uFE0F'
const WIDE =
  /^[\p{Emoji_Presentation}\u1100-\u115F\u2329\u232A\u2E80-\u303E\u3041-\u33FF\u3400-\u4DBF\u4E00-\u9FFF\uA000-\uA4CF\uA960-\uA97F\uAC00-\uD7A3\uF900-\uFAFF\uFE10-\uFE19\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6\u{16FE0}-\u{18DFF}\u{1AFF0}-\u{1B2FF}\u{1F200}-\u{1F2FF}\u{1F300}-\u{1F64F}\u{1F900}-\u{1F9FF}\u{20000}-\u{3FFFD}]$/u

export function displayWidth(text: string): number {
  const plain = withoutTrusted(text)
  if (ASCII_ONLY.test(plain)) return plain.length
  let width = 0
  for (const character of plain) width += characterWidth(character)
  return width
}

function characterWidth(character: string) {
  // The character before it takes two columns in this style, one of which is already counted.
  if (character === EMOJI_STYLE) return 1
  if (ZERO_WIDTH.test(character)) return 0
  return WIDE.test(character) ? 2 : 1
}

let graphemes: Intl.Segmenter | undefined

/** Truncates a text without colours to this many columns, with `…`, and never splits a grapheme. */
export function truncate(text: string, columns: number): string {
  if (displayWidth(text) <= columns) return text
  if (columns <= 0) return ''
  graphemes ??= new Intl.Segmenter('en', { granularity: 'grapheme' })
  let result = ''
  let width = 0
  for (const { segment } of graphemes.segment(text)) {
    width += displayWidth(segment)
    if (width > columns - 1) break
    result += segment
  }
  return `${result.trimEnd()}…`
}

export function padTo(text: string, columns: number): string {
  return `${text}${' '.repeat(Math.max(0, columns - displayWidth(text)))}`
}

/** Aligns rows in columns. Columns of figures are aligned to the right. */
export function table(
  rows: readonly (readonly string[])[],
  numericColumns: readonly number[] = [],
): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => displayWidth(row[column] ?? ''))),
  )
  return rows.map((row) =>
    widths
      .map((width, column) => {
        const cell = row[column] ?? ''
        return numericColumns.includes(column)
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
  numericColumns?: readonly number[],
): readonly string[] {
  const [first = '', ...lines] = table([head, ...rows], numericColumns)
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
    return `${trusted(`\u001B[${on}m`)}${text}${trusted(`\u001B[${off}m`)}`
  }
}

export interface StyledText {
  readonly text: string
  readonly style?: Style | undefined
}

const SEPARATOR = ' · '

/** Joins parts on as many lines as they need. A part too long for a line is cut. */
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
    const more = displayWidth(cut) + SEPARATOR.length
    if (width + more > columns) {
      lines.push(paint(cut, style))
      width = displayWidth(cut)
    } else {
      lines[lines.length - 1] += `${paint(SEPARATOR, 'dim')}${paint(cut, style)}`
      width += more
    }
  }
  return lines
}
