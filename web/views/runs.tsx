import type { RunRow } from '../../src/serve/contract.ts'
import { api } from '../data/api.ts'
import { useResource } from '../data/resource.ts'
import { Cost, StatusBadge, Time, Tokens } from '../components/values.tsx'
import { ListView } from '../lists/list-view.tsx'
import { Empty } from '../components/states.tsx'
import { type Column, DataTable } from '../components/data-table.tsx'
import { Text } from '../components/text.tsx'
import { hrefTo } from '../data/router.ts'

const COLUMNS: readonly Column<RunRow>[] = [
  {
    name: 'Run',
    of: ({ id }) => (
      <a class="row-link mono" href={hrefTo.run(id)}>
        {shortRun(id)}
      </a>
    ),
  },
  { name: 'State', isPlain: true, of: (row) => <RunStateBadge row={row} /> },
  { name: 'Tasks', of: (row) => <TaskCounts row={row} /> },
  { name: 'Harness', of: ({ harness }) => <Text>{harness}</Text> },
  { name: 'Tokens', as: 'number', of: ({ spend }) => <Tokens of={spend} /> },
  { name: 'Cost', as: 'number', of: ({ spend }) => <Cost of={spend} /> },
  { name: 'Started', as: 'number', of: ({ startedAt }) => <Time at={startedAt} /> },
]

export function RunsView() {
  const runs = useResource('runs', api.runs, (event) => event.type === 'run')
  return (
    <ListView
      title="Runs"
      about="Backlogs that an agent worked through"
      rows={runs}
      none={
        <Empty title="Nothing has run here yet">
          <code>stint run</code> works through the tasks that are open;{' '}
          <code>stint run --dry-run</code> shows what it would do.
        </Empty>
      }
    >
      {(rows) => <DataTable label="Runs" columns={COLUMNS} rows={rows} keyOf={({ id }) => id} />}
    </ListView>
  )
}

/** The short id that the command line uses. */
export function shortRun(id: string): string {
  return id.slice(-6)
}

export function RunStateBadge({ row }: { row: RunRow }) {
  if (row.state === 'running') return <StatusBadge of="running" />
  return (
    <>
      <StatusBadge
        of={row.state === 'resumable' ? 'resumable' : row.how === 'finished' ? 'finished' : 'ended'}
      />
      {row.how === 'finished' ? null : <span class="muted small"> {row.how}</span>}
    </>
  )
}

export function TaskCounts({
  row: { done, failed, open },
}: {
  row: Pick<RunRow, 'done' | 'failed' | 'open'>
}) {
  const all = Math.max(1, done + failed + open)
  return (
    <span class="counts">
      <span class="counts-bar" aria-hidden="true">
        <span data-tone="good" style={{ width: `${(done / all) * 100}%` }} />
        <span data-tone="bad" style={{ width: `${(failed / all) * 100}%` }} />
      </span>
      <span class="counts-text">
        {done} done{failed === 0 ? '' : `, ${failed} failed`}
        {open === 0 ? '' : `, ${open} open`}
      </span>
    </span>
  )
}
