import type { RunReport, TaskReport } from '../../../src/run/report.ts'
import type { RunPage } from '../../../src/serve/contract.ts'
import { Status } from '../../parts/badge.tsx'
import { amount, duration } from '../../parts/format.ts'
import { Cost, Tokens } from '../../parts/cost.tsx'
import { Text } from '../../parts/text.tsx'
import { hrefTo } from '../../shell/router.ts'

/** What each task took and what came of it, by session. */
export function ReportTable({ page: { report, tasks }, chosen }: { page: RunPage; chosen: string | undefined }) {
  const reported = new Set(report.sessions.flatMap((session) => session.tasks.map(({ task }) => task.id)))
  const untouched = tasks.filter(({ task }) => !reported.has(task.id))
  return (
    <div class="table-scroll" tabIndex={0} role="region" aria-label="Report by task">
      <table class="table table-cards">
        <thead>
          <tr>
            <th scope="col">Task</th>
            <th scope="col">Outcome</th>
            <th scope="col" class="number">
              Attempts
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
            <th scope="col">Commit</th>
          </tr>
        </thead>
        {report.sessions.map((session) => (
          <tbody key={session.session}>
            <SessionHead session={session} />
            {session.tasks.map((task) => (
              <TaskLine key={task.task.id} task={task} isChosen={task.task.id === chosen} />
            ))}
          </tbody>
        ))}
        {untouched.length === 0 ? null : (
          <tbody>
            <tr class="group-row">
              <th colSpan={7} scope="rowgroup">
                Not begun
              </th>
            </tr>
            {untouched.map(({ task, outcome, reason }) => (
              <tr key={task.id} id={`task-${task.id}`} data-chosen={task.id === chosen}>
                <th scope="row">
                  <Text>{task.title}</Text>
                  {reason === undefined ? null : (
                    <p class="muted small">
                      <Text>{reason}</Text>
                    </p>
                  )}
                </th>
                <td>
                  <Status of={outcome} />
                </td>
                <td colSpan={5} />
              </tr>
            ))}
          </tbody>
        )}
      </table>
    </div>
  )
}

function SessionHead({ session }: { session: RunReport['sessions'][number] }) {
  const { name, conversations, seconds, spend } = session
  return (
    <tr class="group-row">
      <th colSpan={3} scope="rowgroup">
        <a href={hrefTo.session(session.session)}>
          <Text>{name}</Text>
        </a>{' '}
        <span class="muted">{amount(conversations, 'conversation')}</span>
      </th>
      <td class="number" data-name="Time">
        {duration(seconds)}
      </td>
      <td class="number" data-name="Tokens">
        <Tokens of={spend} />
      </td>
      <td class="number" data-name="Cost">
        <Cost of={spend} />
      </td>
      <td />
    </tr>
  )
}

function TaskLine({ task: one, isChosen }: { task: TaskReport; isChosen: boolean }) {
  const { task, outcome, reason, attempts, seconds, spend, commit, kept } = one
  return (
    <tr id={`task-${task.id}`} data-chosen={isChosen}>
      <th scope="row">
        <Text>{task.title}</Text>
        {reason === undefined ? null : (
          <p class="muted small">
            <Text>{reason}</Text>
          </p>
        )}
        {kept === undefined ? null : (
          <p class="muted small">
            Kept as <code>{kept}</code>
          </p>
        )}
      </th>
      <td>
        <Status of={outcome} />
      </td>
      <td class="number" data-name="Attempts">
        {attempts}
      </td>
      <td class="number" data-name="Time">
        {duration(seconds)}
      </td>
      <td class="number" data-name="Tokens">
        <Tokens of={spend} />
      </td>
      <td class="number" data-name="Cost">
        <Cost of={spend} />
      </td>
      <td class="mono" data-name="Commit">
        {commit === undefined ? '–' : commit.slice(0, 9)}
      </td>
    </tr>
  )
}
