import { useEffect, useState } from 'preact/hooks'
import type { RunPage } from '../../src/serve/contract.ts'
import { RunLanes } from '../charts/run-lanes.tsx'
import { TaskGraph } from '../charts/task-graph.tsx'
import { api } from '../data/api.ts'
import { useResource } from '../data/resource.ts'
import { Figures } from '../parts/figures.tsx'
import { amount, duration } from '../parts/format.ts'
import { Cost, Tokens } from '../parts/cost.tsx'
import { Empty, Loaded } from '../parts/states.tsx'
import { Text } from '../parts/text.tsx'
import { Time } from '../parts/time.tsx'
import { href } from '../data/router.ts'
import { Compared } from './run/compared.tsx'
import { ReportTable } from './run/report-table.tsx'
import { RunState, shortRun } from './runs.tsx'

export function RunView({ id }: { id: string }) {
  const run = useResource(
    `run ${id}`,
    (signal) => api.run(id, signal),
    (event) => event.type === 'run' && (event.id === undefined || event.id === id),
  )
  return (
    <div class="view">
      <header class="view-head">
        <h1>
          <a class="crumb" href={href('/runs')}>
            Runs
          </a>{' '}
          <span class="mono">{shortRun(id)}</span>
        </h1>
        {run.value === undefined ? null : <RunFacts page={run.value} />}
      </header>
      <div class="view-body">
        <Loaded resource={run}>{(page) => <RunBody page={page} />}</Loaded>
      </div>
    </div>
  )
}

function RunFacts({ page: { row, report } }: { page: RunPage }) {
  return (
    <>
      <RunState row={row} />
      <span class="aside">
        <Text>{[...new Set([report.harness, ...report.models])].join(', ')}</Text>,{' '}
        <Time at={report.startedAt} />
      </span>
    </>
  )
}

function RunBody({ page }: { page: RunPage }) {
  const { row, report, tasks, lanes } = page
  const chosen = useChosenTask()
  return (
    <div class="stack">
      <Figures
        of={[
          { name: 'Done', value: row.done },
          { name: 'Failed', value: row.failed },
          { name: 'Open', value: row.open },
          { name: 'Time', value: duration(report.seconds) },
          { name: 'Tokens', value: <Tokens of={report.spend} /> },
          { name: 'Cost', value: <Cost of={report.spend} /> },
          { name: 'Commits', value: report.commits },
        ]}
      />
      {report.branch === undefined || report.commits === 0 ? null : (
        <p class="remark">
          Its work is on <code>{report.branch}</code>: <code>git merge {report.branch}</code>
        </p>
      )}
      <section class="panel" aria-labelledby="tasks-title">
        <div class="panel-head">
          <h2 id="tasks-title">Tasks</h2>
          <Legend />
        </div>
        {tasks.length === 0 ? (
          <Empty title="It has no tasks" />
        ) : (
          <TaskGraph tasks={tasks} chosen={chosen} />
        )}
      </section>
      {lanes.length === 0 ? null : (
        <section class="panel" aria-labelledby="lanes-title">
          <div class="panel-head">
            <h2 id="lanes-title">Sessions</h2>
            <span class="muted small">{laneFacts(page)}</span>
          </div>
          <RunLanes lanes={lanes} tasks={tasks} chosen={chosen} />
        </section>
      )}
      <section class="panel" aria-labelledby="report-title">
        <div class="panel-head">
          <h2 id="report-title">Report</h2>
        </div>
        <ReportTable page={page} chosen={chosen} />
      </section>
      <section class="panel" aria-labelledby="compared-title">
        <div class="panel-head">
          <h2 id="compared-title">Against one conversation per task</h2>
          <span class="muted small">estimated from measured sizes</span>
        </div>
        <Compared compared={report.compared} prices={report.prices} />
      </section>
    </div>
  )
}

/** The task that the address names behind its hash. */
function useChosenTask(): string | undefined {
  const [hash, setHash] = useState(location.hash)
  useEffect(() => {
    const listen = (): void => setHash(location.hash)
    globalThis.addEventListener('hashchange', listen)
    return () => globalThis.removeEventListener('hashchange', listen)
  }, [])
  return hash.startsWith('#task-') ? hash.slice('#task-'.length) : undefined
}

function Legend() {
  return (
    <ul class="legend" aria-hidden="true">
      {(['done', 'running', 'open', 'parked', 'blocked'] as const).map((outcome) => (
        <li key={outcome} data-outcome={outcome}>
          {outcome}
        </li>
      ))}
    </ul>
  )
}

function laneFacts({ lanes, report }: RunPage): string {
  const attempts = lanes.flatMap(({ blocks }) => blocks)
  const retries = attempts.filter(({ attempt }) => attempt > 1).length
  const facts = [amount(lanes.length, 'session'), amount(attempts.length, 'attempt')]
  if (retries > 0) facts.push(amount(retries, 'retry', 'retries'))
  const { parallel } = report
  if (parallel !== undefined)
    facts.push(
      `${Math.round(parallel.share * 100)}% of the tasks beside another`,
      parallel.savedSeconds >= 0
        ? `${duration(parallel.savedSeconds)} quicker than one after the other`
        : `${duration(-parallel.savedSeconds)} slower than one after the other`,
    )
  return facts.join(' · ')
}
