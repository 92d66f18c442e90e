import type { RunPage, RunReport, RunTask, TaskReport } from '../../../src/serve/contract.ts'
import { Status } from '../../parts/badge.tsx'
import { Cost, Tokens } from '../../parts/cost.tsx'
import { amount, duration } from '../../parts/format.ts'
import { type Column, type Group, Table } from '../../parts/table.tsx'
import { Text } from '../../parts/text.tsx'
import { hrefTo } from '../../data/router.ts'

/** What was begun has taken something; what was not has nothing but its outcome. */
type Row = TaskReport | RunTask

/** What each task took and what came of it, by session. */
export function ReportTable({
  page: { report, tasks },
  chosen,
}: {
  page: RunPage
  chosen: string | undefined
}) {
  const reported = new Set(
    report.sessions.flatMap((session) => session.tasks.map(({ task }) => task.id)),
  )
  const untouched = tasks.filter(({ task }) => !reported.has(task.id))
  const groups: readonly Group<Row>[] = [
    ...report.sessions.map(groupOf),
    ...(untouched.length === 0 ? [] : [{ key: 'untouched', title: 'Not begun', rows: untouched }]),
  ]
  return (
    <Table
      label="Report by task"
      columns={COLUMNS}
      groups={groups}
      keyOf={({ task }) => task.id}
      placeOf={({ task }) => ({ id: `task-${task.id}`, isChosen: task.id === chosen })}
    />
  )
}

const COLUMNS: readonly Column<Row>[] = [
  { name: 'Task', of: (row) => <TaskWords row={row} /> },
  { name: 'Outcome', isPlain: true, of: ({ outcome }) => <Status of={outcome} /> },
  { name: 'Attempts', as: 'number', of: (row) => ('attempts' in row ? row.attempts : null) },
  { name: 'Time', as: 'number', of: (row) => ('attempts' in row ? duration(row.seconds) : null) },
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
}: RunReport['sessions'][number]): Group<Row> {
  return {
    key: session,
    title: (
      <>
        <a href={hrefTo.session(session)}>
          <Text>{name}</Text>
        </a>{' '}
        <span class="muted">{amount(conversations, 'conversation')}</span>
      </>
    ),
    sums: { Time: duration(seconds), Tokens: <Tokens of={spend} />, Cost: <Cost of={spend} /> },
    rows: tasks,
  }
}

function TaskWords({ row }: { row: Row }) {
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
