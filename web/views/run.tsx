import { useEffect, useState } from 'preact/hooks'
import type {
  Comparison,
  RunPage,
  RunReport,
  RunTaskRow,
  TaskReport,
} from '../../src/serve/contract.ts'
import { RunLanes } from '../charts/run-lanes.tsx'
import { TaskGraphChart } from '../charts/task-graph.tsx'
import { api } from '../data/api.ts'
import { useResource } from '../data/resource.ts'
import { Cost, FigureList, StatusBadge, Time, Tokens } from '../components/values.tsx'
import { formatDuration, formatTokens, formatUsd, pluralize } from '../components/format.ts'
import { Empty, Loaded } from '../components/states.tsx'
import { Text } from '../components/text.tsx'
import { href, hrefTo } from '../data/router.ts'
import { RunStateBadge, shortRun } from './runs.tsx'
import { type Column, DataTable, type TableGroup } from '../components/data-table.tsx'

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
      <RunStateBadge row={row} />
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
      <FigureList
        of={[
          { name: 'Done', value: row.done },
          { name: 'Failed', value: row.failed },
          { name: 'Open', value: row.open },
          { name: 'Time', value: formatDuration(report.seconds) },
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
          <TaskGraphChart tasks={tasks} chosen={chosen} />
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
        <ComparisonPanel compared={report.compared} prices={report.prices} />
      </section>
    </div>
  )
}

/** The task named in the URL hash. */
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
  const facts = [pluralize(lanes.length, 'session'), pluralize(attempts.length, 'attempt')]
  if (retries > 0) facts.push(pluralize(retries, 'retry', 'retries'))
  const { parallel } = report
  if (parallel !== undefined)
    facts.push(
      `${Math.round(parallel.share * 100)}% of the tasks beside another`,
      parallel.savedSeconds >= 0
        ? `${formatDuration(parallel.savedSeconds)} quicker than one after the other`
        : `${formatDuration(-parallel.savedSeconds)} slower than one after the other`,
    )
  return facts.join(' · ')
}

function SavedLine({ usd: saved }: { usd: number }) {
  if (Math.abs(saved) < 0.005) return <>In all it comes to the same. </>
  return (
    <>
      {saved > 0 ? 'In all cheaper by ' : 'In all dearer by '}
      <strong>{formatUsd(Math.abs(saved))}</strong>.{' '}
    </>
  )
}

function ComparisonPanel({ compared, prices }: { compared: Comparison; prices: string }) {
  const { boilerplateAvoided, historyReread, profilesNotLoaded, savedUsd } = compared
  const sides = [
    { name: 'Set-up that was not said again', value: boilerplateAvoided, tone: 'good' },
    { name: 'Profiles that were never loaded', value: profilesNotLoaded, tone: 'good' },
    { name: 'Earlier tasks that were read again', value: historyReread, tone: 'bad' },
  ] as const
  const most = Math.max(...sides.map(({ value }) => value), 1)
  return (
    <div class="compared">
      <dl class="sides">
        {sides.map(({ name, value, tone }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <span class="side-bar" aria-hidden="true">
                <span data-tone={tone} style={{ width: `${(value / most) * 100}%` }} />
              </span>
              <span class="number">{formatTokens(value)}</span>
            </dd>
          </div>
        ))}
      </dl>
      <p class="muted small">
        {savedUsd === undefined ? (
          'What that comes to is not known: a model has no price. '
        ) : (
          <SavedLine usd={savedUsd} />
        )}
        <Text>{prices}</Text>
      </p>
    </div>
  )
}

/** A started task has a report; another has only its outcome. */
type Row = TaskReport | RunTaskRow

function ReportTable({
  page: { report, tasks },
  chosen,
}: {
  page: RunPage
  chosen: string | undefined
}) {
  const reported = new Set(
    report.sessions.flatMap((session) => session.tasks.map(({ task }) => task.id)),
  )
  const notStarted = tasks.filter(({ task }) => !reported.has(task.id))
  const groups: readonly TableGroup<Row>[] = [
    ...report.sessions.map(groupOf),
    ...(notStarted.length === 0
      ? []
      : [{ key: 'untouched', title: 'Not begun', rows: notStarted }]),
  ]
  return (
    <DataTable
      label="Report by task"
      columns={COLUMNS}
      groups={groups}
      keyOf={({ task }) => task.id}
      anchorOf={({ task }) => ({ id: `task-${task.id}`, isChosen: task.id === chosen })}
    />
  )
}

const COLUMNS: readonly Column<Row>[] = [
  { name: 'Task', of: (row) => <TaskCell row={row} /> },
  { name: 'Outcome', isPlain: true, of: ({ outcome }) => <StatusBadge of={outcome} /> },
  { name: 'Attempts', as: 'number', of: (row) => ('attempts' in row ? row.attempts : null) },
  {
    name: 'Time',
    as: 'number',
    of: (row) => ('attempts' in row ? formatDuration(row.seconds) : null),
  },
  {
    name: 'Tokens',
    as: 'number',
    of: (row) => ('attempts' in row ? <Tokens of={row.spend} /> : null),
  },
  { name: 'Cost', as: 'number', of: (row) => ('attempts' in row ? <Cost of={row.spend} /> : null) },
  {
    name: 'Commit',
    as: 'mono',
    of: (row) => ('attempts' in row ? (row.commit?.slice(0, 9) ?? '–') : null),
  },
]

function groupOf({
  session,
  name,
  conversations,
  seconds,
  spend,
  tasks,
}: RunReport['sessions'][number]): TableGroup<Row> {
  return {
    key: session,
    title: (
      <>
        <a href={hrefTo.session(session)}>
          <Text>{name}</Text>
        </a>{' '}
        <span class="muted">{pluralize(conversations, 'conversation')}</span>
      </>
    ),
    sums: {
      Time: formatDuration(seconds),
      Tokens: <Tokens of={spend} />,
      Cost: <Cost of={spend} />,
    },
    rows: tasks,
  }
}

function TaskCell({ row }: { row: Row }) {
  const kept = 'kept' in row ? row.kept : undefined
  return (
    <>
      <Text>{row.task.title}</Text>
      {row.reason === undefined ? null : (
        <p class="muted small">
          <Text>{row.reason}</Text>
        </p>
      )}
      {kept === undefined ? null : (
        <p class="muted small">
          Kept as <code>{kept}</code>
        </p>
      )}
    </>
  )
}
