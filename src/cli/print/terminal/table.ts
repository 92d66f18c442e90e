import type { Output } from '../../context/output.ts'
import { padTo, widthOf } from './width.ts'

/** Rows in columns as wide as what stands in them. Figures stand at the right of theirs. */
export function table(
  rows: readonly (readonly string[])[],
  figures: ReadonlySet<number> = new Set(),
): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => widthOf(row[column] ?? ''))),
  )
  return rows.map((row) => {
    const cells = widths.map((width, column) => {
      const cell = row[column] ?? ''
      return figures.has(column)
        ? `${' '.repeat(width - widthOf(cell))}${cell}`
        : padTo(cell, width)
    })
    return cells.join('  ').trimEnd()
  })
}

/** The same under a head, which is dimmed. */
export function tableWithHead(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  output: Output,
  figures?: ReadonlySet<number>,
): readonly string[] {
  const [first = '', ...lines] = table([head, ...rows], figures)
  return [output.dim(first), ...lines]
}
