import type { ComponentChildren } from 'preact'
import type { Resource } from '../data/resource.ts'
import { Loaded } from '../components/states.tsx'

export interface ListViewProps<Row> {
  readonly title: string
  readonly about: string
  readonly rows: Resource<readonly Row[]>
  /** Shown when there are no rows. */
  readonly none: ComponentChildren
  readonly children: (rows: readonly Row[]) => ComponentChildren
}

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
