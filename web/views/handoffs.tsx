import type { PublicHandoff } from '../../src/serve/contract.ts'
import { api } from '../data/api.ts'
import { useResource } from '../data/resource.ts'
import { StatusBadge, Time } from '../components/values.tsx'
import { ListView } from '../lists/list-view.tsx'
import { Empty } from '../components/states.tsx'
import { type Column, DataTable } from '../components/data-table.tsx'
import { Text } from '../components/text.tsx'
import { hrefTo } from '../data/router.ts'

const COLUMNS: readonly Column<PublicHandoff>[] = [
  {
    name: 'Handoff',
    of: ({ id, sessionName, number }) => (
      <a class="row-link mono" href={hrefTo.handoff(id)}>
        <Text>{`${sessionName}/${number}`}</Text>
      </a>
    ),
  },
  { name: 'Status', isPlain: true, of: ({ status }) => <StatusBadge of={status} /> },
  {
    name: 'Session',
    of: ({ session, sessionName }) => (
      <a href={hrefTo.session(session)}>
        <Text>{sessionName}</Text>
      </a>
    ),
  },
  { name: 'Reason', isPlain: true, of: (row) => <Reason row={row} /> },
  { name: 'Made', as: 'number', of: ({ at }) => <Time at={at} /> },
]

export function HandoffsView() {
  const handoffs = useResource('handoffs', api.handoffs, (event) => event.type === 'handoffs')
  return (
    <ListView
      title="Handoffs"
      about="How one conversation passed its session to the next"
      rows={handoffs}
      none={
        <Empty title="Nothing was handed over yet">
          <code>stint handoff create</code> writes down where a session stands, checked against the
          repository, for whoever goes on.
        </Empty>
      }
    >
      {(rows) => (
        <DataTable label="Handoffs" columns={COLUMNS} rows={rows} keyOf={({ id }) => id} />
      )}
    </ListView>
  )
}

function Reason({ row }: { row: PublicHandoff }) {
  return (
    <>
      <Text>{row.reason}</Text>
      {row.to === undefined ? null : (
        <span class="muted small">
          {' '}
          for <Text>{`${row.to.kind} ${row.to.name}`}</Text>
        </span>
      )}
    </>
  )
}
