import type { HandoffLine } from '../../src/serve/contract.ts'
import { api } from '../data/api.ts'
import { useResource } from '../data/resource.ts'
import { Status } from '../parts/badge.tsx'
import { Empty, Loaded } from '../parts/states.tsx'
import { Text } from '../parts/text.tsx'
import { Time } from '../parts/time.tsx'
import { hrefTo } from '../shell/router.ts'

export function HandoffsView() {
  const handoffs = useResource('handoffs', api.handoffs, (event) => event.type === 'handoffs')
  return (
    <div class="view">
      <header class="view-head">
        <h1>Handoffs</h1>
        <span class="aside">How one conversation passed its session to the next</span>
      </header>
      <div class="view-body">
        <Loaded resource={handoffs}>{(rows) => (rows.length === 0 ? <NoHandoffs /> : <HandoffTable rows={rows} />)}</Loaded>
      </div>
    </div>
  )
}

function NoHandoffs() {
  return (
    <Empty title="Nothing was handed over yet">
      <code>stint handoff create</code> writes down where a session stands, checked against the repository, for whoever goes on.
    </Empty>
  )
}

function HandoffTable({ rows }: { rows: readonly HandoffLine[] }) {
  return (
    <div class="table-scroll" tabIndex={0} role="region" aria-label="Handoffs">
      <table class="table table-cards">
        <thead>
          <tr>
            <th scope="col">Handoff</th>
            <th scope="col">Status</th>
            <th scope="col">Session</th>
            <th scope="col">Reason</th>
            <th scope="col" class="number">
              Made
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.id}>
              <th scope="row">
                <a class="row-link mono" href={hrefTo.handoff(row.id)}>
                  <Text>{`${row.sessionName}/${row.number}`}</Text>
                </a>
              </th>
              <td>
                <Status of={row.status} />
              </td>
              <td data-name="Session">
                <a href={hrefTo.session(row.session)}>
                  <Text>{row.sessionName}</Text>
                </a>
              </td>
              <td>
                <Text>{row.reason}</Text>
                {row.for === undefined ? null : (
                  <span class="muted small">
                    {' '}
                    for <Text>{row.for}</Text>
                  </span>
                )}
              </td>
              <td class="number" data-name="Made">
                <Time at={row.at} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
