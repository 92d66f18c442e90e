import { encode } from '@toon-format/toon'
import { neutralizeTags, safeLine } from '../text/safe-text.ts'
import { costOfAll, shortenToCost } from './cost.ts'
import { type SectionFrame, type ContextSection, listSection, takeNearest } from './section.ts'

type Row<Column extends string> = Readonly<Record<Column, string>>

export interface SectionTable<Column extends string> {
  readonly name: string
  readonly columns: Readonly<Record<Column, number>>
  /** The column without which a row says nothing. */
  readonly main: NoInfer<Column>
  readonly rows: readonly Row<Column>[]
  line(row: Row<Column>): string
}

const MOST = 60
/** With fewer rows, naming the columns costs more than it saves. */
const FEWEST = 4

/** As TOON where that is smaller, else as a list. */
export function tableSection<Column extends string>(
  table: SectionTable<Column>,
  frame: SectionFrame & { readonly lengths: readonly number[] },
): ContextSection {
  const near = takeNearest(table.rows, MOST, frame.keep)
  const items = near.map((row) => mapCells(row, safeLine)).filter((row) => row[table.main] !== '')
  return listSection(
    frame,
    frame.lengths,
    { items, leftOut: table.rows.length - near.length },
    (row, length) =>
      mapCells(row, (cell, column) =>
        shortenToCost(cell, Math.ceil(length * table.columns[column])),
      ),
    (rows) => {
      const list = asList(frame.heading, table, rows)
      if (rows.length < FEWEST) return list
      const toon = asToon(table, rows)
      return costOfAll(toon) < costOfAll(list) ? toon : list
    },
  )
}

/** Cells that are harmless by themselves may not be so side by side. */
export function asList<Column extends string>(
  heading: string,
  table: Pick<SectionTable<Column>, 'line'>,
  rows: readonly Row<Column>[],
): readonly string[] {
  return [heading, ...rows.map((row) => neutralizeTags(`- ${table.line(row)}`))]
}

/** Bars divide the cells, because prose is full of commas. */
export function asToon<Column extends string>(
  table: SectionTable<Column>,
  rows: readonly Row<Column>[],
): readonly string[] {
  const columns = (Object.keys(table.columns) as Column[]).filter((column) =>
    rows.some((row) => row[column] !== ''),
  )
  const filled = rows.map((row) =>
    Object.fromEntries(columns.map((column) => [column, row[column]])),
  )
  return encode({ [table.name]: filled }, { delimiter: '|' })
    .split('\n')
    .map(neutralizeTags)
}

function mapCells<Column extends string>(
  row: Row<Column>,
  change: (cell: string, column: Column) => string,
) {
  const cells = Object.entries(row) as [Column, string][]
  return Object.fromEntries(
    cells.map(([column, cell]) => [column, change(cell, column)]),
  ) as Row<Column>
}
