import { cutTo, widthOf } from './width.ts'

export type Style = 'bold' | 'dim' | 'green' | 'yellow' | 'red' | 'cyan'

const CODES: Readonly<Record<Style, readonly [number, number]>> = {
  bold: [1, 22],
  dim: [2, 22],
  green: [32, 39],
  yellow: [33, 39],
  red: [31, 39],
  cyan: [36, 39],
}

/** Puts colours on, or leaves a text as it is. */
export type Paint = (text: string, style: Style | undefined) => string

export function painter(hasColour: boolean): Paint {
  return (text, style) => {
    if (!hasColour || style === undefined || text === '') return text
    const [on, off] = CODES[style]
    return `\u001B[${on}m${text}\u001B[${off}m`
  }
}

/** A piece of a line that is not broken. */
export interface Part {
  readonly text: string
  readonly style?: Style
}

const BETWEEN = ' · '

/** Parts set one behind the other, on as many lines of so many columns as they need. A part too long for a line is cut. */
export function flow(parts: readonly Part[], columns: number, paint: Paint): readonly string[] {
  const lines: string[] = []
  let width = Infinity
  for (const { text, style } of parts) {
    if (text === '') continue
    const cut = cutTo(text, columns)
    const more = widthOf(cut) + BETWEEN.length
    if (width + more > columns) {
      lines.push(paint(cut, style))
      width = widthOf(cut)
    } else {
      lines[lines.length - 1] += `${paint(BETWEEN, 'dim')}${paint(cut, style)}`
      width += more
    }
  }
  return lines
}
