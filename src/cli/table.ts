import { padTo, widthOf } from './run-view/width.ts'

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
