import type { ComponentChildren } from 'preact'

export interface Column<Row> {
  readonly name: string
  /** The first column names its row. */
  readonly of: (row: Row) => ComponentChildren
  readonly as?: 'number' | 'mono' | 'row-actions'
  /** On a phone a row is a card and its values follow their column names, except plain ones. */
  readonly isPlain?: true
}

export interface TableGroup<Row> {
  readonly key: string
  readonly title?: ComponentChildren
  /** Shown beside the title, by column name. */
  readonly sums?: Readonly<Record<string, ComponentChildren>>
  readonly rows: readonly Row[]
}

export type DataTableProps<Row> = TableOptions<Row> &
  ({ readonly rows: readonly Row[] } | { readonly groups: readonly TableGroup<Row>[] })

interface TableOptions<Row> {
  /** For screen readers. */
  readonly label: string
  readonly columns: readonly Column<Row>[]
  readonly keyOf: (row: Row) => string
  /** The id that links point to, and whether the current URL does. */
  readonly anchorOf?: (row: Row) => { readonly id: string; readonly isChosen: boolean }
  /** On a narrow screen each row is a card, or the table scrolls. */
  readonly whenNarrow?: 'cards' | 'scroll'
}

export function DataTable<Row>(props: DataTableProps<Row>) {
  const { label, columns, keyOf, anchorOf, whenNarrow = 'cards' } = props
  const groups = 'groups' in props ? props.groups : [{ key: 'all', rows: props.rows }]
  return (
    <div class="table-scroll" tabIndex={0} role="region" aria-label={label}>
      <table class={whenNarrow === 'cards' ? 'table table-cards' : 'table'}>
        <thead>
          <tr>
            {columns.map(({ name, as }) => (
              <th key={name} scope="col" class={as === 'number' ? 'number' : undefined}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        {groups.map((group: TableGroup<Row>) => (
          <tbody key={group.key}>
            {group.title === undefined ? null : <GroupHead group={group} columns={columns} />}
            {group.rows.map((row) => {
              const anchor = anchorOf?.(row)
              return (
                <tr key={keyOf(row)} id={anchor?.id} data-chosen={anchor?.isChosen}>
                  {columns.map((column, index) => (
                    <Cell key={column.name} column={column} row={row} isHead={index === 0} />
                  ))}
                </tr>
              )
            })}
          </tbody>
        ))}
      </table>
    </div>
  )
}

function Cell<Row>({
  column: { name, of, as, isPlain },
  row,
  isHead,
}: {
  column: Column<Row>
  row: Row
  isHead: boolean
}) {
  if (isHead)
    return (
      <th scope="row" class={as}>
        {of(row)}
      </th>
    )
  return (
    <td class={as} data-name={isPlain === true ? undefined : name}>
      {of(row)}
    </td>
  )
}

function GroupHead<Row>({
  group: { title, sums = {} },
  columns,
}: {
  group: TableGroup<Row>
  columns: readonly Column<Row>[]
}) {
  const first = columns.findIndex(({ name }) => Object.hasOwn(sums, name))
  const span = first === -1 ? columns.length : first
  return (
    <tr class="group-row">
      <th colSpan={span} scope="rowgroup">
        {title}
      </th>
      {columns.slice(span).map(({ name, as }) => (
        <td key={name} class={as} data-name={name}>
          {sums[name]}
        </td>
      ))}
    </tr>
  )
}
