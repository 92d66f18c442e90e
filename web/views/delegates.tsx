import type { DelegateRow } from '../../src/serve/contract.ts'
import { api } from '../data/api.ts'
import { useResource } from '../data/resource.ts'
import { Badge, Cost, StatusBadge, Time, Tokens } from '../components/values.tsx'
import { DelegateActions } from '../components/delegate-actions.tsx'
import { formatDuration } from '../components/format.ts'
import { ListView } from '../lists/list-view.tsx'
import { Empty } from '../components/states.tsx'
import { type Column, DataTable } from '../components/data-table.tsx'
import { Text } from '../components/text.tsx'
import { hrefTo } from '../data/router.ts'

/** The merge queue first, then running, stuck and finished delegates. */
const STATES: readonly { readonly title: string; readonly of: readonly DelegateRow['status'][] }[] =
  [
    { title: 'Merge queue', of: ['merging', 'ready'] },
    { title: 'At work', of: ['running'] },
    { title: 'Needs somebody', of: ['conflicted', 'failed', 'parked'] },
    { title: 'Over', of: ['merged', 'discarded'] },
  ]

export function DelegatesView() {
  const delegates = useResource('delegates', api.delegates, (event) => event.type === 'delegate')
  return (
    <ListView
      title="Delegates"
      about="Agents in the background, each on a branch of its own"
      rows={delegates}
      none={
        <Empty title="Nobody works in the background">
          <code>stint delegate "What is to be done"</code> starts an agent in a worktree of its own.
          What it brings is merged when it is proved.
        </Empty>
      }
    >
      {(rows) => (
        <DataTable
          label="Delegates"
          columns={[
            ...COLUMNS,
            {
              name: 'Actions',
              as: 'row-actions',
              isPlain: true,
              of: (row) => <DelegateActions row={row} changed={delegates.reload} />,
            },
          ]}
          groups={byState(rows)}
          keyOf={({ id }) => id}
        />
      )}
    </ListView>
  )
}

const COLUMNS: readonly Column<DelegateRow>[] = [
  {
    name: 'Delegate',
    of: ({ id, name, because, what }) => (
      <>
        <a class="row-link" href={hrefTo.delegate(id)}>
          <Text>{name}</Text>
        </a>
        <p class="muted small clip">
          <Text>{because ?? what}</Text>
        </p>
      </>
    ),
  },
  { name: 'Status', isPlain: true, of: (row) => <DelegateStatusBadge row={row} /> },
  {
    name: 'Target',
    as: 'mono',
    of: ({ isReadOnly, target }) =>
      isReadOnly ? <span class="muted">reads only</span> : <Text>{target}</Text>,
  },
  { name: 'Commits', as: 'number', of: ({ commits }) => commits },
  { name: 'Time', as: 'number', of: ({ seconds }) => formatDuration(seconds) },
  { name: 'Tokens', as: 'number', of: ({ spend }) => <Tokens of={spend} /> },
  { name: 'Cost', as: 'number', of: ({ spend }) => <Cost of={spend} /> },
  { name: 'Since', as: 'number', of: ({ since }) => <Time at={since} /> },
]

function byState(rows: readonly DelegateRow[]) {
  return STATES.flatMap(({ title, of }) => {
    const these = rows.filter(({ status }) => of.includes(status))
    if (these.length === 0) return []
    const counted = (
      <>
        {title} <span class="muted">{these.length}</span>
      </>
    )
    return [{ key: title, title: counted, rows: these }]
  })
}

export function DelegateStatusBadge({ row }: { row: DelegateRow }) {
  return (
    <>
      {row.status === 'ready' ? (
        <Badge tone="accent">ready</Badge>
      ) : (
        <StatusBadge of={row.status} />
      )}
      {row.isOrphaned ? <Badge tone="warn">orphaned</Badge> : null}
    </>
  )
}
