import type { DelegateRow } from '../../src/delegate/contract.ts'
import { api } from '../data/api.ts'
import { useResource } from '../data/resource.ts'
import { Badge, Status } from '../parts/badge.tsx'
import { DelegateActions } from '../parts/delegate-actions.tsx'
import { duration } from '../parts/format.ts'
import { Cost, Tokens } from '../parts/cost.tsx'
import { Empty, Loaded } from '../parts/states.tsx'
import { Text } from '../parts/text.tsx'
import { Time } from '../parts/time.tsx'
import { hrefTo } from '../shell/router.ts'

/** The merge queue from its head, then what is on its way to it, what left it, and what is over. */
const STATES: readonly { readonly title: string; readonly of: readonly DelegateRow['status'][] }[] = [
  { title: 'Merge queue', of: ['merging', 'ready'] },
  { title: 'At work', of: ['running'] },
  { title: 'Needs somebody', of: ['conflicted', 'failed', 'parked'] },
  { title: 'Over', of: ['merged', 'discarded'] },
]

export function DelegatesView() {
  const delegates = useResource('delegates', api.delegates, (event) => event.type === 'delegate')
  return (
    <div class="view">
      <header class="view-head">
        <h1>Delegates</h1>
        <span class="aside">Agents in the background, each on a branch of its own</span>
      </header>
      <div class="view-body">
        <Loaded resource={delegates}>
          {(rows) => (rows.length === 0 ? <NoDelegates /> : <DelegateTable rows={rows} changed={delegates.reload} />)}
        </Loaded>
      </div>
    </div>
  )
}

function NoDelegates() {
  return (
    <Empty title="Nobody works in the background">
      <code>stint delegate "What is to be done"</code> starts an agent in a worktree of its own. What it brings is merged when it
      is proved.
    </Empty>
  )
}

function DelegateTable({ rows, changed }: { rows: readonly DelegateRow[]; changed: () => void }) {
  return (
    <div class="table-scroll" tabIndex={0} role="region" aria-label="Delegates">
      <table class="table table-cards">
        <thead>
          <tr>
            <th scope="col">Delegate</th>
            <th scope="col">Status</th>
            <th scope="col">Target</th>
            <th scope="col" class="number">
              Commits
            </th>
            <th scope="col" class="number">
              Time
            </th>
            <th scope="col" class="number">
              Tokens
            </th>
            <th scope="col" class="number">
              Cost
            </th>
            <th scope="col" class="number">
              Since
            </th>
            <th scope="col">Actions</th>
          </tr>
        </thead>
        {STATES.map(({ title, of }) => {
          const these = rows.filter(({ status }) => of.includes(status))
          return these.length === 0 ? null : (
            <tbody key={title}>
              <tr class="group-row">
                <th colSpan={9} scope="rowgroup">
                  {title} <span class="muted">{these.length}</span>
                </th>
              </tr>
              {these.map((row) => (
                <DelegateLine key={row.id} row={row} changed={changed} />
              ))}
            </tbody>
          )
        })}
      </table>
    </div>
  )
}

function DelegateLine({ row, changed }: { row: DelegateRow; changed: () => void }) {
  return (
    <tr>
      <th scope="row">
        <a class="row-link" href={hrefTo.delegate(row.id)}>
          <Text>{row.name}</Text>
        </a>
        <p class="muted small clip">
          <Text>{row.because ?? row.what}</Text>
        </p>
      </th>
      <td>
        <DelegateStatus row={row} />
      </td>
      <td class="mono" data-name="Target">
        {row.isReadOnly ? <span class="muted">reads only</span> : <Text>{row.target}</Text>}
      </td>
      <td class="number" data-name="Commits">
        {row.commits}
      </td>
      <td class="number" data-name="Time">
        {duration(row.seconds)}
      </td>
      <td class="number" data-name="Tokens">
        <Tokens of={row.spend} />
      </td>
      <td class="number" data-name="Cost">
        <Cost of={row.spend} />
      </td>
      <td class="number" data-name="Since">
        <Time at={row.since} />
      </td>
      <td class="row-actions">
        <DelegateActions row={row} changed={changed} />
      </td>
    </tr>
  )
}

export function DelegateStatus({ row }: { row: DelegateRow }) {
  return (
    <>
      {row.status === 'ready' ? <Badge tone="accent">ready</Badge> : <Status of={row.status} />}
      {row.isAdrift ? <Badge tone="warn">adrift</Badge> : null}
    </>
  )
}
