import { encode } from '@toon-format/toon'
import { neutralizeTags, safeLine } from '../text/safe-text.ts'
import { costOfAll, shortenToCost } from './text-size.ts'
import { type SectionFrame, type ContextSection, listSection, takeFirstOrLast } from './section.ts'

type Row<Column extends string> = Readonly<Record<Column, string>>

export interface SectionTable<Column extends string> {
  readonly name: string
  readonly columns: Readonly<Record<Column, number>>
  /** Rows without this column are dropped. */
  readonly main: NoInfer<Column>
  readonly rows: readonly Row<Column>[]
  /** By row. */
  readonly values?: readonly number[]
  line(row: Row<Column>): string
}

const MAX_ROWS = 150
/** With fewer rows the header costs more than TOON saves. */
const MIN_TOON_ROWS = 4

/** As TOON if that is cheaper, otherwise as a list. */
export function tableSection<Column extends string>(
  table: SectionTable<Column>,
  frame: SectionFrame & { readonly lengths: readonly number[] },
): ContextSection {
  const { values } = table
  const near = takeFirstOrLast(
    table.rows.map((row, index) => ({ row: mapCells(row, safeLine), value: values?.[index] ?? 0 })),
    MAX_ROWS,
    frame.keep,
  ).filter(({ row }) => row[table.main] !== '')
  return listSection(
    frame,
    frame.lengths,
    {
      items: near.map(({ row }) => row),
      leftOut: Math.max(0, table.rows.length - MAX_ROWS),
      ...(values === undefined ? {} : { values: near.map(({ value }) => value) }),
    },
    (row, length) =>
      mapCells(row, (cell, column) =>
        shortenToCost(cell, Math.ceil(length * table.columns[column])),
      ),
    (rows) => {
      const list = asList(frame.heading, table, rows)
      if (rows.length < MIN_TOON_ROWS) return list
      const toon = asToon(table, rows)
      return costOfAll(toon) < costOfAll(list) ? toon : list
    },
  )
}

/** Cells that are harmless alone may form a marker or a fence together. */
export function asList<Column extends string>(
  heading: string,
  table: Pick<SectionTable<Column>, 'line'>,
  rows: readonly Row<Column>[],
): readonly string[] {
  return [heading, ...rows.map((row) => neutralizeTags(`- ${table.line(row)}`))]
}

/** Bars as delimiters, because prose is full of commas. */
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
