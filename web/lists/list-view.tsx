import type { ComponentChildren } from 'preact'
import type { Resource } from '../data/resource.ts'
import { Loaded } from '../components/states.tsx'

export interface ListViewProps<Row> {
  readonly title: string
  /** What its rows are, in a few words. */
  readonly about: string
  readonly rows: Resource<readonly Row[]>
  /** Instead of them, where there are none. */
  readonly none: ComponentChildren
  readonly children: (rows: readonly Row[]) => ComponentChildren
}

/** A view of all there is of one kind. */
export function ListView<Row>({ title, about, rows, none, children }: ListViewProps<Row>) {
  return (
    <div class="view">
      <header class="view-head">
        <h1>{title}</h1>
        <span class="aside">{about}</span>
      </header>
      <div class="view-body">
        <Loaded resource={rows}>{(value) => (value.length === 0 ? none : children(value))}</Loaded>
      </div>
    </div>
  )
}
