import type { RunRow } from '../../src/run/report.ts'
import { api } from '../data/api.ts'
import { useResource } from '../data/resource.ts'
import { Status } from '../parts/badge.tsx'
import { Cost, Tokens } from '../parts/cost.tsx'
import { Empty, Loaded } from '../parts/states.tsx'
import { Text } from '../parts/text.tsx'
import { Time } from '../parts/time.tsx'
import { hrefTo } from '../shell/router.ts'

export function RunsView() {
  const runs = useResource('runs', api.runs, (event) => event.type === 'run')
  return (
    <div class="view">
      <header class="view-head">
        <h1>Runs</h1>
        <span class="aside">Backlogs that an agent worked through</span>
      </header>
      <div class="view-body">
        <Loaded resource={runs}>{(rows) => (rows.length === 0 ? <NoRuns /> : <RunTable rows={rows} />)}</Loaded>
      </div>
    </div>
  )
}

function NoRuns() {
  return (
    <Empty title="Nothing has run here yet">
      <code>stint run</code> works through the tasks that are open; <code>stint run --dry-run</code> shows what it would do.
    </Empty>
  )
}

function RunTable({ rows }: { rows: readonly RunRow[] }) {
  return (
    <div class="table-scroll" tabIndex={0} role="region" aria-label="Runs">
      <table class="table table-cards">
        <thead>
          <tr>
            <th scope="col">Run</th>
            <th scope="col">State</th>
            <th scope="col">Tasks</th>
            <th scope="col">Harness</th>
            <th scope="col" class="number">
              Tokens
            </th>
            <th scope="col" class="number">
              Cost
            </th>
            <th scope="col" class="number">
              Started
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.id}>
              <th scope="row">
                <a class="row-link mono" href={hrefTo.run(row.id)}>
                  {shortRun(row.id)}
                </a>
              </th>
              <td>
                <RunState row={row} />
              </td>
              <td data-name="Tasks">
                <TaskCounts row={row} />
              </td>
              <td data-name="Harness">
                <Text>{row.harness}</Text>
              </td>
              <td class="number" data-name="Tokens">
                <Tokens of={row.spend} />
              </td>
              <td class="number" data-name="Cost">
                <Cost of={row.spend} />
              </td>
              <td class="number" data-name="Started">
                <Time at={row.startedAt} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** As the command line calls it: the end of its id. */
export function shortRun(id: string): string {
  return id.slice(-6)
}

export function RunState({ row }: { row: RunRow }) {
  if (row.state === 'running') return <Status of="running" />
  return (
    <>
      <Status of={row.state === 'resumable' ? 'resumable' : row.how === 'finished' ? 'finished' : 'ended'} />
      {row.how === 'finished' ? null : <span class="muted small"> {row.how}</span>}
    </>
  )
}

export function TaskCounts({ row: { done, failed, open } }: { row: Pick<RunRow, 'done' | 'failed' | 'open'> }) {
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
