import { encode } from '@toon-format/toon'
import { costOfAll, shortenToCost } from './cost.ts'
import { kept, once } from './lists.ts'
import { harmless, safeLine } from '../text/safe-text.ts'
import type { Section } from './section.ts'

export interface Table<Column extends string> {
  /** The name of the table where it is told as one. */
  readonly name: string
  /** Each column with the share of an item's length that it may take. */
  readonly columns: Readonly<Record<Column, number>>
  /** The column without which a row says nothing. */
  readonly main: NoInfer<Column>
  readonly rows: readonly Readonly<Record<Column, string>>[]
  readonly heading: string
  /** A row as a sentence would say it. */
  line(row: Readonly<Record<Column, string>>): string
}

const MOST = 60
/** With fewer rows, naming the columns costs more than it saves, and the encoder a millisecond to begin with. */
const FEWEST = 4

/** Rows that have the same fields, told as TOON where that is smaller and as a list where it is not. */
export function tableSection<Column extends string>(
  table: Table<Column>,
  frame: Omit<Section, 'count' | 'lines' | 'earlier'> & {
    readonly keep: 'first' | 'last'
    readonly earlier?: number
  },
): Section {
  const near = kept(table.rows, MOST, frame.keep)
  const rows = near.map((row) => mapCells(row, safeLine)).filter((row) => row[table.main] !== '')
  const shortened = once((length) =>
    rows.map((row) =>
      mapCells(row, (cell, column) =>
        shortenToCost(cell, Math.ceil(length * table.columns[column])),
      ),
    ),
  )
  return {
    ...frame,
    count: rows.length,
    earlier: (frame.earlier ?? 0) + table.rows.length - near.length,
    lines: (shown, length) => {
      const told = kept(shortened(length), shown, frame.keep)
      const list = asList(table, told)
      if (told.length < FEWEST) return list
      const toon = asToon(table, told)
      return costOfAll(toon) < costOfAll(list) ? toon : list
    },
  }
}

/** Cells that are harmless by themselves may not be so side by side. */
export function asList<Column extends string>(
  table: Table<Column>,
  rows: Table<Column>['rows'],
): readonly string[] {
  return [table.heading, ...rows.map((row) => harmless(`- ${table.line(row)}`))]
}

/** A column that no row fills is not told. Bars divide the cells, because prose is full of commas. */
export function asToon<Column extends string>(
  table: Table<Column>,
  rows: Table<Column>['rows'],
): readonly string[] {
  const columns = (Object.keys(table.columns) as Column[]).filter((column) =>
    rows.some((row) => row[column] !== ''),
  )
  const filled = rows.map((row) =>
    Object.fromEntries(columns.map((column) => [column, row[column]])),
  )
  return encode({ [table.name]: filled }, { delimiter: '|' })
    .split('\n')
    .map(harmless)
}

function mapCells<Column extends string>(
  row: Readonly<Record<Column, string>>,
  change: (cell: string, column: Column) => string,
): Record<Column, string> {
  const cells = Object.entries(row) as [Column, string][]
  return Object.fromEntries(
    cells.map(([column, cell]) => [column, change(cell, column)]),
  ) as Record<Column, string>
}
